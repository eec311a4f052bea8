"""How closely a view, joined with earlier releases, links X to Y; the join is not executed.

Of an earlier release whose join attributes are all in X, each value on X comes from one pair of partitions
(case 1 of section 5.4), so only its least safe value under each join key matters. Where X lacks join
attributes, several pairs make a value on X, and what they link is added up.

Whatever is required, a value on X is as safe as a number says, the larger the safer: the number of distinct
values on Y, or k - l for the linkability l.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, sections 5.3, 5.4 and 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.contract import ViewContract
from republish.anonymize.errors import RepublishError
from republish.anonymize.sequential.matching import Coded, Earlier, Pairs
from republish.anonymize.sequential.parameters import Sequential
from republish.anonymize.sequential.partitions import (
    AT_ONCE,
    Matches,
    Part,
    by_x,
    dense,
    least_safe,
    margins,
    number_sensitive,
    numbered,
    product,
)

MOST_COMBINATIONS = 200_000_000
"""Of partitions of earlier releases that match the view: beyond, it would take hours."""


class Linked:
    """The distinct rows of a view (Tree1), and the releases that it will be joined with."""

    def __init__(
        self, coded: Mapping[str, Coded], earlier: Sequence[Earlier], contract: ViewContract[Sequential]
    ):
        wanted, pairs = contract.principle, Pairs.of(contract)
        parts = [Part(one, wanted, pairs, coded) for one in earlier]
        hidden = [part for part in parts if part.lacks and part.is_linked]
        self.is_anonymity = wanted.requirement == "anonymity"
        self.needed = float(wanted.k) if self.is_anonymity else 0.0
        """The least safety there may be."""
        in_view = [name for name in wanted.y if name in coded]
        self._y_is_key = self.is_anonymity and contract.identifier in wanted.y
        sides = bool(in_view or self._y_is_key) + sum(part.has_y for part in parts)
        self.prunes = not hidden and (not self.is_anonymity or sides < 2)
        """Whether a candidate that is not valid never will be (Corollary 4.1)."""
        in_x = [name for name in coded if name in wanted.x]
        self.fixed = [name for name in in_x if coded[name].fixed]
        """The columns of X that are published as they are."""
        self.axes = [name for name in in_x if not coded[name].fixed]
        """Those that are generalized."""
        self._limits: dict[str, Floats] = {}
        self._read_rows(coded, {*in_x}.union(*(part.joining for part in hidden)), in_view, wanted)
        self._visible = [least_safe(part) for part in parts if not part.lacks and part.has_y]
        self._hidden = [by_x(part) for part in hidden]
        limits = [self._limits, *(one.limits for one in self._visible + self._hidden)]
        self._least_limit = min(
            (k for one in limits for ks in one.values() for k in ks.tolist()), default=1.0
        )
        if not self.is_anonymity and not any([self._limits, *(one.limits for one in self._hidden)]):
            self._hidden = []  # sensitive values are in releases alone that nothing is added up of
        self.earlier = [*self._visible, *self._hidden]
        """The releases whose matches decide how safe the view is."""
        size = len(self.records)
        self.most_general: tuple[Ints, Ints, list[Matches]] = (
            np.arange(size),
            dense([self.codes[name] for name in self.fixed], size),
            [one.matches(self.codes, size) for one in self.earlier],
        )
        """All rows, their groups and their matches while columns are at their most general, for `safety`."""
        self._refuse_more_than_fit()

    def _read_rows(
        self, coded: Mapping[str, Coded], joined: set[str], y: Sequence[str], wanted: Sequential
    ) -> None:
        names = [name for name in coded if name in joined]
        size = len(next(iter(coded.values())).codes)
        columns: dict[str, np.ndarray | pl.Series] = {"every": np.zeros(size, np.int64)}
        columns |= {f"code_{i}": coded[name].codes.astype(np.int64) for i, name in enumerate(names)}
        if self.is_anonymity:
            columns["y_0"] = dense([] if self._y_is_key else [coded[name].codes for name in y], size)
        else:
            for q, name in enumerate(y):
                labels = pl.Series(coded[name].labels, dtype=pl.String)
                numbers, self._limits[f"y_{q}"] = number_sensitive(labels, labels, name, wanted)
                columns[f"y_{q}"] = numbers.gather(coded[name].codes)
        rows = pl.DataFrame(columns).group_by(pl.all()).agg(records=pl.len().cast(pl.Int64)).sort(pl.all())
        self.codes = {name: rows[f"code_{i}"].to_numpy() for i, name in enumerate(names)}
        """int64[rows]: by name of each column of X, and of those that are joined."""
        self.records = rows["records"].to_numpy()
        """int64[rows]."""
        self._rows = rows.select("records", pl.col("^y_.*$"))

    def safety(self, rows: Ints, group: Ints, found: Sequence[Matches]) -> Floats:
        """How safe the values on X are that each group is part of.

        Parameters
        ----------
        rows
            int64[n]: rows of the view.
        group
            int64[n]: their groups: partitions of the view by its columns of X, numbered from 0.
        found
            What they match of each of the `earlier` releases.

        Returns
        -------
        float64[groups]
            Of the least safe value; infinity if a group is in no value on X of the join.
        """
        size = int(group.max(initial=-1)) + 1
        row = np.zeros(size, np.int64)
        row[group] = np.arange(len(group))
        seen, hidden = found[: len(self._visible)], found[len(self._visible) :]
        least = [one.least(match)[match.key[row]] for one, match in zip(self._visible, seen, strict=True)]
        if self.is_anonymity:
            some = self._linked(rows, group, hidden) if hidden else self._distinct(rows, group)
            with np.errstate(over="ignore"):  # of many releases, beyond what a float holds: infinity
                return reduce(np.multiply, least, np.ones(size)) * some
        return reduce(np.minimum, least, self._margin(rows, group, hidden))

    def _distinct(self, rows: Ints, group: Ints) -> Floats:
        """The number of distinct values on Y in the view (section 5.4, case 1)."""
        if self._y_is_key:
            return np.bincount(group, self.records[rows]).astype(np.float64)
        y = self._rows["y_0"].to_numpy()
        _, row = numbered(group * (int(y.max(initial=0)) + 1) + y[rows])
        return np.bincount(group[row]).astype(np.float64)

    def _linked(self, rows: Ints, group: Ints, hidden: Sequence[Matches]) -> Floats:
        """The least number of distinct values on Y over the values on X that each group is joined to."""
        keys, x, times, stamps = self._columns("key", "x", "times", "stamp")
        table = self._keyed(rows, group, hidden)
        if self._y_is_key:  # people who match different partitions share no value on Y
            table, same = table.group_by("group", *keys).agg(pl.col("records").sum()), ["group", *keys]
        else:
            table = table.select("group", "y_0", *keys, records=pl.lit(1)).unique()
            same = ["group", "y_0"]
        least = np.full(int(group.max(initial=-1)) + 1, np.inf)
        for joined in self._joined(table, hidden):
            linked = joined.select(*same, "records", *x, *times, *stamps).unique().group_by("group", *x)
            _lower(least, linked.agg(safety=product(["records", *times]).sum()))
        return least

    def _margin(self, rows: Ints, group: Ints, hidden: Sequence[Matches]) -> Floats:
        """float64[groups]: the least k - l of a sensitive value, over the values on X of each group.

        l is the share of records with the value, k its limit (Definition 3.2): the view's own, and those
        of the releases that it is joined to. Below zero, a value is inferred with too much confidence.
        """
        least = np.full(int(group.max(initial=-1)) + 1, self._least_limit)
        of_hidden = [(f"{y}_{r}", k) for r, one in enumerate(self._hidden) for y, k in one.limits.items()]
        limits = {**self._limits, **dict(of_hidden)}
        if not limits:
            return least
        keys, x, times = self._columns("key", "x", "times")
        table = self._keyed(rows, group, hidden)
        table = table.group_by("group", *keys, *self._limits).agg(pl.col("records").sum())
        if hidden:
            least[:] = np.inf
        for joined in self._joined(table, hidden):
            _lower(least, joined.select("group", safety=pl.lit(self._least_limit)))
            _lower(least, margins(joined, ["group", *x], limits, ["records", *times]))
        return least

    def _columns(self, *names: str) -> list[list[str]]:
        """The columns of joined rows that stand for each of the releases whose join attributes X lacks."""
        return [[f"{name}_{r}" for r in range(len(self._hidden))] for name in names]

    def _keyed(self, rows: Ints, group: Ints, hidden: Sequence[Matches]) -> pl.DataFrame:
        """Rows of the view with their groups and their keys in each release."""
        keys = (pl.Series(f"key_{r}", match.key) for r, match in enumerate(hidden))
        return self._rows[rows].with_columns(pl.Series("group", group), *keys)

    def _joined(self, table: pl.DataFrame, hidden: Sequence[Matches]) -> Iterator[pl.DataFrame]:
        """Join rows of the view with the partitions that they match, so many values on X at a time as fit."""
        if not hidden:
            yield table
            return
        first, *others = partitions = [
            one.kinds(match, r) for r, (one, match) in enumerate(zip(self._hidden, hidden, strict=True))
        ]
        for some in _blocks(table.sort("group"), ["group"], partitions):
            by = ["group", "x_0"]
            for joined in _blocks(some.join(first, on="key_0").sort(by), by, others):
                yield reduce(lambda left, right: left.join(right, on=right.columns[0]), others, joined)

    def _refuse_more_than_fit(self) -> None:
        """Refuse joins that would take too long."""
        if not self._hidden:
            return
        rows, group, found = self.most_general
        hidden = found[len(self._visible) :]
        (keys,) = self._columns("key")
        partitions = [
            one.kinds(match, r) for r, (one, match) in enumerate(zip(self._hidden, hidden, strict=True))
        ]
        combinations = _combinations(self._keyed(rows, group, hidden).select(keys).unique(), partitions).sum()
        if combinations > MOST_COMBINATIONS:
            raise RepublishError(
                f"the earlier releases match the view in {combinations:.0f} combinations of partitions, more"
                f" than {MOST_COMBINATIONS}: add the common columns to x, or name fewer columns of previous"
                " releases"
            )


def _combinations(table: pl.DataFrame, partitions: Sequence[pl.DataFrame]) -> Floats:
    """The number of combinations of partitions that each row of the view matches."""
    combinations = np.ones(table.height)
    for one in partitions:
        ours, theirs = (each[one.columns[0]].to_numpy() for each in (table, one))
        combinations *= np.bincount(theirs, minlength=int(ours.max(initial=0)) + 1)[ours]
    return combinations


def _blocks(
    table: pl.DataFrame, by: Sequence[str], partitions: Sequence[pl.DataFrame]
) -> Iterator[pl.DataFrame]:
    """Cut a table, sorted by some columns, where these change, into blocks of about `AT_ONCE` matches."""
    run = table.select(pl.struct(by).rle_id()).to_series().to_numpy()
    ends = np.flatnonzero(np.diff(run, append=-1))
    block = _combinations(table, partitions).cumsum()[ends] // AT_ONCE
    stops = ends[np.flatnonzero(np.diff(block, append=-1))] + 1
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        yield table[start:stop]


def _lower(least: Floats, found: pl.DataFrame) -> None:
    """Lower what is known of each group to what was found of it."""
    np.minimum.at(least, found["group"].to_numpy(), found["safety"].to_numpy())
