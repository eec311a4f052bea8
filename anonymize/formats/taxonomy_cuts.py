"""Taxonomy cuts: a view whose columns hold the labels of their cuts, or values as they are.

`view.parquet` has a row for each record. `cuts.json`, beside the manifest, lists the nodes of each cut, so
that a reader knows which values a label stands for, and which labels there might have been.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from republish.anonymize.arrays import Ints
from republish.anonymize.contract import View
from republish.anonymize.formats.format import Format, PublishedColumn

VIEW = "view"
"""The published table: a row for each record."""
CUTS = "cuts"
"""The document beside it, and the table that it is made of."""
CUTS_SCHEMA = {
    "column": pl.Int32,
    "node": pl.Int32,
    "label": pl.String,
    "low": pl.Float64,
    "high": pl.Float64,
    "records": pl.Int64,
}
"""The cuts as a table: the column's position, the node's position in its cut, label, half-open interval of
codes."""


@dataclass(frozen=True)
class ViewColumn:
    """A column that is about to be published."""

    name: str
    """The publisher's name of it."""
    codes: Ints
    """int[N]: the place of each record's value in the column's own order."""
    values: pl.Series
    """What is published for each code: labels, or values as they are."""
    generalized: bool
    """Whether it is published under a cut."""


@dataclass(frozen=True)
class PublishedView:
    """A view, ready to be published."""

    view: pl.DataFrame
    """One row per record, sorted by all columns, each in its own order: that of the cut, hierarchy or
    numbers."""
    group_id: Ints
    """int64[N]: records with the same generalized values are a group; groups are numbered by their values."""


def publish_view(columns: Sequence[ViewColumn]) -> PublishedView:
    """The view in canonical order, so that the order of rows says nothing of records.

    Examples
    --------
    >>> job = ViewColumn("job", np.array([1, 0]), pl.Series(["Professional", "Worker"]), generalized=True)
    >>> publish_view([job]).view["job"].to_list()
    ['Professional', 'Worker']
    """
    keys = _sort_key([column.codes for column in columns], [len(column.values) for column in columns])
    order = np.argsort(keys, kind="stable") if keys.ndim == 1 else np.lexsort(keys[::-1])
    view = pl.DataFrame({column.name: column.values.gather(column.codes[order]) for column in columns})
    grouped = [column for column in columns if column.generalized] or list(columns)
    groups = _sort_key([column.codes for column in grouped], [len(column.values) for column in grouped])
    distinct = np.unique(groups, return_inverse=True, axis=None if groups.ndim == 1 else 1)[1]
    return PublishedView(view, distinct.ravel().astype(np.int64) + 1)


def _sort_key(codes: Sequence[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    """One number for each record that sorts as its codes do; the codes where numbers are too small."""
    if sum(np.log2(max(size, 1)) for size in sizes) >= 62:
        return np.vstack(codes)
    key = np.zeros(len(codes[0]), np.int64)
    for column, size in zip(codes, sizes, strict=True):
        key = key * max(size, 1) + column
    return key


def cuts_table(cuts: Mapping[int, Any]) -> pl.DataFrame:
    """A table of `CUTS_SCHEMA` with the nodes of each column's cut, from left to right."""
    tables = [
        pl.DataFrame(
            {
                "column": np.full(len(cut.labels), position, np.int32),
                "node": np.arange(len(cut.labels), dtype=np.int32),
                "label": cut.labels,
                "low": cut.low,
                "high": cut.high,
                "records": cut.records,
            },
            schema=CUTS_SCHEMA,
        )
        for position, cut in cuts.items()
    ]
    return pl.concat([pl.DataFrame(schema=CUTS_SCHEMA), *tables])


def cuts_as_json(cuts: pl.DataFrame, columns: Sequence[Any]) -> dict[str, Any]:
    """The content of `cuts.json`: each column's cut from left to right, or that it is published as it is.

    `columns` are the contract's, in order: `name`, `kind`, and `labels` of categories.
    """
    described = []
    for position, column in enumerate(columns):
        nodes = cuts.filter(pl.col("column") == position).sort("node")
        if nodes.is_empty():
            described.append({"name": column.name, "kind": column.kind, "published": "as it is"})
            continue
        if column.kind == "number":
            cut = [{"label": label} for label in nodes["label"]]
        else:
            cut = [
                {"label": label, "covers": list(column.labels[int(low) : int(high)])}
                for label, low, high in nodes.select("label", "low", "high").iter_rows()
            ]
        described.append({"name": column.name, "kind": column.kind, "published": "cut", "cut": cut})
    return {"columns": described}


def _columns(schema: View) -> dict[str, list[PublishedColumn]]:
    return {
        VIEW: [
            PublishedColumn(ours, column.name, str(column.dtype), f"{column.name} as it is", ours)
            if column.keep
            else PublishedColumn(
                ours,
                column.name,
                "String",
                f"the label above {column.name} in its cut (cuts.json)",
                ours,
            )
            for ours, column in schema.attributes()
        ]
    }


TAXONOMY_CUTS = Format(
    name="taxonomy_cuts",
    columns=_columns,
    attack="join",
    documents=(CUTS,),
)
