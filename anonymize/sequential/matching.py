"""The pairs of records of two releases that may be about the same person.

Two records match if their values of every common column lie on one generalization path, and no two of their
values are inconsistent. Every value is a half-open interval of codes (leaves of a hierarchy from left to
right, or numbers), and two values lie on one path if and only if their intervals overlap.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, sections 3.3 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.contract import CategoryColumn, NumberColumn, ViewContract
from republish.anonymize.errors import SnapshotError
from republish.anonymize.formats.intervals import half_open, read_numbers
from republish.anonymize.kernels.boxes import Boxes, unmatched
from republish.anonymize.sequential.parameters import Sequential, split_pair
from republish.anonymize.sequential.taxonomy import Taxonomy, category_taxonomy

Interval = tuple[np.ndarray, np.ndarray]
"""float64[N] each: half-open."""


@dataclass(frozen=True)
class Coded:
    """One column of the view: a code for each record, and what the codes stand for."""

    codes: Ints
    """int32[N]."""
    low: Floats
    """float64[codes]: where the value of each code begins, in leaves or numbers."""
    high: Floats
    """float64[codes]: where it ends."""
    labels: list[str]
    """Of each code, as text."""
    column: CategoryColumn | NumberColumn
    """What the contract says of it."""
    fixed: bool
    """Whether it is published under just these codes."""


@dataclass(frozen=True)
class Earlier:
    """An earlier release, as an adversary reads it."""

    where: str
    """What messages call it."""
    common: Mapping[str, Interval]
    """Columns that the view has as well, by name."""
    own: Mapping[str, pl.Series]
    """Its other columns, as text, by name."""
    records: Ints
    """int64[N]: records that each row stands for."""
    record: str | None
    """What `y` calls its records."""
    released: pl.DataFrame
    """The release as it was read."""

    def is_like(self, other: Earlier) -> bool:
        """Whether another release is the same table."""
        same = (*self.common, *self.own, self.record) == (*other.common, *other.own, other.record)
        return same and self.released.equals(other.released)

    @property
    def names(self) -> set[str]:
        """The names of all its columns."""
        return {*self.common, *self.own}


def code_view(
    view: pl.DataFrame, columns: Sequence[CategoryColumn | NumberColumn], x: Sequence[str]
) -> dict[str, Coded]:
    """Write the columns of T1 as codes: leaves of the hierarchy, or ranks of the distinct numbers.

    Raises
    ------
    SnapshotError
        If values are missing, in no hierarchy, or outside their domain.
    """
    coded = {}
    for position, column in enumerate(columns):
        values = view[f"column_{position}"]
        if values.null_count():
            raise SnapshotError(
                f"the column {column.name}: {values.null_count()} values are missing; a view has none"
            )
        fixed = column.keep or column.name not in x
        if isinstance(column, CategoryColumn):
            coded[column.name] = _code_categories(values, column, fixed=fixed)
        else:
            coded[column.name] = _code_numbers(values, column, fixed=fixed)
    return coded


def _code_categories(values: pl.Series, column: CategoryColumn, *, fixed: bool) -> Coded:
    leaves = category_taxonomy(column.paths).leaves
    codes = values.cast(pl.String).replace_strict(
        leaves, range(len(leaves)), default=None, return_dtype=pl.Int32
    )
    if missed := codes.null_count():
        kinds = values.filter(codes.is_null()).n_unique()
        raise SnapshotError(
            f"the column {column.name}: {missed} records have {kinds} values that its"
            f" {'hierarchy' if column.hierarchy else 'order'} lacks: add them, or correct the source"
        )
    low = np.arange(len(leaves), dtype=np.float64)
    return Coded(codes.to_numpy(), low, low + 1, leaves, column, fixed)


def _code_numbers(values: pl.Series, column: NumberColumn, *, fixed: bool) -> Coded:
    numbers = values.cast(column.dtype).to_numpy()
    lowest, highest = column.domain
    if outside := int(np.count_nonzero(~((numbers >= lowest) & (numbers <= highest)))):
        raise SnapshotError(
            f"the column {column.name}: {outside} records lie outside its domain, {lowest} to {highest}:"
            " widen it, or correct the source"
        )
    distinct, codes = np.unique(numbers, return_inverse=True)
    low = distinct.astype(np.float64)
    high = low + 1 if column.discrete else np.nextafter(low, np.inf)
    return Coded(codes.astype(np.int32), low, high, [str(one) for one in distinct.tolist()], column, fixed)


def read_earlier(
    released: pl.DataFrame,
    names: Sequence[str],
    columns: Sequence[CategoryColumn | NumberColumn],
    where: str,
    record: str | None = None,
) -> Earlier:
    """Read an earlier release, its common columns as intervals of the view's codes.

    Parameters
    ----------
    released
        `column_0`, `column_1`, … in the order of `names`: values or labels; or `column_0_low`,
        `column_0_high`: intervals closed on both ends. With `records`, a row stands for so many records.
    columns
        The view's columns.
    where
        What messages call the release.
    record
        What `y` calls its records.

    Raises
    ------
    SnapshotError
        If the release is empty, lacks values, or has a value of a common column that the view can't have.
    """
    if released.is_empty():
        raise SnapshotError(f"{where} has no records: leave it out")
    if missing := sum(released.null_count().row(0)):
        raise SnapshotError(f"{where}: {missing} values are missing, and nothing says what they match")
    ours = {column.name: column for column in columns}
    common, own = {}, {}
    for position, name in enumerate(names):
        plain, low, high = (f"column_{position}{end}" for end in ("", "_low", "_high"))
        if name not in ours:
            own[name] = own_column(released, position).alias(name)
        elif plain in released.columns:
            common[name] = _read_values(released[plain], ours[name], where)
        else:
            starts = _read_values(released[low], ours[name], where)
            ends = _read_values(released[high], ours[name], where)
            common[name] = starts[0], ends[1]
    records = (
        released["records"].to_numpy()
        if "records" in released.columns
        else np.ones(released.height, np.int64)
    )
    return Earlier(where, common, own, records.astype(np.int64), record, released)


def own_column(released: pl.DataFrame, position: int) -> pl.Series:
    """A column of an earlier release that the view lacks, as text."""
    plain, low, high = (f"column_{position}{end}" for end in ("", "_low", "_high"))
    if plain in released.columns:
        return released[plain].cast(pl.String)
    return released.select(pl.format("[{}-{}]", low, high)).to_series()


def _read_values(values: pl.Series, column: CategoryColumn | NumberColumn, where: str) -> Interval:
    if isinstance(column, NumberColumn):
        return read_numbers(values, column.domain, f"{where}, column {column.name}")
    labels = values.cast(pl.String).unique()
    low, high = read_labels(labels, column, where)
    codes = (
        values.cast(pl.String).replace_strict(labels, range(len(labels)), return_dtype=pl.Int64).to_numpy()
    )
    return low[codes], high[codes]


def read_labels(labels: pl.Series, column: CategoryColumn | NumberColumn, where: str) -> Interval:
    """The interval that each label stands for."""
    if isinstance(column, NumberColumn):
        return read_numbers(labels, column.domain, f"{where}, column {column.name}")
    nodes = node_intervals(column)
    known = [nodes[label] for label in labels.to_list() if label in nodes]
    if unread := len(labels) - len(known):
        raise SnapshotError(
            f"{where}: {unread} values of {column.name} are no labels of the hierarchy: say what they"
            " stand for, or write * for any"
        )
    return np.array([low for low, _ in known], np.float64), np.array([high for _, high in known], np.float64)


def node_intervals(column: CategoryColumn) -> dict[str, tuple[float, float]]:
    """The leaves that each label of a hierarchy covers, as a half-open interval; `*` and ANY cover all."""
    tree: Taxonomy = category_taxonomy(column.paths)
    nodes = dict(zip(tree.labels, zip(tree.low.tolist(), tree.high.tolist(), strict=True), strict=True))
    return {"*": nodes[tree.labels[0]], "ANY": nodes[tree.labels[0]], **nodes}


@dataclass(frozen=True)
class Pairs:
    """The inconsistent pairs of a contract: pair q is bit q of a record's flags."""

    halves: tuple[tuple[str, str, str, str], ...]
    """The view's column, its label, the earlier release's column, its label."""
    columns: Mapping[str, Any]
    """The view's columns by name."""

    @classmethod
    def of(cls, contract: ViewContract[Sequential]) -> Pairs:
        """The pairs that a contract declares."""
        halves = [
            (*split_pair(key), *pair)
            for key, pairs in contract.principle.inconsistent.items()
            for pair in pairs
        ]
        return cls(
            tuple((ours, label, theirs, other) for ours, theirs, label, other in halves),
            {column.name: column for column in contract.columns},
        )

    def flags(self, name: str, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """uint64 for each interval of a column of the view: the pairs whose first half covers it."""
        flags = np.zeros(len(low), np.uint64)
        for q, (ours, label, _, _) in enumerate(self.halves):
            if ours == name:
                begin, end = node_intervals(self.columns[ours])[label]
                flags |= ((low >= begin) & (high <= end)).astype(np.uint64) << np.uint64(q)
        return flags

    def earlier_flags(self, earlier: Earlier) -> np.ndarray:
        """Flag the pairs whose second half covers each row of an earlier release: uint64 for each row."""
        flags = np.zeros(len(earlier.records), np.uint64)
        for q, (_, _, theirs, label) in enumerate(self.halves):
            if theirs in earlier.own:
                half = (earlier.own[theirs] == label).to_numpy()
            elif theirs in earlier.common:
                low, high = earlier.common[theirs]
                begin, end = node_intervals(self.columns[theirs]).get(label, (0, -1))
                half = (low >= begin) & (high <= end)
            else:
                continue
            flags |= half.astype(np.uint64) << np.uint64(q)
        return flags

    def joining(self, earlier: Earlier) -> set[str]:
        """The columns of the view that have a part in a pair with a column of an earlier release."""
        return {ours for ours, _, theirs, _ in self.halves if theirs in earlier.names}

    def joined_by(self, earlier: Earlier) -> set[str]:
        """The columns of an earlier release that have a part in a pair."""
        return {theirs for _, _, theirs, _ in self.halves if theirs in earlier.names}


def unrelated(coded: Mapping[str, Coded], earlier: Earlier, pairs: Pairs) -> tuple[int, int]:
    """Count records of the view that match no record of an earlier release, and the other way round.

    Tables about the same population have none (section 4).
    """
    names = sorted(set(coded) & set(earlier.common))
    joining = sorted({*names, *pairs.joining(earlier)})
    if not joining:
        return 0, 0
    first = pl.DataFrame({f"{j}": coded[name].codes for j, name in enumerate(joining)})
    counted = first.group_by(pl.all()).len("records").sort(pl.all())
    first_flags = np.zeros(counted.height, np.uint64)
    for j, name in enumerate(joining):
        one = coded[name]
        first_flags |= pairs.flags(name, one.low, one.high)[counted[str(j)].to_numpy()]
    second = join_columns(earlier, names, pairs.earlier_flags(earlier))
    keys = [column for column in second.columns if column != "records"]
    second = second.group_by(keys).agg(pl.col("records").sum()).sort(keys)
    codes = {name: counted[str(joining.index(name))].to_numpy() for name in names}
    low, high = np.zeros((2, counted.height, len(names)))
    for j, name in enumerate(names):
        low[:, j], high[:, j] = coded[name].low[codes[name]], coded[name].high[codes[name]]
    alone_first, alone_second = unmatched(Boxes(low, high, first_flags), join_arrays(second, len(names)))
    return (
        int(counted["records"].to_numpy()[alone_first].sum()),
        int(second["records"].to_numpy()[alone_second].sum()),
    )


def join_columns(earlier: Earlier, names: Sequence[str], flags: np.ndarray) -> pl.DataFrame:
    """`low_0`, `high_0`, … of the common columns, `flags`, `records`: a row for each of the release's."""
    ends = {
        f"{end}_{j}": earlier.common[name][at]
        for j, name in enumerate(names)
        for at, end in enumerate(("low", "high"))
    }
    return pl.DataFrame({**ends, "flags": flags, "records": earlier.records})


def join_arrays(table: pl.DataFrame, width: int) -> Boxes:
    """The common columns, `width` of them, of a table that `join_columns` made, as boxes."""
    low = _table(table.select(f"low_{j}" for j in range(width)).to_numpy(), table.height)
    high = _table(table.select(f"high_{j}" for j in range(width)).to_numpy(), table.height)
    return Boxes(low, high, np.require(table["flags"].to_numpy(), requirements=["C", "W"]))


def _table(values: np.ndarray, height: int) -> np.ndarray:
    # Writable, so that the kernel is compiled once, not for each kind of array.
    return np.require(values, np.float64, ["C", "W"]).reshape(height, -1)


__all__ = [
    "Coded", "Earlier", "Interval", "Pairs", "code_view", "half_open", "join_arrays",
    "join_columns", "node_intervals", "own_column", "read_earlier", "read_labels", "unrelated",
]  # fmt: skip
