"""Findings of an attack: the same counts for every attack, and a row for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from republish.anonymize.figures import Figures

SCHEMA = {
    "promise": pl.String,
    "people": pl.Int64,
    "broken": pl.Int64,
    "undecided": pl.Int64,
    "found": pl.Float64,
    "required": pl.Float64,
    "bound": pl.String,
    "holds": pl.Boolean,
    "since": pl.Int64,
}


class Count(NamedTuple):
    """Counts on one promise."""

    people: int
    """How many were looked at (people; for what concerns files, tables or groups, these)."""
    broken: int
    """For how many of them the promise doesn't hold."""
    found: float | None = None
    """The worst figure found, if the promise is about a figure."""
    required: float | None = None
    """The figure that was promised."""
    undecided: int = 0
    """For how many of them there was no time to tell. They do not break the promise, and are stated."""
    since: int | None = None
    """The first release that promised it, from 1; None for what the last release promises. People keep what
    they were promised when they were published first."""


@dataclass(frozen=True)
class AttackResult:
    """Everything that an attack on one part found. Counts and extremes; nothing of any one person."""

    counts: Mapping[str, Count | Sequence[Count]] = field(default_factory=dict)
    """For each scope of the part that was looked at one, or one for each figure that a release promised; the
    key of a single scope is empty."""
    figures: Figures = field(default_factory=Figures)
    """Of the attack's own class; none where nothing was counted."""
    table: pl.DataFrame | None = None
    """Counts by group, column or signature, which the part's check judges."""
    remembered: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """What the attack on the next release is to know. As private as the truth."""

    def each(self) -> Iterator[tuple[str, Count]]:
        """Every count with its scope."""
        for scope, counts in self.counts.items():
            yield from ((scope, count) for count in ([counts] if isinstance(counts, Count) else counts))


def one(
    people: int,
    broken: int,
    found: float | None = None,
    required: float | None = None,
    undecided: int = 0,
    *,
    table: pl.DataFrame | None = None,
) -> AttackResult:
    """The result of an attack on a part with a single scope; arguments as the fields of `Count`."""
    return AttackResult({"": Count(people, broken, found, required, undecided)}, table=table)


def finding(name: str, count: Count, bound: str | None = None) -> pl.DataFrame:
    """A row of findings on a promise: `SCHEMA` has its columns."""
    people, broken, found, required, undecided, since = count
    row = (name, people, broken, undecided, found, required, bound, broken == 0, since or 1)
    return pl.DataFrame([row], schema=SCHEMA, orient="row")


def findings_of_all(several: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Join what was found in all shards: a promise holds if it holds in every shard."""
    if len(several) == 1:
        return several[0]
    worst = pl.when(pl.col("bound") == "at most")
    rows = pl.concat(several).group_by("promise", "bound", "since", maintain_order=True)
    return (
        rows.agg(
            pl.col("people", "broken", "undecided").sum(),
            *(pl.col(name).min().alias(f"{name}_min") for name in ("found", "required")),
            *(pl.col(name).max().alias(f"{name}_max") for name in ("found", "required")),
            pl.col("holds").all(),
        )
        .with_columns(
            found=worst.then("found_max").otherwise("found_min"),
            required=worst.then("required_min").otherwise("required_max"),
        )
        .select(SCHEMA.keys())
    )
