"""The largest share: how frequent a value may be in a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from republish.anonymize.late import on_first_call
from republish.anonymize.promise.check import Check
from republish.anonymize.promise.part import Part, single


@dataclass(frozen=True)
class LargestShare(Part):
    """No value has a larger share of the tuples of any group."""

    largest_share: float

    attacked_by = on_first_call("republish.anonymize.attack.shares", "attack_shares")
    is_probability = True
    scopes = single(
        "share of a value",
        "No value is carried by a larger share of a group than promised.",
        "at most",
    )
    ranges: ClassVar = {"largest_share": (0, 1)}
    sentence = "No value has more than {largest_share:.3g} of the rows of a group, counterfeits included."
    check = Check(
        "largest_share",
        "No value is that of a larger share of a group than its people were promised.",
        "{rows:,} groups: the largest share of a value is {share_max:.3g}, the smallest one that is"
        " promised to a group {promised_min:.3g}; {too_large_sum:,} groups break it.",
    )
