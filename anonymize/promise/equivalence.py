"""Equivalence: how many people may be known to have the same values as others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from anonymize.attack.figures import EquivalenceFigures
from anonymize.attack.finding import Found
from anonymize.late import on_first_call
from anonymize.promise.check import Check
from anonymize.promise.part import Chart, Part, Promise, Scope, required
from anonymize.text import Text

_attack: Callable[..., Found] = on_first_call("anonymize.attack.same_values", "attack_same_values")


@dataclass(frozen=True)
class Equivalence(Part):
    """No fewer people than this are known to have the same values as another set of as many."""

    equivalence: int

    scopes: ClassVar[Mapping[str, Scope]] = {
        "": Scope(
            "equivalence",
            "No group of people smaller than promised is known to have the same values as another.",
            "at least",
        )
    }
    counted = EquivalenceFigures
    charts: ClassVar[tuple[Chart, ...]] = (
        Chart(
            "The fewest people who are known to have the same values as others, for each signature.",
            "smallest e",
            bars="smallest_equivalences",
            over="signatures, by e",
            level=lambda part: part.equivalence,
            is_internal=True,
        ),
    )
    unpromised = (
        "smallest_equivalence",
        (
            "Smallest equivalence attack: {}. This is the size of the smallest set of people that is known to"
            " have the same values as another set of this size. Which values these are is not known."
        ),
    )

    def __post_init__(self) -> None:
        required("equivalence", self.equivalence, least=1)

    def sentences(self) -> Iterator[str]:
        """What is promised, for readers of a release."""
        yield Text(
            "No set of fewer than {equivalence} people is known to have the same values as another"
            " set of as many.",
            equivalence=self.equivalence,
        )

    @property
    def check(self) -> Check:
        """What Great Expectations judges of the table that the attack counts."""
        return Check(
            "cuts",
            "Every cut that the release adds to a bucket's graph weighs more than 2(e - 1).",
            "At least {safe_max} each: smallest found {min_cut_min}. {rows:,} cuts.",
        )

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> Found:
        """Attack a release."""
        return _attack(seen, [part and part.equivalence for part in cls.given(promises)])
