"""Groups that a person's quasi-identifiers fall into, and the values that they hold together."""

from __future__ import annotations

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats, Ints, Words
from republish.anonymize.attack.bits import bitsets, place
from republish.anonymize.attack.numbers import joined
from republish.anonymize.formats.published import Published
from republish.anonymize.kernels import coverage as kernel
from republish.anonymize.kernels.read_only import read_only

CELLS = 128
"""Cells that the codes of a quasi-identifier are divided into: one for each, if there are no more codes."""


def cover(people: pl.DataFrame, published: Published, domain: pl.Series) -> pl.DataFrame:
    """Find the candidate sensitive set of every person at one release, by coverage.

    The people (one column of codes per quasi-identifier, and any others) get `candidates_0`, `candidates_1`,
    …: 64 bits of the set each, by the positions of the domain; `groups`, the number of groups that cover the
    person; and `group_id` if that is one, else null.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 15.
    """
    names = [column.removesuffix("_low") for column in published.boxes.columns if column.endswith("_low")]
    # Many people have the same quasi-identifiers: on census data one in four is a new point. The kernel takes
    # less time if points are sorted, by the attribute with most codes first, and boxes by this one.
    alike = people.select(names).with_row_index("row").group_by(names).agg("row")
    names.sort(key=lambda name: -alike[name].n_unique())
    alike = alike.sort(names)
    boxes = published.boxes.sort(f"{names[0]}_low")
    boxes = joined(boxes, signatures(published.values, domain), on="group_id", how="left")
    union, first, groups = kernel.cover(*_near(alike.select(names), boxes), _words(boxes))
    point = np.empty(len(people), dtype=np.int64)
    point[alike["row"].explode().to_numpy()] = np.repeat(np.arange(len(alike)), alike["row"].list.len())
    only = pl.Series(first[point]).set(pl.Series(groups[point] != 1), None)
    return people.with_columns(
        pl.Series("groups", groups[point]),
        *(pl.Series(f"candidates_{n}", word[point]) for n, word in enumerate(union.T)),
        boxes["group_id"].gather(only),
    )


def covering(points: pl.DataFrame, boxes: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Pair each point with every box that covers it: their row numbers, int64[P] and int32[P].

    Points have a column of codes per quasi-identifier, boxes `<column>_low` and `<column>_high`, closed on
    both ends. A missing value is covered by a box without ends, and by one that has
    `<column>_missing` people whose value is missing.
    """
    ends, found = kernel.covering(*_near(points, boxes))
    return np.repeat(np.arange(len(points)), np.diff(ends)), found


def signatures(values: pl.DataFrame, domain: pl.Series) -> pl.DataFrame:
    """Write the signature of every group as bits of the domain: `group_id`, `candidates_0`, …."""
    positions = domain.to_frame("value").with_row_index("position")
    held = values.join(positions, on="value", how="inner")
    groups = held.select(pl.col("group_id").unique()).with_row_index("group")
    held = held.join(groups, on="group_id")
    position = held["position"].to_numpy().astype(np.int64)
    # One row at a time into a matrix: an expression for each word would read all rows for each.
    bits = bitsets(held["group"].to_numpy(), position, len(groups), len(domain))
    return groups.select("group_id", *(pl.Series(f"candidates_{n}", word) for n, word in enumerate(bits.T)))


def holds(people: pl.DataFrame, column: str, domain: pl.Series) -> pl.Series:
    """Whether each row's candidates, bits of the domain, contain the value in a column."""
    positions = domain.to_frame(column).with_row_index("position")
    found = people.select(column).join(positions, on=column, how="left", maintain_order="left")["position"]
    position = found.fill_null(0).to_numpy().astype(np.int64)
    word, bit = place(position)
    held = np.zeros(len(people), dtype=bool)
    # Of each word only the rows are read whose value is in it.
    order = np.argsort(word, kind="stable")
    ends = np.flatnonzero(np.diff(word[order])) + 1
    for rows in np.split(order, ends) if len(order) else ():
        name = f"candidates_{word[rows[0]]}"
        if name in people.columns:
            held[rows] = (people[name].gather(rows).fill_null(0).to_numpy() & bit[rows]) != 0
    return pl.Series("holds", held & found.is_not_null().to_numpy(), dtype=pl.Boolean)


def _matrix(frame: pl.DataFrame, columns: list[str]) -> np.ndarray:
    codes = frame.select(pl.col(columns).cast(pl.Float64))
    return read_only(np.ascontiguousarray(codes.to_numpy()).reshape(len(frame), len(columns)))


def _words(boxes: pl.DataFrame) -> np.ndarray:
    words = boxes.select(pl.col("^candidates_.*$").fill_null(0))
    return read_only(np.ascontiguousarray(words.to_numpy()))


def _near(points: pl.DataFrame, boxes: pl.DataFrame) -> tuple[Floats, Ints, Floats, Floats, Words]:
    """The points' cells and the boxes that reach there, and what is left to compare, as kernels take them."""
    at = _matrix(points, points.columns)
    lows, highs = (_matrix(boxes, [f"{name}{end}" for name in points.columns]) for end in ("_low", "_high"))
    cells, begin, to, several = [], [], [], []
    nowhere: list[int] = []
    """The cells of missing values, which come last."""
    for a, name in enumerate(points.columns):
        codes = points[name].unique().sort(nulls_last=True).cast(pl.Float64).to_numpy()
        if len(codes) <= CELLS:
            to.append(np.searchsorted(codes, highs[:, a], "right") - 1)
        else:
            several.append(a)
            there = at[~np.isnan(at[:, a]), a]
            codes = np.unique(np.quantile(there, np.linspace(0, 1, CELLS)[1:-1], method="nearest"))
            codes = np.append(codes, np.inf)
            to.append(np.searchsorted(codes, highs[:, a]))
        cells.append(np.searchsorted(codes, at[:, a]))
        begin.append(np.searchsorted(codes, lows[:, a]))
        nowhere.append(int(np.searchsorted(codes, np.nan)))
    reached = kernel.reaching(np.stack(begin, axis=1), np.stack(to, axis=1), CELLS + 1)
    for a, name in enumerate(points.columns):
        if f"{name}_missing" in boxes.columns:
            word, bit = place(np.flatnonzero(boxes[f"{name}_missing"].to_numpy() > 0))
            np.bitwise_or.at(reached[a, nowhere[a]], word, bit)
    at, lows, highs = (read_only(np.ascontiguousarray(one[:, several])) for one in (at, lows, highs))
    return at, np.stack(cells, axis=1), lows, highs, reached


def value_domain(*columns: pl.Series, known: pl.Series | None = None) -> pl.Series:
    """List every sensitive value there is, each at a fixed position: what bitsets are numbered by.

    New values come after those that are `known`, so that earlier bitsets stay readable.
    """
    found = pl.concat([column.drop_nulls().unique() for column in columns]).unique().sort().alias("value")
    if known is None:
        return found
    return pl.concat([known.alias("value"), found.filter(~found.is_in(known.implode()))])
