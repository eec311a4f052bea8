"""Held back: of several sensitive columns, absence tells no more values of a person than it has to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from republish.anonymize.attack.figures import HeldBackFigures
from republish.anonymize.attack.finding import AttackResult
from republish.anonymize.late import on_first_call
from republish.anonymize.promise.part import Attack, Figure, Part, Promise, single
from republish.anonymize.promise.spread import Spread


@dataclass(frozen=True)
class HeldBack(Part):
    """No larger share of those who are held back has several values that are too frequent than of all."""

    too_frequent: float
    """A value is too frequent that a larger share of the new people have."""

    attacked_by: ClassVar[Attack] = on_first_call("republish.anonymize.attack.held_back", "attack_held_back")
    scopes = single(
        "new people held back",
        "Of new people who are held back, those with several values that are too frequent are no larger"
        " share than of all new people with any of these values; where none is too frequent, two values"
        " are those of no larger share of them than a value has in a group. The figure is the largest"
        " share, divided by the one that is allowed.",
        "at most",
    )
    counted = HeldBackFigures
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure("most_alike", "largest share of a combination, of new people held back"),
        Figure("most_of_a_column", "largest share of a value of a column, of them"),
    )
    needs_hosts = "which of the new people are held back"
    ranges: ClassVar = {"too_frequent": (0, 1)}

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> AttackResult:
        """Attack a release."""
        of_numbers = promises[-1].part(Spread) is not None
        return cls.attacked_by(seen, cls.bounds(promises)[-1], of_numbers=of_numbers)
