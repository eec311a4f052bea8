"""Minimum people: how many a person is among in a release, whatever is known of its counterfeits.

It is about each release by itself. Suppose that a person's group has the values a, b and c in two releases,
and that its counterfeit has c in the first and b in the second: whoever knows that is certain of a.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from republish.anonymize.attack.figures import MinimumPeopleFigures
from republish.anonymize.late import on_first_call
from republish.anonymize.promise.check import Check
from republish.anonymize.promise.part import Part, single


@dataclass(frozen=True)
class MinimumPeople(Part):
    """No value is that of more than one in so many of a group's people, counterfeits left out."""

    people_per_group: int

    attacked_by = on_first_call("republish.anonymize.attack.exposure", "attack_minimum_people")
    scopes = single(
        "share among people",
        "No value is that of a larger share of a group's people than promised, counterfeits left out.",
        "at most",
    )
    counted = MinimumPeopleFigures
    measured_on = "beside_counterfeits"
    unpromised = (
        "guessed_beside",
        (
            "Share of the people beside a counterfeit who have the commonest value of their group: {}. What"
            " is promised takes each value of a group to be a counterfeit's with the same probability."
            " Counterfeits seldom have the most frequent value, and readers who know that guess it."
            " people_per_group bounds how often they are right."
        ),
    )
    ranges: ClassVar = {"people_per_group": (2, None)}
    sentence = (
        "Of the people in a group, counterfeits left out, at most one in {people_per_group} has the same"
        " value: in each release by itself, an adversary who knows which values the counterfeits have gives"
        " no person's value a probability above 1/{people_per_group}. Several such releases may tell more."
    )
    check = Check(
        "company",
        "No value is that of a larger share of a group's people than these were promised, counterfeits"
        " left out.",
        "{rows:,} groups, the smallest with {people_min:,} people beside counterfeits: {too_large_sum:,}"
        " groups break it.",
    )
