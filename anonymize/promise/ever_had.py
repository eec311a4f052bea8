"""Ever had: of people with several rows, no value is probable to be one of theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from republish.anonymize.attack.figures import SeveralRowsFigures
from republish.anonymize.attack.finding import AttackResult
from republish.anonymize.late import on_first_call
from republish.anonymize.promise.part import Attack, Chart, Curve, Part, Promise, Scope

_attack_rows_differ: Callable[..., AttackResult | None] = on_first_call(
    "republish.anonymize.attack.rows_differ", "attack_rows_differ"
)


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
            "Whoever knows all rows of a person that are published, the group of each in every release, and"
            " how many different values of the person have the same candidate values, gives the person no"
            " value, ever, a larger probability.",
            "at most",
        ),
        "left out": Scope(
            "values of rows left out",
            "For each row that is left out, of a person with others that were published, at least so many"
            " values are possible: all that are no candidates of the person, or the candidates beside which"
            " there was no room for it.",
            "at least",
        ),
        "differ": Scope(
            "rows proven to differ",
            "Groups of several releases prove of nobody's rows with the same candidate values that they have"
            " so many different values that one of these has a larger probability.",
            "at most",
        ),
    }
    sentence = (
        "A person may have several rows. By rows that are published, nobody had a value, ever, with a"
        " probability above {ever_had:.3g}, however many rows they have."
    )
    counted = SeveralRowsFigures
    charts: ClassVar[tuple[Chart, ...]] = (
        Chart(
            "The largest probability of a value that a person ever had: by published rows, and by all.",
            "probability",
            (
                Curve("ever_had", "published rows"),
                Curve("with_left_out", "with rows left out"),
            ),
            top=1.0,
            bound="at most",
            level=lambda part: part.ever_had,
        ),
    )
    needs_hosts = "the rows of people who have several"
    needs_all_releases = True

    @classmethod
    def attack_series(cls, seen: Any, promises: Sequence[Promise]) -> AttackResult | None:
        """Attack all releases of a series together."""
        return _attack_rows_differ(seen, cls.bounds(promises))
