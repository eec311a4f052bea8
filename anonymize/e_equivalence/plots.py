"""Charts of an e-equivalent series: the smallest cuts over releases, and the weakest bucket's graph."""

from __future__ import annotations

import math
from collections.abc import Mapping

import networkx as nx
import numpy as np
import polars as pl

from republish.anonymize.contract import Contract
from republish.anonymize.e_equivalence.graph import Graphs
from republish.anonymize.e_equivalence.parameters import EEquivalence
from republish.anonymize.plot import Chart, Diagram, Join, OverReleases, Point
from republish.anonymize.principle.state import State

NODES_SHOWN = 20
"""Nodes of a graph that can still be told apart in a picture."""
ROWS = 14
"""The height of the graph's picture, in rows."""
GRAPH = "graph of the signature with the smallest cut"


def plots(contract: Contract[EEquivalence], states: Mapping[str, State]) -> list[Chart]:
    """The smallest cuts of the signatures over releases, and the graph of the signature with the smallest.

    `states` are what the last releases left, by release, oldest first; not empty.
    """
    cuts = [state.tables["cuts"]["min_cut"].to_numpy() for state in states.values()]
    lines = {
        "of all signatures": tuple(float(cut.min()) if len(cut) else None for cut in cuts),
        "of the signature in the middle": tuple(float(np.median(cut)) if len(cut) else None for cut in cuts),
    }
    bound = 2 * (contract.principle.e - 1)
    return [
        OverReleases(
            "smallest cut of signatures, over the releases",
            "smallest cut so far",
            tuple(states),
            lines,
            (bound,) * len(states),
            "promised: above 2(e - 1)",
        ),
        _drawn(list(states.values())[-1]),
    ]


def _drawn(state: State) -> Diagram:
    """A node is a release, an edge the people who came in one and left in the other."""
    graphs = Graphs.of(state, pl.String())
    present = graphs.cuts.join(graphs.present, on="bucket_id", how="semi").sort("min_cut", "bucket_id")
    if present.is_empty():
        return Diagram(GRAPH, (), (), 0, "nobody is in the release")
    graph = bucket_graph(graphs, present["bucket_id"][0])
    shown = [0, *sorted(set(graph) - {0})[-NODES_SHOWN:]]
    place = {node: at for at, node in enumerate(shown)}
    around = [2 * math.pi * at / len(shown) for at in range(len(shown))]
    return Diagram(
        GRAPH,
        tuple(
            Point(0.5 + math.cos(angle) / 2, 0.5 + math.sin(angle) / 2, str(node))
            for node, angle in zip(shown, around, strict=True)
        ),
        tuple(
            Join(place[one], place[other], str(weight))
            for one, other, weight in graph.subgraph(shown).edges(data="weight")
        ),
        ROWS,
        "nodes: releases, and 0 for still there; edges: how many came and left then",
    )


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
