"""Charts of an e-equivalent series: every bucket's cut over releases, and the weakest bucket's graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
import polars as pl

from republish.anonymize.contract import Contract
from republish.anonymize.e_equivalence.graph import Graphs
from republish.anonymize.e_equivalence.parameters import EEquivalence
from republish.anonymize.plot import Plot
from republish.anonymize.principle.state import State

NODES_SHOWN = 20
"""Nodes of a graph that can still be told apart in a picture."""


def plots(contract: Contract[EEquivalence], states: Mapping[str, State]) -> list[Plot]:
    """The smallest cut of each bucket over releases, and the graph of the bucket whose cut is the smallest.

    `states` are what the last releases left, by release, oldest first; not empty.
    """
    cuts = {release: state.tables["cuts"] for release, state in states.items()}
    last = list(states.values())[-1]
    return [
        Plot(
            "smallest cut of each signature, over the releases",
            lambda axes: _draw_cuts(axes, cuts, contract.principle.e),
        ),
        Plot("graph of the signature with the smallest cut", lambda axes: _draw_graph(axes, last), height=4),
    ]


def _draw_cuts(axes: Any, cuts: Mapping[str, pl.DataFrame], e: int) -> None:
    """A line per bucket: the smallest cut its graph has had so far."""
    place = {release: at for at, release in enumerate(cuts)}
    together = pl.concat(table.with_columns(at=pl.lit(place[release])) for release, table in cuts.items())
    for _, bucket in together.group_by("bucket_id", maintain_order=True):
        axes.plot(bucket["at"], bucket["min_cut"], color="C0", alpha=0.4, marker=".")
    axes.axhline(2 * (e - 1), color="C3", linewidth=1)
    axes.annotate("promised: above 2(e - 1)", (0, 2 * (e - 1)), fontsize=8, color="C3", va="bottom")
    shown = range(0, len(place), max(1, len(place) // 6))
    axes.set(ylabel="smallest cut so far", xticks=list(shown), yscale="log")
    axes.set_xticklabels([list(place)[at] for at in shown], fontsize=8)


def _draw_graph(axes: Any, state: State) -> None:
    """A node is a release, an edge the people who came in one and left in the other."""
    graphs = Graphs.of(state, pl.String())
    present = graphs.cuts.join(graphs.present, on="bucket_id", how="semi").sort("min_cut", "bucket_id")
    axes.set_axis_off()
    if present.is_empty():
        axes.set_title("nobody is in the release", fontsize=8)
        return
    graph = bucket_graph(graphs, present["bucket_id"][0])
    graph = graph.subgraph([0, *sorted(set(graph) - {0})[-NODES_SHOWN:]])
    where = nx.circular_layout(sorted(graph))
    nx.draw_networkx(graph, where, ax=axes, node_color="white", edgecolors="black", font_size=9)
    weights = nx.get_edge_attributes(graph, "weight")
    nx.draw_networkx_edge_labels(graph, where, weights, ax=axes, font_size=8)
    axes.set_title("nodes: releases, and 0 for still there; edges: how many came and left then", fontsize=8)


def bucket_graph(graphs: Graphs, bucket_id: int) -> nx.Graph:
    """The graph of one bucket, as a series keeps it after a release."""
    kept = graphs.edges.filter(bucket_id=bucket_id).select("older", "younger", "weight")
    to_0 = (
        tuples.filter(pl.col("counts"), bucket_id=bucket_id).select(older=0, younger="node", weight=1)
        for tuples in (graphs.present, graphs.counterfeits)
    )
    edges = (
        pl.concat([kept, *to_0], how="vertical_relaxed").group_by("older", "younger").agg(pl.sum("weight"))
    )
    graph = nx.Graph()
    graph.add_nodes_from([0, *graphs.nodes.filter(bucket_id=bucket_id)["node"]])
    graph.add_weighted_edges_from(edges.filter(pl.col("weight") != 0).sort("older", "younger").iter_rows())
    return graph
