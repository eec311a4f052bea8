"""The index that specialization runs on: Tree1, Tree2 and the demand, as arrays grouped once.

Tree1 is the view's distinct rows. Of Tree2 there are two kinds. Where X has all join attributes that an
earlier release shares with the view (case 1 of section 5.4), each value on X comes from one pair of
partitions, and of the earlier release only its least safe value under each join key matters: `Groups`. Where
X lacks join attributes, the rows of the view carry a history, their values of these attributes, and each
history lists the partitions that match it: `Cells`.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, sections 5.3, 5.4 and 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.contract import CategoryColumn, NumberColumn, ViewContract
from republish.anonymize.errors import RepublishError
from republish.anonymize.formats.intervals import half_open
from republish.anonymize.kernels import boxes
from republish.anonymize.kernels import specialize as kernel
from republish.anonymize.sequential.matching import Coded, Earlier, Pairs, join_arrays, join_columns
from republish.anonymize.sequential.parameters import Sequential, limit_of
from republish.anonymize.sequential.taxonomy import category_taxonomy

Arrays = TypeVar("Arrays", kernel.Rows, kernel.Axes, kernel.Groups, kernel.Cells)

MOST_COMBINATIONS = 200_000_000
"""Of partitions of earlier releases and histories: 4 bytes each."""


@dataclass(frozen=True)
class Run:
    """The result of specializing."""

    in_cut: Bools
    """bool[nodes]: the nodes of the cuts."""
    most_general: float
    """Safety before the first specialization."""
    safety: float
    """Safety after the last one."""
    specializations: int
    """How many there were."""
    safeties: np.ndarray
    """float64: of each partition."""


@dataclass(frozen=True)
class Index:
    """All that the kernel is given, and what its axes are called."""

    names: list[str]
    """The columns of X in the view."""
    given: kernel.Given
    used: int
    """How many of the nodes are made; the others are room for those that numbers are split into."""

    def run(self, limit: int) -> Run:
        """Specialize at most so many times."""
        work, room = kernel.make_work(self.given), kernel.make_room(self.given, self.used)
        most_general, safety, done, partitions = kernel.specialize(self.given, self.used, work, room, limit)
        return Run(work.in_cut, most_general, safety, done, work.value[:partitions])


@dataclass(frozen=True)
class _Part:
    """Parts of the join, of X and of Y that an earlier release has."""

    earlier: Earlier
    joins: list[str]
    """Its common columns."""
    hidden: set[str]
    """Join attributes of the view that X lacks."""
    is_hidden: bool
    """Whether X lacks join attributes, of the view or of the release; inconsistent pairs have such, too."""
    own_x: list[str]
    common_x: list[str]
    y: list[str]
    is_key: bool
    columns: Mapping[str, CategoryColumn | NumberColumn]
    """The view's columns."""


def build_index(
    coded: Mapping[str, Coded], earlier: Sequence[Earlier], contract: ViewContract[Sequential]
) -> Index:
    """Index a view and the releases that it will be joined with, which are population-related to it."""
    wanted: Sequential = contract.principle
    pairs = Pairs.of(contract)
    names = [name for name in coded if name in wanted.x]
    items = _Items(wanted) if wanted.requirement == "linkability" else None
    parts = [_part(one, coded, names, wanted, pairs) for one in earlier]
    hidden = [part for part in parts if part.is_hidden and _matters(part, wanted)]
    visible = [part for part in parts if not part.is_hidden and part.y]

    view_items = _view_items(coded, wanted, items)
    groups = _groups(visible, names, pairs, items)
    histories, history = _histories(coded, sorted(set().union(*(part.hidden for part in hidden))))
    cells = _cells(hidden, histories, names, pairs, items) if hidden else _no_cells()
    view_y = _view_y(coded, contract)
    by_history = _is_in_one_history(cells) if hidden else True
    rows = _rows(coded, names, history, view_y, view_items, by_history=by_history)
    nodes, used, axes = _forest(coded, names, parts, wanted, pairs)
    limits = np.array(items.limits if items and items.limits else [1.0])
    demand = kernel.Demand(
        kind=kernel.LINKABILITY if items else kernel.ANONYMITY,
        view_y=kernel.KEY
        if contract.identifier in wanted.y
        else kernel.ONE
        if view_y is None
        else kernel.CODE,
        by_history=by_history,
        limits=limits,
        needed=0.0 if items else float(wanted.k),
        information=_information(wanted),
        prunes=not hidden and (items is not None or _sides(parts, coded, contract) < 2),
        linked=len(limits) if items else 0,
    )
    given = kernel.Given(_plain(rows), nodes, _plain(axes), _plain(groups), _plain(cells), demand)
    return Index(names, given, used)


def _plain(arrays: Arrays) -> Arrays:
    """Make arrays contiguous and writable: the kernel is compiled once, not for each kind of array."""
    plain = {name: np.require(array, requirements=["C", "W"]) for name, array in arrays._asdict().items()}
    return arrays._replace(**plain)


def _part(
    one: Earlier, coded: Mapping[str, Coded], names: list[str], wanted: Sequential, pairs: Pairs
) -> _Part:
    joins = sorted(set(one.common) & set(coded))
    joining = {*joins, *pairs.joining(one)}
    # Of a column of Y in the view as well, distinct values are counted in the view, where they are exact.
    y = [
        name
        for name in wanted.y
        if name in one.own or (name in joins and wanted.requirement == "linkability")
    ]
    is_key = one.record is not None and one.record in wanted.y
    return _Part(
        one,
        joins,
        joining - set(names),
        bool(joining - set(names)) or not pairs.joined_by(one) <= set(wanted.x),
        [name for name in one.own if name in wanted.x],
        [name for name in joins if name in wanted.x],
        y + ([one.record] if one.record is not None and is_key else []),
        is_key,
        {name: column.column for name, column in coded.items()},
    )


def _matters(part: _Part, wanted: Sequential) -> bool:
    """Whether a release with join attributes that X lacks changes what is linked."""
    return bool(part.y or part.own_x or part.common_x or wanted.requirement == "linkability")


def _sides(parts: Sequence[_Part], coded: Mapping[str, Coded], contract: ViewContract[Sequential]) -> int:
    """The number of tables that Y has columns in."""
    in_view = contract.identifier in contract.principle.y or any(
        name in coded for name in contract.principle.y
    )
    return in_view + sum(bool(part.y) for part in parts)


def _information(wanted: Sequential) -> int:
    kinds = {"distortion": kernel.DISTORTION, "discernibility": kernel.DISCERNIBILITY}
    return kinds.get(wanted.information, kernel.CLASS)


class _Items:
    """The sensitive values, numbered as they are met: each column of each table has its own."""

    def __init__(self, wanted: Sequential):
        self._wanted = wanted
        self.limits: list[float] = []

    def number(self, column: str, values: Sequence[str]) -> np.ndarray:
        """int32 for each value: its number, -1 where it may be inferred."""
        limits = limit_of(self._wanted, column, values)
        numbers = np.full(len(values), -1, np.int32)
        for i, value in enumerate(values):
            if value in limits:
                numbers[i] = len(self.limits)
                self.limits.append(limits[value])
        return numbers


def _view_items(coded: Mapping[str, Coded], wanted: Sequential, items: _Items | None) -> list[np.ndarray]:
    """List the sensitive value of each record, for each column of Y in the view."""
    if items is None:
        return []
    return [items.number(name, coded[name].labels)[coded[name].codes] for name in wanted.y if name in coded]


def _view_y(coded: Mapping[str, Coded], contract: ViewContract[Sequential]) -> np.ndarray | None:
    """int32[N]: the value on Y of each record; None where there is no column of Y."""
    wanted = contract.principle
    names = [name for name in wanted.y if name in coded]
    if wanted.requirement == "linkability" or contract.identifier in wanted.y or not names:
        return None
    return _dense([coded[name].codes for name in names])


def _dense(columns: Sequence[np.ndarray | pl.Series]) -> np.ndarray:
    """int32: combinations of values numbered by their order."""
    table = pl.DataFrame({str(i): column for i, column in enumerate(columns)})
    return table.select(pl.struct(pl.all()).rank("dense") - 1).to_series().cast(pl.Int32).to_numpy()


def _rows(
    coded: Mapping[str, Coded],
    names: list[str],
    history: np.ndarray,
    view_y: np.ndarray | None,
    view_items: list[np.ndarray],
    *,
    by_history: bool,
) -> kernel.Rows:
    """Tree1's leaves: the distinct rows, in an order in which equal values on Y are neighbours."""
    table = pl.DataFrame(
        {
            **{f"x{a}": coded[name].codes for a, name in enumerate(names)},
            "history": history,
            "y": np.zeros(len(history), np.int32) if view_y is None else view_y,
            **{f"item{q}": column for q, column in enumerate(view_items)},
        }
    )
    order = ["history", "y"] if by_history or view_y is None else ["y", "history"]
    table = table.group_by(pl.all()).len("weight").sort(*order, pl.all())
    codes = table.select(f"x{a}" for a in range(len(names))).to_numpy().astype(np.int32)
    items = table.select(f"item{q}" for q in range(len(view_items))).to_numpy().astype(np.int32)
    return kernel.Rows(
        np.ascontiguousarray(codes.reshape(table.height, len(names))),
        table["weight"].cast(pl.Int64).to_numpy(),
        table["y"].to_numpy(),
        table["history"].to_numpy(),
        np.ascontiguousarray(items.reshape(table.height, len(view_items))),
    )


def _forest(
    coded: Mapping[str, Coded], names: list[str], parts: Sequence[_Part], wanted: Sequential, pairs: Pairs
) -> tuple[kernel.Nodes, int, kernel.Axes]:
    """Nodes of all taxonomies, with room for those that numbers are split into."""
    joining = set().union(*(set(part.joins) | pairs.joining(part.earlier) for part in parts))
    classes = coded[wanted.class_column].codes if wanted.class_column else None
    trees = [_tree(coded[name]) for name in names]
    sizes = [len(coded[name].low) for name in names]
    numeric = [not coded[name].fixed and not isinstance(coded[name].column, CategoryColumn) for name in names]
    used = sum(len(tree["first"]) for tree in trees)
    capacity = used + sum(2 * size for size, split in zip(sizes, numeric, strict=True) if split)
    nodes = kernel.Nodes(
        axis=np.zeros(capacity, np.int32),
        first=np.zeros(capacity, np.int32),
        children=np.zeros(capacity, np.int32),
        lo=np.zeros(capacity, np.int32),
        hi=np.zeros(capacity, np.int32),
        low=np.zeros(capacity),
        high=np.zeros(capacity),
        flags=np.zeros(capacity, np.uint64),
        route=np.full(capacity, -1, np.int32),
    )
    at, routes, roots = 0, [], []
    routed = 0
    for a, (name, tree) in enumerate(zip(names, trees, strict=True)):
        end = at + len(tree["first"])
        nodes.axis[at:end] = a
        nodes.first[at:end] = tree["first"] + at
        for field in ("children", "lo", "hi", "low", "high"):
            getattr(nodes, field)[at:end] = tree[field]
        nodes.flags[at:end] = pairs.flags(name, tree["low"], tree["high"])
        if not numeric[a]:
            for v in np.flatnonzero(tree["children"]):
                nodes.route[at + v] = routed
                below = slice(tree["first"][v], tree["first"][v] + tree["children"][v])
                route = np.repeat(np.arange(tree["children"][v]), tree["hi"][below] - tree["lo"][below])
                routes.append(route)
                routed += len(route)
        roots.append(at)
        at = end
    starts = np.concatenate([[0], np.cumsum([size + 1 for size in sizes])])[:-1]
    widths = [_width(coded[name]) for name in names]
    axes = kernel.Axes(
        roots=np.array(roots, np.int32),
        forced=np.array([coded[name].fixed for name in names], np.bool_),
        numeric=np.array(numeric, np.bool_),
        discrete=np.array([coded[name].column.discrete for name in names], np.bool_),
        joins=np.array([name in joining for name in names], np.bool_),
        values=np.concatenate([np.zeros(0), *(np.append(coded[name].low, 0.0) for name in names)]),
        tallies=np.concatenate(
            [np.zeros((0, 1 if classes is None else classes.max() + 1), np.int64)]
            + [_tally(coded[name], classes) for name in names]
        ),
        at=starts.astype(np.int64),
        width=np.array(widths, np.float64),
        routes=np.concatenate([np.zeros(0), *routes]).astype(np.int32),
    )
    return nodes, used, axes


def _tree(column: Coded) -> dict[str, np.ndarray]:
    """The nodes of one taxonomy before any number is split; `first` counts from the tree's own root."""
    size = len(column.low)
    if column.fixed:  # the root, and a child for each code
        return {
            "first": np.concatenate([[1], np.zeros(size)]).astype(np.int32),
            "children": np.concatenate([[size], np.zeros(size)]).astype(np.int32),
            "lo": np.concatenate([[0], np.arange(size)]).astype(np.int32),
            "hi": np.concatenate([[size], np.arange(size) + 1]).astype(np.int32),
            "low": np.concatenate([[column.low.min()], column.low]),
            "high": np.concatenate([[column.high.max()], column.high]),
        }
    if isinstance(column.column, CategoryColumn):
        tree = category_taxonomy(column.column.paths)
        return {
            "first": tree.first,
            "children": tree.children,
            "lo": tree.low,
            "hi": tree.high,
            "low": tree.low.astype(np.float64),
            "high": tree.high.astype(np.float64),
        }
    low, high = column.column.domain
    return {
        "first": np.zeros(1, np.int32),
        "children": np.zeros(1, np.int32),
        "lo": np.zeros(1, np.int32),
        "hi": np.array([size], np.int32),
        "low": np.array([float(low)]),
        "high": np.array([half_open(high, discrete=column.column.discrete)]),
    }


def _width(column: Coded) -> float:
    """The full range of a number's domain (section 6); 1 where there is none."""
    if isinstance(column.column, CategoryColumn):
        return 1.0
    low, high = column.column.domain
    return half_open(high, discrete=column.column.discrete) - low


def _tally(column: Coded, classes: np.ndarray | None) -> Ints:
    """int64[codes + 1, classes]: the records with smaller codes, by class."""
    number = 1 if classes is None else int(classes.max()) + 1
    cell = column.codes.astype(np.int64) * number + (0 if classes is None else classes)
    counts = np.bincount(cell, minlength=len(column.low) * number).reshape(-1, number)
    return np.concatenate([np.zeros((1, number), np.int64), np.cumsum(counts, axis=0)])


def _release_table(part: _Part, pairs: Pairs, only: Sequence[str] | None = None) -> pl.DataFrame:
    """`low_0`, `high_0`, …, `flags`, `records`, `x` (its value on X) and `y_0`, … (its columns of Y)."""
    earlier = part.earlier
    x: list[np.ndarray | pl.Series] = [earlier.own[name] for name in part.own_x]
    x += [end for name in part.common_x for end in earlier.common[name]]
    columns = {
        f"y_{q}": earlier.own[name] if name in earlier.own else _leaf_labels(part, name)
        for q, name in enumerate(name for name in part.y if name != earlier.record)
    }
    return join_columns(earlier, part.joins, pairs.earlier_flags(earlier, only)).with_columns(
        pl.Series("x", _dense(x) if x else np.zeros(len(earlier.records), np.int32)),
        *(values.alias(name) for name, values in columns.items()),
    )


def _leaf_labels(part: _Part, name: str) -> pl.Series:
    """A common column of Y as text; null where an interval covers more than one value and so infers none."""
    low, high = part.earlier.common[name]
    column = part.columns[name]
    one = high - low <= 1
    if isinstance(column, CategoryColumn):
        leaves = category_taxonomy(column.paths).leaves
        text = pl.Series(low.astype(np.int64)).replace_strict(
            range(len(leaves)), leaves, return_dtype=pl.String
        )
    else:
        text = pl.Series(low).cast(column.dtype).cast(pl.String)
    return pl.select(pl.when(pl.Series(one)).then(text)).to_series()


def _groups(visible: Sequence[_Part], names: list[str], pairs: Pairs, items: _Items | None) -> kernel.Groups:
    """The join keys of each release with the least safe value on X under each, the least safe key first."""
    starts, tables = [0], []
    for part in visible:
        table = _release_table(part, pairs)
        keys = [f"{end}_{j}" for j in range(len(part.joins)) for end in ("low", "high")] + ["flags"]
        values = (
            table.group_by(*keys, "x").agg(_safety_of(part))
            if items is None
            else _margins(part, table, keys, items)
        )
        least = values.group_by(keys).agg(pl.col("safety").min()).sort("safety", *keys)
        low, high, flags = join_arrays(least, len(part.joins))
        spread_low = np.full((least.height, len(names)), -np.inf)
        spread_high = np.full((least.height, len(names)), np.inf)
        for j, name in enumerate(part.joins):
            spread_low[:, names.index(name)] = low[:, j]
            spread_high[:, names.index(name)] = high[:, j]
        tables.append((spread_low, spread_high, flags, least["safety"].cast(pl.Float64).to_numpy()))
        starts.append(starts[-1] + least.height)
    width = len(names)
    empty = (np.zeros((0, width)), np.zeros((0, width)), np.zeros(0, np.uint64), np.zeros(0))
    low, high, flags, safety = (np.concatenate(columns) for columns in zip(empty, *tables, strict=True))
    return kernel.Groups(np.array(starts, np.int64), low, high, flags, safety)


def _safety_of(part: _Part) -> pl.Expr:
    """The number of distinct values on Y of the rows of one value on X (Definition 3.1)."""
    if part.is_key:
        return pl.col("records").sum().alias("safety")
    return pl.struct(f"y_{q}" for q in range(len(part.y))).n_unique().alias("safety")


def _margins(part: _Part, table: pl.DataFrame, keys: list[str], items: _Items) -> pl.DataFrame:
    """`*keys`, `x`, `safety`: the least k - l over the sensitive values (Definition 3.2)."""
    totals = table.group_by(*keys, "x").agg(pl.col("records").sum().alias("all"), pl.lit(1.0).alias("safety"))
    margins = [totals]
    for q, name in enumerate(part.y):
        values = table[f"y_{q}"].drop_nulls().unique().sort()
        numbers = items.number(name, values.to_list())
        limits = [items.limits[number] if number >= 0 else None for number in numbers]
        sensitive = (
            table.group_by(*keys, "x", f"y_{q}")
            .agg(pl.col("records").sum())
            .with_columns(
                pl.col(f"y_{q}")
                .replace_strict(values, limits, default=None, return_dtype=pl.Float64)
                .alias("limit")
            )
            .drop_nulls("limit")
            .join(totals.drop("safety"), on=[*keys, "x"])
        )
        # A quotient rounded once, as the limit is: a confidence equal to its limit has the margin 0. polars
        # divides by one number as it multiplies by its inverse, which is rounded twice.
        share = sensitive["records"].to_numpy() / sensitive["all"].to_numpy()
        safety = (sensitive["limit"] - pl.Series(share)).alias("safety")
        margins.append(sensitive.select(*keys, "x", "all", safety))
    return pl.concat(margins)


def _histories(coded: Mapping[str, Coded], names: list[str]) -> tuple[dict[str, Coded], np.ndarray]:
    """The combinations of join attributes that X lacks in the view, and that of each record."""
    size = len(next(iter(coded.values())).codes)
    if not names:
        return {}, np.zeros(size, np.int32)
    history = _dense([coded[name].codes for name in names])
    first = np.zeros(history.max() + 1, np.int64)
    first[history] = np.arange(size)
    return {
        name: Coded(
            coded[name].codes[first], coded[name].low, coded[name].high, coded[name].labels,
            coded[name].column, fixed=True,
        )
        for name in names
    }, history  # fmt: skip


def _no_cells() -> kernel.Cells:
    none = np.zeros(0, np.int32)
    return kernel.Cells(
        start=np.zeros(1, np.int64), listed=none, low=np.zeros((0, 0)), high=np.zeros((0, 0)),
        flags=np.zeros(0, np.uint64), x=none, stamp=none, rows=np.zeros(0),
        rest=np.zeros(0), shift=none, items=np.zeros((0, 0), np.int32), bound=none,
    )  # fmt: skip


def _cells(
    hidden: Sequence[_Part],
    histories: Mapping[str, Coded],
    names: list[str],
    pairs: Pairs,
    items: _Items | None,
) -> kernel.Cells:
    """The partitions of the releases with join attributes that X lacks, by history."""
    return reduce(_combined, (_partitions(part, histories, names, pairs, items) for part in hidden))


def _partitions(
    part: _Part, histories: Mapping[str, Coded], names: list[str], pairs: Pairs, items: _Items | None
) -> kernel.Cells:
    """One release by join attributes and value on X; for distinct values of Y, by these as well."""
    in_x = [j for j, name in enumerate(part.joins) if name in names]
    not_in_x = [j for j, name in enumerate(part.joins) if name not in names]
    lacking = sorted(part.hidden)
    flags = pairs.earlier_flags(part.earlier, lacking)
    y = [] if part.is_key and len(part.y) == 1 else [f"y_{q}" for q in range(len(part.y) - part.is_key)]
    table = _release_table(part, pairs, names).with_columns(pl.Series("history_flags", flags))
    keys = [column for column in table.columns if column not in ("records", *y)]
    table = table.group_by(*keys, *y).agg(pl.col("records").sum()).sort(*keys, *y)

    hidden_keys = [f"{end}_{j}" for j in not_in_x for end in ("low", "high")] + ["history_flags"]
    join_key = _dense([table[key] for key in hidden_keys])
    order = np.argsort(join_key, kind="stable")
    table, join_key = table[order], join_key[order]
    firsts = np.flatnonzero(np.diff(join_key, prepend=-1))
    ends = np.append(firsts[1:], table.height)
    start, listed = boxes.matches(
        _history_bounds(part, histories, lacking, pairs),
        boxes.Boxes(
            _bounds(table[firsts], "low", not_in_x),
            _bounds(table[firsts], "high", not_in_x),
            table["history_flags"].to_numpy()[firsts],
        ),
    )
    start, listed = _expanded(start, listed, firsts, ends)
    distinct = items is None and not part.is_key
    return kernel.Cells(
        start=start,
        listed=listed,
        low=_bounds(table, "low", in_x),
        high=_bounds(table, "high", in_x),
        flags=table["flags"].to_numpy(),
        x=table["x"].cast(pl.Int32).to_numpy(),
        stamp=_dense([table["x"], *(table[column] for column in y)])
        if distinct
        else np.arange(table.height, dtype=np.int32),
        rows=np.ones(table.height) if distinct else table["records"].cast(pl.Float64).to_numpy(),
        rest=np.zeros(table.height),
        shift=np.zeros(table.height, np.int32),
        items=_cell_items(part, table, items),
        bound=np.array([names.index(part.joins[j]) for j in in_x], np.int32),
    )


def _history_bounds(
    part: _Part, histories: Mapping[str, Coded], lacking: list[str], pairs: Pairs
) -> boxes.Boxes:
    size = len(next(iter(histories.values())).codes) if histories else 1
    names = [name for name in part.joins if name in lacking]
    ends = [histories[name].interval for name in names]
    flags = np.zeros(size, np.uint64)
    for name in lacking:
        flags |= pairs.flags(name, histories[name].low, histories[name].high)[histories[name].codes]
    low, high = (np.array([end[at] for end in ends]).reshape(len(names), size).T for at in (0, 1))
    return boxes.Boxes(np.ascontiguousarray(low), np.ascontiguousarray(high), flags)


def _bounds(table: pl.DataFrame, end: str, joins: Sequence[int]) -> np.ndarray:
    values = np.array([table[f"{end}_{j}"].to_numpy() for j in joins]).reshape(len(joins), table.height).T
    return np.ascontiguousarray(values, dtype=np.float64)


def _expanded(
    start: np.ndarray, listed: np.ndarray, firsts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Lists of join keys as lists of the partitions under them."""
    sizes = (ends - firsts)[listed]
    _refuse_more_than_fit(int(sizes.sum()))
    expanded = np.repeat(firsts[listed], sizes) + _counted_anew(sizes)
    return np.concatenate([[0], np.cumsum(sizes)])[start].astype(np.int64), expanded.astype(np.int32)


def _counted_anew(sizes: Ints) -> Ints:
    """0 … s - 1 for each size s."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _cell_items(part: _Part, table: pl.DataFrame, items: _Items | None) -> Ints:
    """int32[partitions, columns of Y]: the sensitive value of each, -1 where there is none."""
    if items is None:
        return np.zeros((table.height, 0), np.int32)
    numbered = []
    for q, name in enumerate(part.y):
        values = table[f"y_{q}"].drop_nulls().unique().sort()
        numbers = items.number(name, values.to_list())
        numbered.append(
            table[f"y_{q}"].replace_strict(values, numbers, default=-1, return_dtype=pl.Int32).to_numpy()
        )
    return np.ascontiguousarray(np.array(numbered, np.int32).reshape(len(part.y), table.height).T)


def _combined(first: kernel.Cells, second: kernel.Cells) -> kernel.Cells:
    """The combinations of two releases' partitions that match one history (section 7)."""
    history = np.repeat(np.arange(len(first.start) - 1), np.diff(first.start))
    sizes = np.diff(second.start)[history]
    _refuse_more_than_fit(int(sizes.sum()))
    a = np.repeat(first.listed, sizes).astype(np.int64)
    b = second.listed[np.repeat(second.start[history], sizes) + _counted_anew(sizes)]
    pairs, listed = np.unique(a * len(second.x) + b, return_inverse=True)
    one, other = pairs // len(second.x), pairs % len(second.x)
    rows, rest, shift = kernel.multiplied(_plain(first), one, _plain(second), other)
    return kernel.Cells(
        start=np.concatenate([[0], np.cumsum(np.diff(first.start) * np.diff(second.start))]),
        listed=listed.astype(np.int32),
        low=np.hstack([first.low[one], second.low[other]]),
        high=np.hstack([first.high[one], second.high[other]]),
        flags=first.flags[one] | second.flags[other],
        x=_dense([first.x[one], second.x[other]]),
        stamp=_dense([first.stamp[one], second.stamp[other]]),
        rows=rows,
        rest=rest,
        shift=shift,
        items=np.hstack([first.items[one], second.items[other]]),
        bound=np.concatenate([first.bound, second.bound]),
    )


def _refuse_more_than_fit(combinations: int) -> None:
    if combinations > MOST_COMBINATIONS:
        raise RepublishError(
            f"the earlier releases match the view in {combinations} combinations of partitions, more than"
            f" {MOST_COMBINATIONS}: add the common columns to x, or name fewer columns of previous releases"
        )


def _is_in_one_history(cells: kernel.Cells) -> bool:
    """Whether no value of Y is in the lists of two histories, so that counts of histories add up.

    Case 2 of section 5.4 takes that for granted; it does not hold where the earlier release is generalized on
    a join attribute that X lacks, since a partition then matches several histories.
    """
    history = np.repeat(np.arange(len(cells.start) - 1), np.diff(cells.start))
    met = pl.DataFrame({"stamp": cells.stamp[cells.listed], "history": history}).unique()
    return met["stamp"].n_unique() == met.height
