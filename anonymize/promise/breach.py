"""Breach probability: with which probability a person was ever linked to a value that comes and goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from anonymize.attack.figures import BreachFigures
from anonymize.attack.finding import Found
from anonymize.late import on_first_call
from anonymize.promise.check import Check
from anonymize.promise.part import Chart, Curve, Part, Promise, Scope, required
from anonymize.text import Text

_attack: Callable[..., Found] = on_first_call("anonymize.attack.breach", "attack_breach")


@dataclass(frozen=True)
class BreachProbability(Part):
    """Nobody is linked to a value, in any release so far, with a larger probability (values come and go)."""

    breach_probability: float
    forgets_after: int | None = None
    """People absent from so many releases in a row are promised it anew if they return."""

    scopes: ClassVar[Mapping[str, Scope]] = {
        "": Scope(
            "breach probability",
            "No person was ever linked to a value with a larger probability than promised.",
            "at most",
        )
    }
    counted = BreachFigures
    charts: ClassVar[tuple[Chart, ...]] = (
        Chart(
            "The largest probability with which anybody was ever linked to a value.",
            "breach probability",
            (Curve("largest_breach_probability", "ever had it"),),
            top=1.05,
            bound="at most",
            level=lambda part: part.breach_probability,
        ),
    )
    unpromised = (
        "largest_breach_probability",
        (
            "Largest breach probability: {}. This is the probability of ever having had a value, for an"
            " adversary who takes a person's value to be drawn anew in every release. A person whose value"
            " stays is published in many releases, so it comes near 1 without anybody's value being known."
        ),
    )

    def __post_init__(self) -> None:
        required("breach_probability", self.breach_probability, least=0, most=1)
        required("forgets_after", self.forgets_after, least=1)

    def sentences(self) -> Iterator[str]:
        """What is promised, for readers of a release."""
        yield Text(
            "Nobody is linked to a value, in all releases so far together, with a probability above"
            " {breach_probability:.3g}. This is not promised against adversaries who know the"
            " algorithm and ask why a group was not cut further.",
            breach_probability=self.breach_probability,
        )
        if self.forgets_after is not None:
            yield Text(
                "People who were absent from {forgets_after} releases in a row are promised this anew"
                " when they return.",
                forgets_after=self.forgets_after,
            )

    @property
    def likeliest(self) -> float:
        """The largest probability of any person's value that it allows."""
        return self.breach_probability

    @property
    def check(self) -> Check:
        """What Great Expectations judges of the table that the attack counts."""
        return Check(
            "breach_probability",
            "No person was linked to any value, in any release so far, with a probability above the promised"
            " one.",
            "{links_sum:,} links of people with values: the largest probability found is {largest_max:.4g};"
            " {above_sum:,} links are above what was promised.",
        )

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> Found:
        """Attack a release."""
        given = cls.given(promises)
        most = [part and part.breach_probability for part in given]
        return _attack(seen, most, given[-1] and given[-1].forgets_after)
