"""The last release's cuts: a small tree for each category, a row of intervals for each number."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from republish.anonymize.contract import CategoryColumn, ViewContract
from republish.anonymize.formats.taxonomy_cuts import CUTS
from republish.anonymize.plot import Bar, Bars, Chart, Diagram, Join, Point
from republish.anonymize.principle.state import State
from republish.anonymize.sequential.parameters import Sequential
from republish.anonymize.sequential.taxonomy import category_taxonomy

MOST_NODES = 60
"""Beyond that, labels are left out."""


def plots(contract: ViewContract[Sequential], states: Mapping[str, State]) -> list[Chart]:
    """Chart each generalized column's cut in the last release. States are by release, oldest first."""
    if not states:
        return []
    cuts = list(states.values())[-1].tables.get(CUTS)
    if cuts is None:
        return []
    charts: list[Chart] = []
    for position, column in enumerate(contract.columns):
        cut = cuts.filter(pl.col("column") == position).sort("node")
        if not cut.is_empty():
            name = f"published labels of {column.name} (its cut)"
            charts.append(
                _tree(name, column, cut) if isinstance(column, CategoryColumn) else _intervals(name, cut)
            )
    return charts


def _tree(name: str, column: CategoryColumn, cut: pl.DataFrame) -> Diagram:
    """The tree down to its cut, the root at the left; the cut's nodes with their numbers of records."""
    tree = category_taxonomy(column.paths)
    records = dict(cut.select("label", "records").iter_rows())
    row = {label: at for at, label in enumerate(cut["label"])}
    places: dict[int, tuple[int, float]] = {}
    joins: list[tuple[int, int]] = []

    def place(node: int, depth: int) -> float:
        """The row of a node: its own in the cut, or the middle of those below it."""
        if (label := tree.labels[node]) in row:
            places[node] = depth, row[label]
        else:
            first, count = int(tree.first[node]), int(tree.children[node])
            below = [place(child, depth + 1) for child in range(first, first + count)]
            places[node] = depth, (below[0] + below[-1]) / 2
            joins.extend((node, child) for child in range(first, first + count))
        return places[node][1]

    place(0, 0)
    number = {node: at for at, node in enumerate(places)}
    deepest, last = max(depth for depth, _ in places.values()), max(1, cut.height - 1)
    return Diagram(
        name,
        tuple(
            Point(
                depth / max(1, deepest),
                at / last,
                _named(tree.labels[node], records, len(places)),
                tree.labels[node] in row,
            )
            for node, (depth, at) in places.items()
        ),
        tuple(Join(number[one], number[other]) for one, other in joins),
        cut.height,
    )


def _named(label: str, records: Mapping[str, int], nodes: int) -> str:
    """The label of a node, with its number of records in the cut; none where there are too many to read."""
    if nodes > MOST_NODES:
        return ""
    return f"{label}: {records[label]}" if label in records else label


def _intervals(name: str, cut: pl.DataFrame) -> Bars:
    """Each interval as a bar, as high as it has records for its width."""
    bars = (
        Bar(low, high, records / (high - low))
        for low, high, records in cut.select("low", "high", "records").iter_rows()
    )
    return Bars(name, "records / width", tuple(bars))
