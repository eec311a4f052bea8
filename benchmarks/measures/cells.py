"""Counts of people in boxes of a small domain of whole numbers, many thousands of them at a time.

The domain is divided into cells, one for each combination of values. People, or the parts of people that a
release is read as, are summed up from the lowest corner of the domain to each cell. The count in a box is
then a sum of few of these numbers, one for each of its corners, however many people there are.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import polars as pl

from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Schema
from republish.anonymize.formats.published import Published
from republish.anonymize.people.codes import code_domain
from republish.anonymize.utility.queries import Workload

MOST_CELLS = 50_000_000
"""The largest domain: 400 MB."""


@dataclass(frozen=True)
class Cells:
    """People in the cells of the quasi-identifiers and the sensitive attribute, summed up."""

    columns: tuple[str, ...]
    """`qi_0`, …, `value`: the axes."""
    lowest: tuple[int, ...]
    """The code of each axis's first cell."""
    upto: np.ndarray
    """float64, an axis per column: people in a cell and in all cells below it on every axis."""

    def counts(self, workload: Workload) -> np.ndarray:
        """float64[Q]: how many people lie in each query's box, as `range_workload` makes them."""
        if workload.columns != self.columns:
            raise ValueError(f"queries on {workload.columns} can't be asked of cells of {self.columns}")
        low = workload.low.astype(np.int64) - self.lowest
        high = workload.high.astype(np.int64) - self.lowest
        answers = np.zeros(len(low))
        for corner in itertools.product((False, True), repeat=len(self.columns)):
            below = np.array(corner)
            at = np.where(below, low - 1, high)
            # Nobody is below the first cell.
            found = self.upto[tuple(np.maximum(at, 0).T)] * (at >= 0).all(axis=1)
            answers += found if below.sum() % 2 == 0 else -found
        return answers


def cells_of_people(people: pl.DataFrame, schema: Schema) -> Cells:
    """The cells of a table.

    Parameters
    ----------
    people
        `qi_0`, … as codes and `value`; with `weight`, a row stands for so many people, else for one.
    schema
        Whole-number quasi-identifiers, and a sensitive attribute whose values are declared.
    """
    lowest, shape = _domain(schema)
    names = [column for column, _ in schema.attributes()]
    codes = people.select(*names, _value_code(schema)).to_numpy() - np.array(lowest)
    weight = people["weight"].to_numpy() if "weight" in people.columns else None
    placed = np.ravel_multi_index(tuple(codes.T), shape)
    inside = np.bincount(placed, weight, minlength=int(np.prod(shape))).astype(np.float64).reshape(shape)
    return Cells((*names, VALUE), lowest, _summed(inside, range(len(shape))))


def cells_of_groups(published: Published, schema: Schema) -> Cells:
    """The cells of a generalized release, each group's people spread evenly over its intervals.

    In a group of s tuples of which c are counterfeits, a tuple stands for (s - c)/s people.

    Parameters
    ----------
    published
        Groups with one box each.
    schema
        As for `cells_of_people`.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 5.2.
    """
    if published.boxes["group_id"].is_duplicated().any():
        raise ValueError("a group has several boxes")
    lowest, shape = _domain(schema)
    names = [column for column, _ in schema.attributes()]
    real = 1 - pl.col("count").fill_null(0) / pl.col("size")
    rows = (
        published.values.join(published.sizes, on="group_id")
        .join(published.counterfeits, on="group_id", how="left")
        .join(published.boxes, on="group_id")
        .with_columns(_value_code(schema), people=pl.col("tuples") * real)
    )
    low, high = (
        rows.select(f"{name}_{end}" for name in names).to_numpy() - np.array(lowest[:-1])
        for end in ("low", "high")
    )
    density = rows["people"].to_numpy() / np.prod(high - low + 1, axis=1)
    # A box begins at its low corner and ends beyond its high one: summing up once fills it.
    places, weights = [], []
    for corner in itertools.product((False, True), repeat=len(names)):
        beyond = np.array(corner)
        at = np.where(beyond, high + 1, low)
        exists = (at < np.array(shape[:-1])).all(axis=1)
        at = np.column_stack([at, rows[VALUE].to_numpy()])[exists]
        places.append(np.ravel_multi_index(tuple(at.T), shape))
        weights.append(density[exists] * (-1) ** int(beyond.sum()))
    edges = np.bincount(np.concatenate(places), np.concatenate(weights), minlength=int(np.prod(shape)))
    inside = _summed(edges.reshape(shape), range(len(names)))
    return Cells((*names, VALUE), lowest, _summed(inside, range(len(shape))))


def _domain(schema: Schema) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lowest code of each axis, and how many codes it has."""
    if not all(qi.discrete for _, qi in schema.attributes()) or schema.sensitive.values is None:
        raise ValueError("cells need whole-number quasi-identifiers and declared sensitive values")
    ends = [code_domain(qi) for _, qi in schema.attributes()] + [(0, len(schema.sensitive.values) - 1)]
    shape = tuple(int(high - low + 1) for low, high in ends)
    if np.prod(shape, dtype=float) > MOST_CELLS:
        raise ValueError(f"the domain has more than {MOST_CELLS:,} cells")
    return tuple(int(low) for low, _ in ends), shape


def _value_code(schema: Schema) -> pl.Expr:
    """A sensitive value's place among the declared ones."""
    values = list(schema.sensitive.values)
    return pl.col(VALUE).replace_strict(values, range(len(values)), return_dtype=pl.Int64)


def _summed(inside: np.ndarray, axes: range) -> np.ndarray:
    """The sums along some axes, in place."""
    for axis in axes:
        np.add.accumulate(inside, axis=axis, out=inside)
    return inside
