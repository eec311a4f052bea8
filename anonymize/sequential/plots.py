"""The last release's cuts: a small tree for each category, a row of intervals for each number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from republish.anonymize.contract import CategoryColumn, ViewContract
from republish.anonymize.formats.taxonomy_cuts import CUTS
from republish.anonymize.plot import Plot
from republish.anonymize.principle.state import State
from republish.anonymize.sequential.parameters import Sequential
from republish.anonymize.sequential.taxonomy import category_taxonomy

MOST_NODES = 60
"""Beyond that, labels are left out."""


def plots(contract: ViewContract[Sequential], states: Mapping[str, State]) -> list[Plot]:
    """Chart each generalized column's cut in the last release. States are by release, oldest first."""
    if not states:
        return []
    cuts = list(states.values())[-1].tables.get(CUTS)
    if cuts is None:
        return []
    charts = []
    for position, column in enumerate(contract.columns):
        cut = cuts.filter(pl.col("column") == position).sort("node")
        if not cut.is_empty():
            draw, height = _intervals(cut), 2.0
            if isinstance(column, CategoryColumn):  # a line for each node
                draw, height = _tree(column, cut), min(12.0, 0.8 + 0.22 * cut.height)
            charts.append(Plot(f"published labels of {column.name} (its cut)", draw, height))
    return charts


def _tree(column: CategoryColumn, cut: pl.DataFrame) -> Callable[[Any], None]:
    """Draws the tree down to its cut, the root at the left; the cut's nodes with their numbers of records."""
    tree = category_taxonomy(column.paths)
    records = dict(cut.select("label", "records").iter_rows())
    line = {label: -float(i) for i, label in enumerate(cut["label"])}

    def draw(axes: Any) -> None:
        at: dict[int, tuple[float, float]] = {}

        def place(node: int, depth: int) -> tuple[float, float]:
            label = tree.labels[node]
            if label in line:
                at[node] = depth, line[label]
            else:
                first, count = int(tree.first[node]), int(tree.children[node])
                below = [place(child, depth + 1) for child in range(first, first + count)]
                at[node] = depth, (below[0][1] + below[-1][1]) / 2
                for child in below:
                    axes.plot([depth, child[0]], [at[node][1], child[1]], color="0.7", linewidth=1, zorder=1)
            return at[node]

        place(0, 0)
        for node, (depth, height) in at.items():
            label = tree.labels[node]
            in_cut = label in line
            axes.scatter([depth], [height], s=28, color="tab:blue" if in_cut else "0.7", zorder=2)
            if len(at) <= MOST_NODES:
                text = f" {label}: {records[label]}" if in_cut else f" {label}"
                axes.annotate(
                    text, (depth, height), fontsize=8, va="center", xytext=(4, 0), textcoords="offset points"
                )
        axes.set_xlim(-0.2, max(depth for depth, _ in at.values()) + 1.2)
        axes.set_axis_off()

    return draw


def _intervals(cut: pl.DataFrame) -> Callable[[Any], None]:
    """Draws each interval as a bar, as high as it has records for its width."""
    low, high = cut["low"].to_numpy(), cut["high"].to_numpy()

    def draw(axes: Any) -> None:
        width = high - low
        axes.bar(
            low, cut["records"].to_numpy() / width, width, align="edge", color="tab:blue", edgecolor="white"
        )
        axes.set_ylabel("records / width")

    return draw
