"""Equivalence: how many people may be known to have the same values as others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from republish.anonymize.attack.figures import EquivalenceFigures
from republish.anonymize.late import on_first_call
from republish.anonymize.promise.check import Check
from republish.anonymize.promise.part import Part, single


@dataclass(frozen=True)
class Equivalence(Part):
    """No fewer people than this are known to have the same values as another set of as many."""

    equivalence: int

    attacked_by = on_first_call("republish.anonymize.attack.same_values", "attack_same_values")
    scopes = single(
        "equivalence",
        "No group of people smaller than promised is known to have the same values as another.",
        "at least",
    )
    counted = EquivalenceFigures
    unpromised = (
        "smallest_equivalence",
        (
            "Smallest equivalence attack: {}. This is the size of the smallest set of people that is known to"
            " have the same values as another set of this size. Which values these are is not known."
        ),
    )
    ranges: ClassVar = {"equivalence": (1, None)}
    sentence = (
        "No set of fewer than {equivalence} people is known to have the same values as another"
        " set of as many."
    )
    check = Check(
        "cuts",
        "Every cut that the release adds to a bucket's graph weighs more than 2(e - 1).",
        "At least {safe_max} each: smallest found {min_cut_min}. {rows:,} cuts.",
    )
