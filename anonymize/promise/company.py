"""Company: how many people a person is among, whatever is known of counterfeits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from anonymize.attack.figures import CompanyFigures
from anonymize.attack.finding import Found
from anonymize.late import on_first_call
from anonymize.promise.check import Check
from anonymize.promise.part import Figure, Part, Promise, Scope, required
from anonymize.text import Text

_attack: Callable[..., Found] = on_first_call("anonymize.attack.exposure", "attack_company")


@dataclass(frozen=True)
class Company(Part):
    """Of a group's people, counterfeits left out, no value is that of more than one in so many."""

    people_per_group: int

    scopes: ClassVar[Mapping[str, Scope]] = {
        "": Scope(
            "share among people",
            "No value is that of a larger share of a group's people than promised, counterfeits left out.",
            "at most",
        )
    }
    counted = CompanyFigures
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure("fewest_people", "fewest people in a group"),
        Figure("beside_counterfeits", "people beside counterfeits"),
        Figure("guessed_beside", "of these, guessed right"),
    )

    unpromised = (
        "guessed_beside",
        (
            "Share of the people beside a counterfeit who have the commonest value of their group: {}. What"
            " is promised takes each value of a group to be a counterfeit's with the same probability."
            " Counterfeits seldom have the most frequent value, and readers who know that guess it."
            " people_per_group bounds how often they are right."
        ),
    )

    def __post_init__(self) -> None:
        required("people_per_group", self.people_per_group, least=2)

    def sentences(self) -> Iterator[str]:
        """What is promised, for readers of a release."""
        least = self.people_per_group
        yield Text(
            "Of the people in a group, counterfeits left out, at most one in {least} has the same"
            " value: an adversary who knows which values the counterfeits have gives no person's"
            " value a probability above 1/{least}.",
            least=least,
        )

    @property
    def check(self) -> Check:
        """What Great Expectations judges of the table that the attack counts."""
        return Check(
            "company",
            "No value is that of a larger share of a group's people than these were promised, counterfeits"
            " left out.",
            "{rows:,} groups, the smallest with {people_min:,} people beside counterfeits: {too_large_sum:,}"
            " groups break it.",
        )

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> Found:
        """Attack a release."""
        return _attack(seen, [1 / part.people_per_group if part else 1.0 for part in cls.given(promises)])
