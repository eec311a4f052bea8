"""The posterior: how likely a value is to an adversary who knows the algorithm, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from republish.anonymize.late import on_first_call
from republish.anonymize.promise.part import Part, single


@dataclass(frozen=True)
class Posterior(Part):
    """No value of a person is more likely, to adversaries who know the algorithm, all tables being alike."""

    posterior: float

    attacked_by = on_first_call("republish.anonymize.attack.algorithm", "attack_algorithm")
    judges = "today"
    scopes = single(
        "knowing the algorithm",
        "An adversary who knows the algorithm, everybody's quasi-identifiers and the release gives no"
        " person's value a larger probability than promised.",
        "at most",
        if_undecided=(
            "What an adversary learns who knows the algorithm was not decided by this audit: all tables"
            " and all secret orders would have to be tried, which is done for four people at most"
        ),
    )
    ranges: ClassVar = {"posterior": (0, 1)}
    sentence = (
        "An adversary who knows the algorithm, everybody's quasi-identifiers and this release,"
        " and takes all tables with the same values as equally likely, gives no value of a person"
        " a probability above {posterior:.3g}."
    )
