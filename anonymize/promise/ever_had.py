"""Ever had: of people with several rows, no value is probable to be one of theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from republish.anonymize.attack.figures import SeveralRowsFigures
from republish.anonymize.late import on_first_call
from republish.anonymize.promise.part import Attack, Chart, Curve, Figure, Part, Scope


@dataclass(frozen=True)
class EverHad(Part):
    """Nobody had a value, ever, with a larger probability, however many rows they have."""

    ever_had: float
    """The largest probability."""

    attacked_by: ClassVar[Attack] = on_first_call(
        "republish.anonymize.attack.several_rows", "attack_several_rows"
    )
    is_probability = True
    ranges: ClassVar = {"ever_had": (0, 1)}
    scopes: ClassVar = {
        "ever": Scope(
            "ever had a value",
            "Whoever knows all rows of a person, the group of each in every release, and that rows with equal"
            " values have equal candidate values, gives the person no value, ever, a larger probability.",
            "at most",
        ),
        "left out": Scope(
            "values of rows left out",
            "For each person who has rows in the release, and others that are left out, at least so many"
            " values are outside of all the candidate values that the person ever had.",
            "at least",
        ),
    }
    sentence = (
        "A person may have several rows. Nobody had a value, ever, with a probability above {ever_had:.3g},"
        " however many rows they have."
    )
    counted = SeveralRowsFigures
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure("persons", "people so far"),
        Figure("most_values", "most different values of a person"),
        Figure("alike", "people with two values under one signature"),
        Figure("in_one_group", "people with two rows in one group"),
        Figure("as_independent", "if rows were independent"),
    )
    charts: ClassVar[tuple[Chart, ...]] = (
        Chart(
            "The probability of a value that a person ever had: as it is, and on average as somebody would"
            " have it who took a person's rows as independent of one another.",
            "probability",
            (Curve("ever_had", "largest"), Curve("as_independent", "if rows were independent")),
            top=1.0,
            bound="at most",
            level=lambda part: part.ever_had,
            only_promised=True,
        ),
    )
    needs_hosts = "the rows of people who have several"
