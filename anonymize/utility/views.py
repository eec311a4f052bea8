"""The worth of a view to a researcher, in the figures that releases of groups have."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats
from republish.anonymize.contract import CategoryColumn, View
from republish.anonymize.contract.attributes import Column
from republish.anonymize.formats.intervals import read_number
from republish.anonymize.people.codes import encode_columns
from republish.anonymize.utility.discernibility import discernibility
from republish.anonymize.utility.queries import (
    Workload,
    overlap,
    random_workload,
    relative_errors,
    workload_error,
)
from republish.anonymize.utility.usefulness import (
    QUERIES,
    WIDTH,
    Usefulness,
    domain_width,
    mean_widths,
    share_of_domains,
)


def view_usefulness(view: pl.DataFrame, schema: View, people: pl.DataFrame, held_back: int) -> Usefulness:
    """Measure how much of its domain a label of a view covers, and how far counts from the view are off.

    The queries are always the same random ones: each asks for people with two columns in an interval of half
    of their domain, at least one of them generalized; of a view of one column, with that one. A label's
    records are taken as spread evenly over what it covers. Records with the same generalized values are a
    group.

    `people` are the truth, `column_0`, … in their own types, and not empty; `held_back` is the number of
    people of the snapshot who are not in the release on purpose.

    Raises
    ------
    ValueError
        If a label is none of its column's.

    References
    ----------
    The error: Liu and Wang, Privacy streamliner, CODASPY 2012, section 4.2.
    """
    columns = dict(schema.attributes())
    cut = [column for column, declared in columns.items() if not declared.keep]
    boxes = _boxes(view, schema)
    known = encode_columns(people, schema)
    groups = boxes.group_by([f"{column}_{end}" for column in cut for end in ("low", "high")]).agg(
        pl.col("rows").sum()
    )
    true, estimated, without = _answers(boxes, schema, known, cut)
    widths = mean_widths(boxes, {column: columns[column] for column in cut})
    return Usefulness(
        groups=groups.height if cut else 1,
        mean_group=view.height / max(1, groups.height if cut else 1),
        counterfeits=0,
        held_back=held_back,
        widths=widths,
        shares={column: width / domain_width(columns[column]) for column, width in widths.items()},
        discernibility=discernibility(groups["rows"].to_numpy()) if cut else view.height**2,
        query_error=workload_error(true, estimated, len(known)),
        median_error=float(np.median(relative_errors(true, estimated, len(known)))),
        error_without=workload_error(true, without, len(known)),
    )


def _boxes(view: pl.DataFrame, schema: View) -> pl.DataFrame:
    """`column_0_low`, `column_0_high`, … as closed codes, and `rows`: how many records have them all."""
    rows = view.select(column for column, _ in schema.attributes()).group_by(pl.all()).len("rows")
    for column, declared in schema.attributes():
        rows = rows.join(_covered(rows[column].unique(), column, declared), on=column).drop(column)
    return rows.sort(rows.columns)


def _covered(labels: pl.Series, column: str, declared: Column) -> pl.DataFrame:
    """`column`, `column_low`, `column_high`: the first and the last code that each label covers."""
    if isinstance(declared, CategoryColumn):
        below: dict[str, tuple[float, float]] = {}
        for code, path in enumerate(declared.paths):
            for label in path:
                below[label] = below.get(label, (code, code))[0], code
        ends = [below.get(label) for label in labels]
    else:
        read = [read_number(str(label), declared.domain) for label in labels]
        ends = [
            one and (one[0], one[1] - 1 if declared.discrete else np.nextafter(one[1], -np.inf))
            for one in read
        ]
    if None in ends:
        raise ValueError(f"{declared.name} has a label that is none of its own")
    low, high = zip(*ends, strict=True)
    return pl.DataFrame({column: labels, f"{column}_low": low, f"{column}_high": high}).with_columns(
        pl.col(f"{column}_low", f"{column}_high").cast(pl.Float64)
    )


def _answers(
    boxes: pl.DataFrame, schema: View, known: pl.DataFrame, cut: list[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """float64[Q] each: the true counts, those estimated from the view, and those from its size alone."""
    columns = dict(schema.attributes())
    pairs = list(itertools.combinations(columns, min(2, len(columns))))
    asked = [pair for pair in pairs if set(pair) & set(cut)] or pairs
    rng = np.random.default_rng(0)
    answers = []
    for some in asked:
        workload = random_workload(schema, some, None, -(-QUERIES // len(asked)), WIDTH, rng)
        units = [int(columns[column].discrete) for column in some]
        there = (
            known.group_by(some)
            .len("rows")
            .with_columns(
                pl.col(column).alias(f"{column}_{end}") for column in some for end in ("low", "high")
            )
        )
        counted = [_inside(cells, some, workload, units) for cells in (there, boxes)]
        answers.append([*counted, len(known) * share_of_domains(workload, columns)])
    true, estimated, without = map(np.concatenate, zip(*answers, strict=True))
    return true, estimated, without


def _inside(cells: pl.DataFrame, columns: tuple[str, ...], workload: Workload, units: list[int]) -> Floats:
    """float64[Q]: the records in each query, spread evenly over their cells."""
    names = [(f"{column}_low", f"{column}_high") for column in columns]
    alike = cells.group_by(itertools.chain(*names)).agg(pl.col("rows").sum())
    lows, highs = ([alike[pair[i]].cast(pl.Float64).to_numpy() for pair in names] for i in (0, 1))
    records = alike["rows"].to_numpy()
    found = np.empty(len(workload.low))
    for query, (first, last) in enumerate(zip(workload.low, workload.high, strict=True)):
        shares = [overlap(*asked) for asked in zip(lows, highs, first, last, units, strict=True)]
        found[query] = (np.prod(shares, axis=0) * records).sum()
    return found
