"""The partitions of an earlier release (Tree2), and which of them the rows of a view match.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, sections 5.3, 5.4 and 7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import NamedTuple

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.contract import CategoryColumn
from republish.anonymize.kernels.boxes import Boxes
from republish.anonymize.sequential.forest import Forest, domain_of
from republish.anonymize.sequential.matching import Coded, Earlier, Pairs, join_arrays, join_columns
from republish.anonymize.sequential.parameters import Sequential, limit_of
from republish.anonymize.sequential.taxonomy import category_taxonomy

AT_ONCE = 2**20
"""So many pairs of partitions are looked at together."""
MOST_EXACT = 2.0**53
"""Sums of whole numbers below it are exact in 64 bits."""


class Step(NamedTuple):
    """Rows of the view that are specialized on one column."""

    column: str
    rows: Ints
    """int64[n]."""
    before: Ints
    """int64[n]: the node that each is under."""
    after: Ints
    """int64[n]: the child of it that each gets."""
    forest: Forest

    def number(self, before: Ints) -> tuple[Ints, Ints]:
        """Number what rows that were alike `before` are after the step, and name a row of each number."""
        branch = self.after - self.forest.first[self.before]
        return numbered(before * (int(branch.max(initial=0)) + 1) + branch)


class Matches(NamedTuple):
    """Which partitions of an earlier release the rows of a view match."""

    key: Ints
    """int64[n]: the number of each row's values of the join attributes."""
    start: Ints
    """int64[keys + 1]: key k matches the partitions listed[start[k]:start[k + 1]]."""
    listed: Ints
    """int64."""

    @classmethod
    def of(cls, key: Ints, sizes: Ints, listed: Ints) -> Matches:
        """The matches of keys that match so many partitions each."""
        return cls(key, np.concatenate([[0], np.cumsum(sizes)]), listed)

    @property
    def sizes(self) -> Ints:
        """int64[keys]: how many partitions each key matches."""
        return np.diff(self.start)


@dataclass(frozen=True)
class Part:
    """Parts of the join, of X and of Y that an earlier release has."""

    earlier: Earlier
    wanted: Sequential
    pairs: Pairs
    coded: Mapping[str, Coded]
    """The view's columns."""

    @property
    def joins(self) -> list[str]:
        """Its common columns."""
        return sorted(set(self.earlier.common) & set(self.coded))

    @property
    def joining(self) -> set[str]:
        """The join attributes of the view: these, and those that are inconsistent with some of its values."""
        return {*self.joins, *self.pairs.joining(self.earlier)}

    @property
    def lacks(self) -> bool:
        """Whether X lacks join attributes, of the view or of the release."""
        return not {*self.joining, *self.pairs.joined_by(self.earlier)} <= set(self.wanted.x)

    @property
    def is_key(self) -> bool:
        """Whether Y has the release's records."""
        return self.earlier.record is not None and self.earlier.record in self.wanted.y

    @property
    def y(self) -> list[str]:
        """The columns of Y; those that the view has are counted there, where values are exact."""
        linkable = self.joins if self.wanted.requirement == "linkability" else ()
        return [name for name in self.wanted.y if name in self.earlier.own or name in linkable]

    @property
    def has_y(self) -> bool:
        """Whether it has a part of Y."""
        return bool(self.y) or self.is_key

    @property
    def x(self) -> list[np.ndarray | pl.Series]:
        """What a value on X is made of."""
        ends = [end for name in self.joins if name in self.wanted.x for end in self.earlier.common[name]]
        return [*(self.earlier.own[name] for name in self.earlier.own if name in self.wanted.x), *ends]

    @property
    def is_linked(self) -> bool:
        """Whether it changes what is linked although X lacks join attributes."""
        return bool(self.has_y or self.x or self.wanted.requirement == "linkability")

    def read(self) -> tuple[pl.DataFrame, dict[str, Floats]]:
        """A row for each of the release's: `low_0`, `high_0`, …, `flags`, `records`, `x` and `y_0`, ….

        Under linkability `y_0`, … are sensitive values by number, null for others, and the k of each number
        comes second.
        """
        table = join_columns(self.earlier, self.joins, self.pairs.earlier_flags(self.earlier))
        table = table.with_columns(x=dense(self.x, table.height))
        limits = {}
        for q, name in enumerate(self.y):
            values = self.earlier.own[name] if name in self.earlier.own else self._leaf_labels(name)
            if self.wanted.requirement == "linkability":
                labels = values.drop_nulls().unique().sort()
                values, limits[f"y_{q}"] = number_sensitive(values, labels, name, self.wanted)
            table = table.with_columns(values.alias(f"y_{q}"))
        return table, limits

    def _leaf_labels(self, name: str) -> pl.Series:
        """A common column of Y as text; null where an interval covers several values and so infers none."""
        low, high = self.earlier.common[name]
        column = self.coded[name].column
        one = high - low <= 1
        if isinstance(column, CategoryColumn):
            leaves = category_taxonomy(column.paths).leaves
            text = pl.Series(leaves, dtype=pl.String).gather(np.where(one, low, 0).astype(np.int64))
        else:
            text = pl.Series(low).cast(column.dtype).cast(pl.String)
        return pl.select(pl.when(pl.Series(one)).then(text)).to_series()


@dataclass(frozen=True)
class Partitions:
    """An earlier release by join attributes, and by X and Y as far as they matter."""

    table: pl.DataFrame
    """A row for each partition."""
    limits: Mapping[str, Floats]
    """The columns of it that are numbered sensitive values, null for others; the k of each number."""
    boxes: Boxes
    """Their intervals of the join attributes."""
    part: Part

    @classmethod
    def of(cls, table: pl.DataFrame, limits: Mapping[str, Floats], part: Part) -> Partitions:
        """The partitions of a table with the join columns of `Part.read`."""
        return cls(table, limits, join_arrays(table, len(part.joins)), part)

    def matches(self, codes: Mapping[str, Ints], rows: int) -> Matches:
        """Match the rows of a view whose columns are at their most general, but for those that are fixed."""
        part, coded = self.part, self.part.coded
        given = sorted(name for name in part.joining if name not in part.wanted.x or coded[name].fixed)
        key = dense([codes[name] for name in given], rows)
        row = numbered(key)[1]
        low, high = np.zeros((2, len(row), len(part.joins)))
        flags = np.zeros(len(row), np.uint64)
        for name in part.joining:
            ends = np.array([[end] for end in domain_of(coded[name])])
            if name in given:
                ends = np.array([coded[name].low, coded[name].high])[:, codes[name][row]]
            flags |= part.pairs.flags(name, *ends)
            if name in part.joins:
                low[:, part.joins.index(name)], high[:, part.joins.index(name)] = ends
        return Matches.of(key, *overlaps(Boxes(low, high, flags), self.boxes))

    def specialized(self, before: Matches, step: Step) -> Matches:
        """Match the rows of a step after it."""
        key = before.key[step.rows]
        if step.column not in self.part.joining:
            return before._replace(key=key)
        key, row = step.number(key)
        parent, forest = before.key[step.rows[row]], step.forest
        sizes = before.sizes[parent]
        of = np.repeat(np.arange(len(row)), sizes)
        listed = before.listed[expanded(before.start[parent], sizes)]
        node = step.after[row][of]
        match = (forest.flags[node] & self.boxes.flags[listed]) == 0
        if step.column in self.part.joins:
            j = self.part.joins.index(step.column)
            match &= forest.low[node] < self.boxes.high[listed, j]
            match &= self.boxes.low[listed, j] < forest.high[node]
        return Matches.of(key, np.bincount(of[match], minlength=len(row)), listed[match])

    def after(self, before: Matches, step: Step) -> Matches:
        """Match all rows after a step of some of them."""
        if step.column not in self.part.joining:
            return before
        some, key = self.specialized(before, step), before.key.copy()
        key[step.rows] = len(before.sizes) + some.key
        start = np.concatenate([before.start[:-1], len(before.listed) + some.start[:-1]])
        listed = np.concatenate([before.listed, some.listed])
        key, row = numbered(used := key)
        sizes = np.concatenate([before.sizes, some.sizes])[used[row]]
        return Matches.of(key, sizes, listed[expanded(start[used[row]], sizes)])

    def least(self, found: Matches) -> Floats:
        """float64[keys]: the least safety among the partitions that each key matches; infinity of none."""
        least = np.full(len(found.sizes), np.inf)
        some = found.sizes > 0
        if some.any():
            safety = self.table["safety"].to_numpy()[found.listed]
            least[some] = np.minimum.reduceat(safety, found.start[:-1][some])
        return least

    def kinds(self, found: Matches, r: int) -> pl.DataFrame:
        """`key_r`, `x_r`, …: of the partitions that each key matches one of each kind (`by_x`)."""
        key, row = np.repeat(np.arange(len(found.sizes)), found.sizes), self.table["row"].to_numpy()
        _, one = numbered(key * self.table.height + row[found.listed])
        table = self.table[found.listed[one]].select(pl.col("^(x|times|stamp|y_.*)$").name.suffix(f"_{r}"))
        return table.select(pl.Series(f"key_{r}", key[one]), pl.all())


def overlaps(first: Boxes, second: Boxes) -> tuple[Ints, Ints]:
    """The rows of the second table that match each row of the first: how many there are, and which.

    Rows match if their intervals overlap in every column and they share no flag. Where any two intervals of a
    column are equal or apart, it is joined by equality.
    """
    n, wide = len(first.flags), []
    keys: Ints = np.zeros(n + len(second.flags), np.int64)
    for j in range(first.low.shape[1]):
        low, high = (np.concatenate([a[:, j], b[:, j]]) for a, b in zip(first[:2], second[:2], strict=True))
        place, row = numbered(dense([low, high], len(low)))
        row = row[np.argsort(low[row], kind="stable")]
        if (high[row][:-1] <= low[row][1:]).all():
            keys, _ = numbered(keys * len(row) + place)
        else:
            wide.append(j)
    order = np.argsort(keys[n:], kind="stable")
    begin, end = (np.searchsorted(keys[n:][order], keys[:n], side) for side in ("left", "right"))
    block = np.cumsum(end - begin) // AT_ONCE
    found = [np.zeros((2, 0), np.int64)]
    for rows in np.split(np.arange(n), np.flatnonzero(np.diff(block)) + 1):
        one = np.repeat(rows, (end - begin)[rows])
        other = order[expanded(begin[rows], (end - begin)[rows])]
        match = (first.flags[one] & second.flags[other]) == 0
        for j in wide:
            match &= first.low[one, j] < second.high[other, j]
            match &= second.low[other, j] < first.high[one, j]
        found.append(np.stack([one[match], other[match]]))
    one, listed = np.concatenate(found, axis=1)
    return np.bincount(one, minlength=n), listed


def expanded(begin: Ints, sizes: Ints) -> Ints:
    """`begin`, `begin` + 1, …: so many numbers as `sizes` says, for one after the other."""
    return np.repeat(begin - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())


def least_safe(part: Part) -> Partitions:
    """The join keys of a release with the least safe value on X under each (case 1 of section 5.4)."""
    table, limits = part.read()
    keys = [
        column
        for column in table.columns
        if column not in ("records", "x", *(f"y_{q}" for q in range(len(part.y))))
    ]
    by = [*keys, "x"]
    if part.wanted.requirement == "linkability":
        safe = table.select(by).unique().with_columns(safety=pl.lit(1.0))
        values = pl.concat([safe, margins(table, by, limits, ["records"])])
    elif part.is_key:
        values = table.group_by(by).agg(safety=pl.col("records").sum().cast(pl.Float64))
    else:
        y = pl.struct(f"y_{q}" for q in range(len(part.y)))
        values = table.group_by(by).agg(safety=y.n_unique().cast(pl.Float64))
    return Partitions.of(values.group_by(keys).agg(pl.col("safety").min()).sort(keys), limits, part)


def by_x(part: Part) -> Partitions:
    """A release by join attributes and value on X; for distinct values of Y, by these as well.

    Two values on X are of one kind if their rows are alike in everything but the join attributes that X has.
    Then they are equally safe. Under linkability they are also of one kind if the records of the one are a
    multiple of those of the other, because confidences are shares of records. `x` numbers the kinds, and
    `row` the rows of a kind: if a row of the view matches several that are alike, one of them is enough.
    `stamp` is the value on (X, Y), and `times` the records, or what a value on Y counts.
    """
    table, limits = part.read()
    y = [f"y_{q}" for q in range(len(part.y))]
    keys = [column for column in table.columns if column != "records"]
    table = table.group_by(keys).agg(times=pl.col("records").sum()).sort("x", pl.all())
    x, times = table["x"].to_numpy(), table["times"].to_numpy()
    distinct = part.wanted.requirement == "anonymity" and not part.is_key
    if distinct:
        times = np.ones_like(times)
    elif part.wanted.requirement == "linkability":
        times = times // np.gcd.reduceat(times, np.flatnonzero(np.diff(x, prepend=-1)))[x]
    not_in_x = [j for j, name in enumerate(part.joins) if name not in part.wanted.x]
    bounds = [f"{end}_{j}" for j in not_in_x for end in ("low", "high")]
    row = dense([*(table[column] for column in (*bounds, "flags", *y)), times], table.height)
    kind = table.select("x", row=pl.Series(row)).group_by("x").agg(pl.col("row").sort()).sort("x")
    x = dense([kind["row"].list.eval(pl.element().cast(pl.String)).list.join(" ")], kind.height)[x]
    row = dense([x, row], table.height)
    stamp = dense([x, *(table[column] for column in y)], table.height) if distinct else row
    columns = {"x": x, "times": times, "row": row, "stamp": stamp}
    return Partitions.of(
        table.with_columns(**{n: pl.Series(one) for n, one in columns.items()}), limits, part
    )


def margins(
    table: pl.DataFrame, by: Sequence[str], limits: Mapping[str, Floats], times: Sequence[str]
) -> pl.DataFrame:
    """`*by`, `safety`: k - l for each sensitive value that occurs (Definition 3.2).

    A row stands for as many records as the product of its columns `times` says. A quotient is rounded once,
    as its limit is: a confidence equal to its limit has the margin 0, however large the two counts are.
    """
    groups, records = _summed(table, by, times)
    exact = records.max(initial=0) >= MOST_EXACT
    if exact:
        groups, records = _summed(table, by, times, exact=True)
    groups = groups.with_row_index("group_number")
    found = [groups.select(*by, safety=pl.lit(0.0)).clear()]
    for column, limit in limits.items():
        of_value, part = _summed(table.drop_nulls(column), [*by, column], times, exact=exact)
        at = of_value.join(groups, on=by, maintain_order="left")["group_number"].to_numpy()
        share = (part / records[at]).astype(np.float64)
        found.append(of_value.select(*by, safety=pl.Series(limit[of_value[column].to_numpy()] - share)))
    return pl.concat(found)


def _summed(
    table: pl.DataFrame, by: Sequence[str], times: Sequence[str], *, exact: bool = False
) -> tuple[pl.DataFrame, np.ndarray]:
    """Groups and the records of each: float64, or whole numbers of Python, which have no end."""
    if exact:
        groups = table.group_by(by).agg(times)
        records = [sum(map(math.prod, zip(*row, strict=True))) for row in groups.select(times).iter_rows()]
        return groups.select(by), np.array(records, dtype=object)
    groups = table.group_by(by).agg(product(times).sum().alias("sum"))
    return groups.select(by), groups["sum"].to_numpy()


def product(times: Sequence[str]) -> pl.Expr:
    """The product of columns, as float64."""
    return reduce(mul, (pl.col(one).cast(pl.Float64) for one in times))


def number_sensitive(
    values: pl.Series, labels: pl.Series, column: str, wanted: Sequential
) -> tuple[pl.Series, Floats]:
    """The number of each value among a column's sensitive labels, else null; and the k of each number."""
    limits = limit_of(wanted, column, labels.to_list())
    numbers = values.replace_strict(list(limits), range(len(limits)), default=None, return_dtype=pl.Int64)
    return numbers, np.array(list(limits.values()), np.float64)


def numbered(keys: Ints) -> tuple[Ints, Ints]:
    """Number keys, which are not negative, in their order; and the position of one of each."""
    size = int(keys.max(initial=-1)) + 1
    if size > 8 * len(keys) + 1000:
        _, position, number = np.unique(keys, return_index=True, return_inverse=True)
        return number, position
    position = np.full(size, -1)
    position[keys] = np.arange(len(keys))
    return (np.cumsum(position >= 0) - 1)[keys], position[position >= 0]


def dense(columns: Sequence[np.ndarray | pl.Series], size: int) -> Ints:
    """int64[size]: combinations of values, numbered."""
    number: Ints = np.zeros(size, np.int64)
    for column in columns:
        ranks = pl.Series(column).rank("dense").fill_null(0).to_numpy().astype(np.int64)
        number, _ = numbered(number * (int(ranks.max(initial=0)) + 1) + ranks)
    return number
