"""Absence: what is known of people who are in the table and in no group of a release.

Nothing of it is declared. It is judged wherever candidate values are promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from republish.anonymize.attack.figures import AbsenceFigures
from republish.anonymize.attack.finding import AttackResult
from republish.anonymize.late import on_first_call
from republish.anonymize.promise.candidates import Candidates
from republish.anonymize.promise.minimum_people import MinimumPeople
from republish.anonymize.promise.part import Attack, Part, Promise, single


@dataclass(frozen=True)
class Absence(Part):
    """People who are missing keep as many candidate values as those who are there."""

    attacked_by: ClassVar[Attack] = on_first_call("republish.anonymize.attack.absence", "attack_absence")
    scopes = single(
        "candidates by absence",
        "For each person who was published before, and who is in the table and in no group, at least the"
        " promised number of values are outside of all signatures that the person had.",
        "at least",
    )
    counted = AbsenceFigures
    unpromised = (
        "deferred",
        (
            "People of the last table who were held back, then or before, while others who were new were"
            " published: {}. Whoever knows that they were in the table knows that they"
            " had a value that was too frequent then. What is promised of values is not promised of theirs."
        ),
    )

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> AttackResult:
        """Attack a release."""
        in_company = promises[-1].part(MinimumPeople) is not None
        return cls.attacked_by(seen, Candidates.bounds(promises)[-1], in_company=in_company)
