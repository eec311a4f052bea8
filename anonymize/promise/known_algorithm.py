"""The algorithm is known: what the people who come into a release give away of each other's values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from republish.anonymize.attack.figures import ArrivalFigures
from republish.anonymize.late import on_first_call
from republish.anonymize.promise.check import Check
from republish.anonymize.promise.part import Part, Scope


@dataclass(frozen=True)
class KnownAlgorithm(Part):
    """Knowing the algorithm, everybody's group and how frequent values are does not tell anybody's value."""

    known_algorithm: float

    attacked_by = on_first_call("republish.anonymize.attack.arrivals", "attack_arrivals")
    judges = "today"
    scopes: ClassVar[Mapping[str, Scope]] = {
        "arrivals": Scope(
            "arrivals in whole groups",
            "The people who are in a release for the first time come to the groups of each signature in equal"
            " numbers for each of its values.",
        ),
        "frequencies": Scope(
            "guesses by frequencies",
            "No value of a person who is in a release for the first time is more probable than promised, for"
            " an adversary who knows everybody's group and how frequent each value is among all such people.",
            "at most",
        ),
    }
    counted = ArrivalFigures
    needs_hosts = "where people came to who are in a release for the first time"
    ranges: ClassVar = {"known_algorithm": (0, 1)}
    sentence = (
        "No value of a person has a probability above {known_algorithm:.3g}, also for readers who"
        " know the algorithm, everybody's group in every release, and how frequent each value is"
        " among the people who are in a release for the first time. This does not extend to"
        " knowing how frequent the values are that people changed to; the manifest counts the"
        " people concerned (`apart`)."
    )
    check = Check(
        "whole_groups",
        "The people who are in a release for the first time come to each signature in equal numbers for"
        " each of its values.",
        "{newcomers_sum:,} people are in a release for the first time, in groups of {rows:,} signatures;"
        " {uneven_sum:,} of them are more than whole groups have.",
    )
