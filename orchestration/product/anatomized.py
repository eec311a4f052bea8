"""What the UI shows of releases in Anatomy's form: their columns, every bucket's cut, one bucket's graph."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import dagster as dg
import polars as pl

from anonymize.contract import Contract
from orchestration.product.charts import axes, picture
from orchestration.series import Series

RELEASES_SHOWN = 24
"""How far back the cuts of buckets are drawn."""
NODES_SHOWN = 20
"""Nodes of a graph that can still be told apart in a picture."""


def columns(contract: Contract) -> list[dg.TableColumn]:
    """The columns of both tables."""
    exact = [
        dg.TableColumn(
            qi.name, str(qi.dtype), description=f"{qi.name} of somebody in the group, or a counterfeit"
        )
        for qi in contract.quasi_identifiers
    ]
    sensitive = dg.TableColumn(
        contract.sensitive.name, description="in a table of its own: held in the group"
    )
    count = dg.TableColumn("count", "Int64", description="how often the value is held in the group")
    group = dg.TableColumn(
        "group_id", "Int64", description="all the tables have in common; numbered by content"
    )
    return [group, *exact, sensitive, count]


def origins(contract: Contract) -> dict[str, str]:
    """The snapshot's column each published one is from."""
    return {name: name for name in (*(qi.name for qi in contract.quasi_identifiers), contract.sensitive.name)}


def charts(series: Series, release: str) -> dict[str, Any]:
    """The smallest cut of each bucket over releases, and the graph of the bucket whose is the smallest."""
    last = series.due[: series.number(release)][-RELEASES_SHOWN:]
    cuts = {due: file for due in last if (file := series.private(due) / "state-cuts.parquet").exists()}
    if release not in cuts:
        return {}
    return {
        "cut of each bucket": _cut_chart(cuts, series.contract.principle.e),
        "graph of the weakest bucket": _graph_picture(series, release),
    }


def _cut_chart(files: dict, e: int) -> dg.MarkdownMetadataValue:
    """A line per bucket: the smallest cut its graph has had so far."""
    cuts = pl.concat(pl.read_parquet(file).with_columns(release=pl.lit(due)) for due, file in files.items())
    figure, plot = axes()
    place = {due: at for at, due in enumerate(files)}
    for _, bucket in cuts.group_by("bucket_id", maintain_order=True):
        plot.plot(
            [place[due] for due in bucket["release"]], bucket["min_cut"], color="C0", alpha=0.4, marker="."
        )
    plot.axhline(2 * (e - 1), color="C3", linewidth=1)
    plot.annotate("2(e - 1)", (0, 2 * (e - 1)), fontsize=8, color="C3", va="bottom")
    shown = range(0, len(place), max(1, len(place) // 6))
    plot.set(ylabel="smallest cut so far", xticks=list(shown), yscale="log")
    plot.set_xticklabels([list(place)[at] for at in shown], fontsize=8)
    plot.spines[["top", "right"]].set_visible(False)
    return picture(figure, "cut of each bucket")


def _graph_picture(series: Series, release: str) -> dg.MarkdownMetadataValue:
    """The bucket's graph: a node is a release, an edge the people who came in one and left in the other."""
    import networkx as nx  # noqa: PLC0415 - only where a picture is drawn

    from anonymize.e_equivalence.graph import Graphs  # noqa: PLC0415
    from anonymize.e_equivalence.matrices import bucket_graph  # noqa: PLC0415

    folder = series.private(release)
    graphs = Graphs(
        **{part.name: pl.read_parquet(folder / f"state-{part.name}.parquet") for part in fields(Graphs)}
    )
    there = graphs.cuts.join(graphs.present, on="bucket_id", how="semi").sort("min_cut", "bucket_id")
    if there.is_empty():
        return dg.MetadataValue.md("Nobody is in the release.")
    graph = bucket_graph(graphs, there["bucket_id"][0])
    graph = graph.subgraph([0, *sorted(set(graph) - {0})[-NODES_SHOWN:]])
    figure, plot = axes(height=4)
    where = nx.circular_layout(sorted(graph))
    nx.draw_networkx(graph, where, ax=plot, node_color="white", edgecolors="black", font_size=9)
    weights = nx.get_edge_attributes(graph, "weight")
    nx.draw_networkx_edge_labels(graph, where, weights, ax=plot, font_size=8)
    plot.set_axis_off()
    plot.set_title("nodes: releases, and 0 for still there; edges: how many came and left then", fontsize=8)
    return picture(figure, "graph of the weakest bucket")
