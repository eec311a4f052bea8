"""The distance between the candidate numbers that are left of each person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from republish.anonymize.attack.bits import bitsets
from republish.anonymize.attack.figures import SpreadFigures
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.input import AttackInput, Bounds, promised, vintages
from republish.anonymize.attack.intersection import left_of, words
from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.columns import VALUE, counted, least_of
from republish.anonymize.contract import Schema, Sensitive
from republish.anonymize.contract.combined import values_of
from republish.anonymize.figures import reached
from republish.anonymize.rounding import MANY_STEPS

Least = Mapping[str, float | Mapping[str, float]]
"""What is promised of each column: a share of all bins, or a ratio."""


@dataclass(frozen=True)
class _Bins:
    """A sensitive number's bins."""

    name: str
    position: int
    """Which of the sensitive columns it is."""
    edges: tuple[float, ...]

    def numbers(self, domain: pl.Series, sensitive: Sensitive) -> pl.Series:
        """Int64[V]: the number of the bin that each value of a domain has; null for what is none."""
        names = sensitive.columns[self.position].values or ()
        own = values_of(domain, sensitive)[self.position].cast(pl.String)
        return own.replace_strict(names, list(range(len(names))), default=None, return_dtype=pl.Int64)

    def spread(self, lowest: pl.Expr, highest: pl.Expr, *, ratio: bool = False) -> pl.Expr:
        """The distance from the upper edge of the lowest to the lower edge of the highest candidate bin.

        As a share of all bins, or how many times the one is as large as the other. Nothing where no
        candidate is left.
        """
        lower = highest.replace_strict(
            range(len(self.edges) - 1), self.edges[:-1], default=None, return_dtype=pl.Float64
        )
        upper = lowest.replace_strict(
            range(len(self.edges) - 1), self.edges[1:], default=None, return_dtype=pl.Float64
        )
        apart = lower / upper if ratio else (lower - upper) / (self.edges[-1] - self.edges[0])
        return apart.clip(lower_bound=0).fill_null(0.0)


def attack_spread(seen: AttackInput, least: Bounds[Least]) -> AttackResult:
    """Intersect each person's candidates over all releases so far, and measure how far apart they are."""
    sensitive = seen.schema.sensitive
    if not any(column.bins for column in sensitive.columns):
        return AttackResult()
    states = {"covered": seen.knowledge.covered}
    if seen.is_linked:
        states = {"hosts": seen.knowledge.hosted, **states}
    domain = seen.knowledge.domain
    assert domain is not None
    apart = {
        kind: _apart([state], domain[VALUE], sensitive) for kind, state in states.items() if state is not None
    }
    here = seen.covered.select("person", VALUE)
    known = next(iter(apart.values())).join(here, on=["person", VALUE], how="semi")
    share = known.select(pl.min_horizontal(pl.col("^share_.*$")).alias("share"))["share"]
    by_spread = counted(share)
    figures = SpreadFigures(least_of(share), reached(by_spread, 0.5), by_spread)
    if all(one is None for one in least):
        return AttackResult(figures=figures)
    counts = {
        kind: [
            count._replace(since=since)
            for since, given in vintages(least)
            # What else was promised is another vintage's.
            if (
                count := _count(table, sensitive, _alone(given, least), seen if kind == "covered" else None)
            ).people
            or given == least[-1]
        ]
        for kind, table in apart.items()
    }
    return AttackResult(counts, figures, _groups(seen, least))


def attack_several_series(series: Sequence[Knowledge], least: Least, schema: Schema) -> AttackResult:
    """Measure how far apart the numbers are that several series of the same people leave of each person."""
    wide = max((one.domain for one in series if one.domain is not None), key=len, default=None)
    if wide is None:
        return AttackResult()
    counts = {}
    for kind in ("hosted", "covered"):
        known = [state for one in series if (state := getattr(one, kind)) is not None]
        if len(known) == len(series):
            apart = _apart(known, wide[VALUE], schema.sensitive).with_columns(promised=1)
            scope = "hosts together" if kind == "hosted" else "covered together"
            counts[scope] = _count(apart, schema.sensitive, [least])
    return AttackResult(counts)


def _bins_of(sensitive: Sensitive) -> Iterator[_Bins]:
    for position, column in enumerate(sensitive.columns):
        if column.bins:
            yield _Bins(column.name, position, tuple(map(float, column.bins)))


def _apart(states: Sequence[pl.DataFrame], domain: pl.Series, sensitive: Sensitive) -> pl.DataFrame:
    """`person`, `value`, `promised`, `share_0`, `ratio_0`, …: how far apart each column's candidates are."""
    sets = left_of(states, "value")
    bits = sets.select(words(sets)).to_numpy()
    measured = []
    for bins in _bins_of(sensitive):
        number = bins.numbers(domain, sensitive)
        lowest, highest = (pl.Series(name, [None], pl.Int64).new_from_index(0, len(sets)) for name in "lh")
        for at in range(len(bins.edges) - 1):
            own = np.flatnonzero((number == at).fill_null(value=False).to_numpy())
            has = pl.Series((bits & bitsets(np.zeros_like(own), own, 1, 64 * bits.shape[1])).any(axis=1))
            lowest = lowest.zip_with(~has | lowest.is_not_null(), pl.Series([at], dtype=pl.Int64))
            highest = highest.zip_with(~has, pl.Series([at], dtype=pl.Int64))
        frame = pl.DataFrame({"lowest": lowest, "highest": highest})
        ends = pl.col("lowest"), pl.col("highest")
        measured.append(
            frame.select(
                bins.spread(*ends).alias(f"share_{bins.position}"),
                bins.spread(*ends, ratio=True).alias(f"ratio_{bins.position}"),
            )
        )
    return pl.concat([sets.select("person", VALUE, "promised"), *measured], how="horizontal")


def _demands(sensitive: Sensitive, least: Bounds[Least]) -> Iterator[tuple[str, pl.Expr]]:
    """The measure of each demand, and what was promised of it in the release of each row's `promised`."""
    for bins in _bins_of(sensitive):
        given = [None if one is None else one.get(bins.name) for one in least]
        ratios = [one["ratio"] if isinstance(one, Mapping) else None for one in given]
        shares = [None if isinstance(one, Mapping) else one for one in given]
        for measure, bounds in (("share", shares), ("ratio", ratios)):
            if any(bound is not None for bound in bounds):
                yield f"{measure}_{bins.position}", promised(bounds)


def _alone(given: Least, least: Bounds[Least]) -> list[Least | None]:
    """Leave what each release promised, of one vintage alone."""
    return [one if one == given else None for one in least]


def _count(
    apart: pl.DataFrame, sensitive: Sensitive, least: Bounds[Least], seen: AttackInput | None = None
) -> Count:
    """The people of whom some candidates are closer than promised, and the worst of what was found."""
    few, worst, owed = [], (np.inf, None, None), []
    for measure, bound in _demands(sensitive, least):
        judged = apart.select("person", found=pl.col(measure), required=bound).drop_nulls("required")
        owed.append(judged["person"])
        few.append(judged.filter(pl.col("found") < pl.col("required") - MANY_STEPS)["person"])
        if len(judged):
            row = judged.select("found", "required", by=pl.col("found") / pl.col("required")).row(
                int((judged["found"] / judged["required"]).arg_min() or 0)
            )
            worst = min(worst, (row[2], row[0], row[1]), key=lambda one: one[0])
    if not owed:
        return Count(0, 0)
    convicted = pl.concat(few).unique()
    broken = len(convicted)
    undecided = 0 if seen is None else min(broken, seen.knowledge.by_chance(convicted))
    return Count(pl.concat(owed).n_unique(), broken - undecided, worst[1], worst[2], undecided)


def _groups(seen: AttackInput, least: Bounds[Least]) -> pl.DataFrame:
    """`group_id`, `spread` (of all bins, the least of all columns), `too_narrow` (columns), by group."""
    sensitive = seen.schema.sensitive
    held = seen.published.values
    domain = held[VALUE].unique(maintain_order=True)
    numbers = pl.DataFrame(
        {VALUE: domain}
        | {f"bin_{bins.position}": bins.numbers(domain, sensitive) for bins in _bins_of(sensitive)}
    )
    ends = held.join(numbers, on=VALUE, how="left").group_by("group_id")
    measured = ends.agg(
        *(
            bins.spread(
                pl.col(f"bin_{bins.position}").min(), pl.col(f"bin_{bins.position}").max(), ratio=ratio
            ).alias(f"{'ratio' if ratio else 'share'}_{bins.position}")
            for bins in _bins_of(sensitive)
            for ratio in (False, True)
        )
    )
    owed = seen.owed.group_by("group_id").agg(pl.col("promised").max())
    rows = measured.join(owed, on="group_id", how="left").with_columns(
        pl.col("promised").fill_null(len(least))
    )
    narrow = [
        (pl.col(measure) < bound - MANY_STEPS).fill_null(value=False)
        for measure, bound in _demands(sensitive, least)
    ]
    return rows.select(
        "group_id",
        spread=pl.min_horizontal(pl.col("^share_.*$")),
        too_narrow=pl.sum_horizontal(*(one.cast(pl.Int64) for one in narrow)),
    ).sort("group_id")
