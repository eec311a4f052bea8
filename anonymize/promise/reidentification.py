"""Promises of other tools on one table: k-anonymity, l-diversity, and the risks of re-identification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from republish.anonymize.attack.figures import DiversityFigures, LinkageFigures
from republish.anonymize.late import on_first_call
from republish.anonymize.promise.part import Part, single


@dataclass(frozen=True)
class KAnonymity(Part):
    """Every row of a table has the same quasi-identifiers as at least so many rows, itself included."""

    k_anonymity: int

    attacked_by = on_first_call("republish.anonymize.attack.reidentification", "attack_rows")
    judges = "today"
    scopes = single(
        "k-anonymity",
        "Each combination of published quasi-identifiers stands in at least the promised number of rows.",
        "at least",
        counts_people=False,
    )
    counted = LinkageFigures
    ranges: ClassVar = {"k_anonymity": (1, None)}
    sentence = "Each combination of quasi-identifiers stands in at least {k_anonymity} rows."


@dataclass(frozen=True)
class LDiversity(Part):
    """The rows with the same quasi-identifiers have at least so many different sensitive values."""

    l_diversity: int

    attacked_by = on_first_call("republish.anonymize.attack.reidentification", "attack_diversity")
    judges = "today"
    scopes = single(
        "l-diversity",
        "The rows with the same published quasi-identifiers have at least the promised number of"
        " different sensitive values.",
        "at least",
        counts_people=False,
    )
    counted = DiversityFigures
    ranges: ClassVar = {"l_diversity": (1, None)}
    sentence = "The rows with the same quasi-identifiers have at least {l_diversity} different values."
