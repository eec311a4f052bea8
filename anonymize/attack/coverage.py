"""Groups that a person's quasi-identifiers fall into, and the values that they hold together."""

from __future__ import annotations

import numpy as np
import polars as pl

from anonymize.attack.bits import bitsets, place
from anonymize.formats.published import Published
from anonymize.kernels import coverage as kernel
from anonymize.kernels.read_only import read_only

BINS = 32
"""Cells along each side of the grid; two sides, so at most 1,024 lists of boxes."""


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
    boxes = published.boxes.with_row_index("box").join(
        signatures(published.values, domain), on="group_id", how="left", maintain_order="left"
    )
    # Many people have the same quasi-identifiers: on census data one in four is a new point.
    points = people.select(names).unique()
    at, lows, highs = _corners(points, boxes)
    cells, offsets, listed = _grid(at, lows, highs)
    # Neighbours are looked at in turn: the boxes that one is compared with are at hand for the next.
    near = np.argsort(cells, kind="stable")
    points, at, cells = points[near], at[near], cells[near]
    union, first, groups = kernel.cover(at, cells, lows, highs, _words(boxes), offsets, listed)
    found = points.with_columns(
        pl.Series("box", first),
        pl.Series("groups", groups),
        *(pl.Series(f"candidates_{word}", union[:, word]) for word in range(union.shape[1])),
    )
    hosts = boxes.select(pl.col("box").cast(pl.Int32), "group_id")
    return (
        people.join(found.join(hosts, on="box", how="left"), on=names, how="left", maintain_order="left")
        .with_columns(pl.when(pl.col("groups") == 1).then(pl.col("group_id")))
        .drop("box")
    )


def covering(points: pl.DataFrame, boxes: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Pair each point with every box that covers it: their row numbers, int64[P] and int32[P].

    Points have a column of codes per quasi-identifier, boxes `<column>_low` and `<column>_high`, closed on
    both ends.
    """
    at, lows, highs = _corners(points, boxes)
    cells, offsets, listed = _grid(at, lows, highs)
    ends, found = kernel.covering(at, cells, lows, highs, offsets, listed)
    return np.repeat(np.arange(len(at)), np.diff(ends)), found


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


def _corners(points: pl.DataFrame, boxes: pl.DataFrame) -> list[np.ndarray]:
    """The points, and the lowest and the highest corner of each box, as matrices."""
    corners = ((points, ""), (boxes, "_low"), (boxes, "_high"))
    return [_matrix(frame, [f"{name}{end}" for name in points.columns]) for frame, end in corners]


def _matrix(frame: pl.DataFrame, columns: list[str]) -> np.ndarray:
    codes = frame.select(pl.col(columns).cast(pl.Float64))
    return read_only(np.ascontiguousarray(codes.to_numpy()).reshape(len(frame), len(columns)))


def _words(boxes: pl.DataFrame) -> np.ndarray:
    words = boxes.select(pl.col("^candidates_.*$").fill_null(0))
    return read_only(np.ascontiguousarray(words.to_numpy()))


def _grid(points: np.ndarray, lows: np.ndarray, highs: np.ndarray) -> tuple[np.ndarray, ...]:
    """The cell of every point, and the boxes listed by cell, on the two attributes that prune most."""
    edges = [_edges(points[:, attribute]) for attribute in range(points.shape[1])]
    reach = [
        np.stack([np.searchsorted(edge, lows[:, a], "left"), np.searchsorted(edge, highs[:, a], "left")])
        for a, edge in enumerate(edges)
    ]
    spans = [
        float((1 + to - begin).mean()) / (len(edge) + 1) if len(lows) else 1.0
        for (begin, to), edge in zip(reach, edges, strict=True)
    ]
    row, column = (list(np.argsort(spans, kind="stable")) * 2)[:2]
    columns = len(edges[column]) + 1
    inside = [np.searchsorted(edges[a], points[:, a], "left") for a in (row, column)]
    rows, stripes = reach[row], reach[column]
    offsets, listed = kernel.list_boxes(
        rows[0], rows[1], stripes[0], stripes[1], columns, (len(edges[row]) + 1) * columns
    )
    return inside[0] * columns + inside[1], offsets, listed


def _edges(codes: np.ndarray) -> np.ndarray:
    """Quantiles of the people's codes: about as many people between any two of them."""
    if len(codes) == 0:
        return np.empty(0)
    quantiles = np.quantile(codes, np.linspace(0, 1, BINS + 1)[1:-1], method="nearest")
    return np.unique(quantiles)


def value_domain(*columns: pl.Series, known: pl.Series | None = None) -> pl.Series:
    """List every sensitive value there is, each at a fixed position: what bitsets are numbered by.

    New values come after those that are `known`, so that earlier bitsets stay readable.
    """
    found = pl.concat([column.drop_nulls().unique() for column in columns]).unique().sort().alias("value")
    if known is None:
        return found
    return pl.concat([known.alias("value"), found.filter(~found.is_in(known.implode()))])
