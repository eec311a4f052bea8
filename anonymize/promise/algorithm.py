"""The posterior: how likely a value is to an adversary who knows the algorithm, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from anonymize.attack.finding import Found
from anonymize.late import on_first_call
from anonymize.promise.part import Part, Promise, Scope, required
from anonymize.text import Text

_attack: Callable[..., Found] = on_first_call("anonymize.attack.algorithm", "attack_algorithm")


@dataclass(frozen=True)
class Posterior(Part):
    """No value of a person is more likely, to adversaries who know the algorithm, all tables being alike."""

    posterior: float

    scopes: ClassVar[Mapping[str, Scope]] = {
        "": Scope(
            "knowing the algorithm",
            "An adversary who knows the algorithm, everybody's quasi-identifiers and the release gives no"
            " person's value a larger probability than promised.",
            "at most",
            if_undecided=(
                "What an adversary learns who knows the algorithm was not decided by this audit: all tables"
                " and all secret orders would have to be tried, which is done for four people at most"
            ),
        )
    }

    def __post_init__(self) -> None:
        required("posterior", self.posterior, least=0, most=1)

    def sentences(self) -> Iterator[str]:
        """What is promised, for readers of a release."""
        yield Text(
            "An adversary who knows the algorithm, everybody's quasi-identifiers and this release,"
            " and takes all tables with the same values as equally likely, gives no value of a person"
            " a probability above {posterior:.3g}.",
            posterior=self.posterior,
        )

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> Found:
        """Attack a release."""
        today = cls.given(promises)[-1]
        return _attack(seen, today and today.posterior)
