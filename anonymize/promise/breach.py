"""Breach probability: with which probability a person was ever linked to a value that comes and goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from republish.anonymize.attack.figures import BreachFigures
from republish.anonymize.attack.finding import AttackResult
from republish.anonymize.late import on_first_call
from republish.anonymize.promise.check import Check
from republish.anonymize.promise.part import Attack, Chart, Curve, Part, Promise, single


@dataclass(frozen=True)
class BreachProbability(Part):
    """Nobody who knows all groups links a person to a value, so far, with a larger probability.

    Values come and go.
    """

    breach_probability: float
    forgets_after: int | None = None
    """People absent from so many releases in a row are promised it anew if they return."""

    attacked_by: ClassVar[Attack] = on_first_call("republish.anonymize.attack.breach", "attack_breach")
    is_probability = True
    scopes = single(
        "breach probability",
        "No person was ever linked to a value with a larger probability than promised, by whoever knows"
        " everybody's group.",
        "at most",
    )
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
    ranges: ClassVar = {"breach_probability": (0, 1), "forgets_after": (1, None)}
    sentence = (
        "Readers who know everybody's group give no value of a person, in all releases so far together, a"
        " probability above {breach_probability:.3g}. Readers who do not know the groups have fewer facts,"
        " and may give a few people's values more. This is not promised against adversaries who know the"
        " algorithm and ask why a group was not cut further."
    )
    check = Check(
        "breach_probability",
        "No person was linked to any value, in any release so far, with a probability above the promised"
        " one.",
        "{links_sum:,} links of people with values: the largest probability found is {largest_max:.4g};"
        " {above_sum:,} links are above what was promised.",
    )

    def sentences(self) -> Iterator[str]:
        """The promise, for readers of a release."""
        yield from super().sentences()
        if self.forgets_after is not None:
            yield (
                f"People who were absent from {self.forgets_after} releases in a row are promised this anew"
                " when they return."
            )

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> AttackResult:
        """Attack a release."""
        today = promises[-1].part(cls)
        return cls.attacked_by(seen, cls.bounds(promises), today and today.forgets_after)
