"""Spread: how far apart the candidate numbers of a person are, however many releases are intersected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from republish.anonymize.attack.figures import SpreadFigures
from republish.anonymize.attack.finding import AttackResult
from republish.anonymize.late import on_first_call
from republish.anonymize.promise.check import Check
from republish.anonymize.promise.part import Chart, Curve, Figure, Part, Scope, required

_attack_together: Callable[..., AttackResult] = on_first_call(
    "republish.anonymize.attack.spread", "attack_several_series"
)


@dataclass(frozen=True)
class Spread(Part):
    """A person's candidate numbers are as far apart, however many releases are intersected.

    Many candidates that are close to one another tell nearly as much as one. What is bounded is the distance
    between a person's lowest and highest candidate, as the range of a group's values is by Zhang et al.

    References
    ----------
    Zhang, Koudas, Srivastava and Yu, Aggregate query answering on anonymized tables, ICDE 2007.
    """

    spread: Mapping[str, float | Mapping[str, float]]
    """By the name of the column: the share of all bins that lies between the lowest and the highest candidate
    at least; or `ratio`, how many times the highest is as large as the lowest."""

    attacked_by = on_first_call("republish.anonymize.attack.spread", "attack_spread")
    scopes: ClassVar[Mapping[str, Scope]] = {
        kind: Scope(
            f"spread of candidates{where}, by {words}",
            f"An adversary who knows {known} is left with candidate numbers of each person as far apart as"
            " promised.",
            "at least",
        )
        for kind, where, words, known in (
            ("hosts", "", "hosting group", "every person's group in every release"),
            ("covered", "", "quasi-identifiers", "every person's quasi-identifiers and dates of presence"),
            (
                "hosts together",
                " over several series",
                "hosting group",
                "all series of these people, and every person's group in them,",
            ),
            (
                "covered together",
                " over several series",
                "quasi-identifiers",
                "all series of these people, and every person's quasi-identifiers,",
            ),
        )
    }
    counted = SpreadFigures
    figures: ClassVar[tuple[Figure, ...]] = (Figure("least_spread", "least spread of candidates"),)
    charts: ClassVar[tuple[Chart, ...]] = (
        Chart(
            "How far apart a person's lowest and highest candidate number are, as a share of all bins.",
            "share of all bins",
            (Curve("least_spread", "least"), Curve("median_spread", "median")),
            top=1.05,
        ),
    )
    unpromised = (
        "least_spread",
        (
            "Between somebody's lowest and highest candidate number lies no more than this share of all bins:"
            " {}. Candidates that are close to one another tell a number nearly as well as one does, and"
            " principle.spread bounds that."
        ),
    )
    check = Check(
        "spread",
        "The numbers of every group are as far apart as its people were promised.",
        "{rows:,} groups: the least spread of a group's values is {spread_min:.3g} of all bins;"
        " {too_narrow_sum:,} groups break what is promised.",
    )

    def __post_init__(self) -> None:
        for column, least in self.spread.items():
            if isinstance(least, Mapping):
                required(f"spread of {column}", least["ratio"], least=1)
            else:
                required(f"spread of {column}", least, least=0, most=1)

    def sentences(self) -> Iterator[str]:
        """The promise, for readers of a release."""
        for column, least in self.spread.items():
            if isinstance(least, Mapping):
                yield (
                    f"Of each person's possible {column}, the highest is at least {least['ratio']:.3g} times"
                    " the lowest."
                )
            else:
                yield (
                    f"Between the lowest and the highest possible {column} of each person lies at least"
                    f" {100 * least:.3g} % of the range of all bins."
                )

    @classmethod
    def attack_together(cls, series: Sequence[Any], given: Spread, schema: Any) -> AttackResult:
        """Attack several series about the same people."""
        return _attack_together(series, given.spread, schema)
