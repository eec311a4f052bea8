"""What other tools promise of one table: k-anonymity and l-diversity, and the risks of re-identification."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from anonymize.attack.figures import DiversityFigures, LinkageFigures
from anonymize.attack.finding import Found
from anonymize.late import on_first_call
from anonymize.promise.part import Part, Promise, Scope, required
from anonymize.text import Text

_attack_rows: Callable[..., Found] = on_first_call("anonymize.attack.reidentification", "attack_rows")
_attack_diversity: Callable[..., Found] = on_first_call(
    "anonymize.attack.reidentification", "attack_diversity"
)


@dataclass(frozen=True)
class KAnonymity(Part):
    """Every row of a table has the same quasi-identifiers as at least so many rows, itself included."""

    k_anonymity: int

    scopes: ClassVar[Mapping[str, Scope]] = {
        "": Scope(
            "k-anonymity",
            "Each combination of published quasi-identifiers stands in at least the promised number of rows.",
            "at least",
            counts_people=False,
        )
    }
    counted = LinkageFigures

    def __post_init__(self) -> None:
        required("k_anonymity", self.k_anonymity, least=1)

    def sentences(self) -> Iterator[str]:
        """What is promised, for readers of a release."""
        yield Text(
            "Each combination of quasi-identifiers stands in at least {k_anonymity} rows.",
            k_anonymity=self.k_anonymity,
        )

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> Found:
        """Attack a release."""
        today = cls.given(promises)[-1]
        return _attack_rows(seen, today and today.k_anonymity)


@dataclass(frozen=True)
class LDiversity(Part):
    """The rows with the same quasi-identifiers have at least so many different sensitive values."""

    l_diversity: int

    scopes: ClassVar[Mapping[str, Scope]] = {
        "": Scope(
            "l-diversity",
            "The rows with the same published quasi-identifiers have at least the promised number of"
            " different sensitive values.",
            "at least",
            counts_people=False,
        )
    }
    counted = DiversityFigures

    def __post_init__(self) -> None:
        required("l_diversity", self.l_diversity, least=1)

    def sentences(self) -> Iterator[str]:
        """What is promised, for readers of a release."""
        yield Text(
            "The rows with the same quasi-identifiers have at least {l_diversity} different values.",
            l_diversity=self.l_diversity,
        )

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> Found:
        """Attack a release."""
        today = cls.given(promises)[-1]
        return _attack_diversity(seen, today and today.l_diversity)
