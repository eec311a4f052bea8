"""Person and value matrices, their delta encoding, and the graph they make: the paper's own words.

A release computes on edges counted by node (`anonymize/e_equivalence/graph.py`); this is what they stand
for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import networkx as nx
import numpy as np
import polars as pl


@dataclass(frozen=True)
class Matrices:
    """N partitions, n tuples and v sensitive values of a series."""

    tuples: list
    """n people and counterfeits, the columns of `person`."""
    values: list
    """v sensitive values, the columns of `value`."""
    person: np.ndarray
    """int[N, n]: S, or P of a part, or the delta encoding of either."""
    value: np.ndarray
    """int[N, v]: U, or Q of a part, or the delta encoding of either."""

    def parts(self) -> list[Matrices]:
        """P and Q: the rows whose value vectors are linearly dependent together, in the order of rows.

        Tuples that are in none of a part's partitions are left out of it.

        References
        ----------
        He, Barman and Naughton, ICDE 2011, section VI-A, Example 7.
        """
        directions = self.value // np.gcd.reduce(self.value, axis=1)[:, None]
        _, first, part = np.unique(directions, axis=0, return_index=True, return_inverse=True)
        return [self._rows(np.flatnonzero(part == number)) for number in np.argsort(first)]

    def _rows(self, rows: np.ndarray) -> Matrices:
        inside = np.flatnonzero(self.person[rows].any(axis=0))
        names = [self.tuples[column] for column in inside]
        return replace(self, tuples=names, person=self.person[np.ix_(rows, inside)], value=self.value[rows])

    def delta(self) -> Matrices:
        """P' and Q': the first row as it is, then what each row adds to the one before.

        References
        ----------
        He, Barman and Naughton, ICDE 2011, section VI-A, Example 8.
        """
        person, value = (np.diff(matrix, axis=0, prepend=0) for matrix in (self.person, self.value))
        return replace(self, person=person, value=value)


def matrices(members: pl.DataFrame, contents: pl.DataFrame) -> Matrices:
    """The person matrix S and the value matrix U of a series.

    Parameters
    ----------
    members
        `partition`, `tuple`: who is in which published group. Partitions are numbered in order of release.
    contents
        `partition`, `value`, `tuples`: the values published in each.

    References
    ----------
    He, Barman and Naughton, ICDE 2011, Definition 9, Example 5.
    """
    partitions = contents["partition"].unique().sort()
    person = members.with_columns(there=1).pivot(
        "tuple", index="partition", values="there", sort_columns=True
    )
    value = contents.pivot("value", index="partition", values="tuples", sort_columns=True)
    counted = [
        pl.DataFrame({"partition": partitions}).join(table, on="partition", how="left", maintain_order="left")
        .drop("partition").fill_null(0)
        for table in (person, value)
    ]  # fmt: skip
    return Matrices(
        tuples=counted[0].columns,
        values=counted[1].columns,
        person=counted[0].to_numpy().astype(np.int64),
        value=counted[1].to_numpy().astype(np.int64),
    )


def build_graph(encoded: Matrices) -> nx.Graph:
    """The graph of a delta-encoded part: Algorithm 1, edge by edge.

    Parameters
    ----------
    encoded
        P' and Q'. Every column has a single 1 and, in a later row, at most one -1.

    Returns
    -------
    networkx.Graph
        Node i is row i, counted from 1; node 0 is special. Edges have a `weight`.

    References
    ----------
    He, Barman and Naughton, ICDE 2011, Algorithm 1, Example 9.
    """
    graph = nx.Graph()
    graph.add_node(0)
    for row, changes in enumerate(encoded.person, start=1):
        graph.add_node(row)
        for _ in np.flatnonzero(changes == 1):
            _add(graph, row, 0, 1)
        for column in np.flatnonzero(changes == -1):
            begun = int(np.flatnonzero(encoded.person[:, column] == 1)[0]) + 1
            _add(graph, begun, 0, -1)
            _add(graph, begun, row, 1)
    return graph


def smallest_cut(graph: nx.Graph) -> int | None:
    """The smallest cut over all connected components; None if none has two nodes.

    References
    ----------
    He, Barman and Naughton, ICDE 2011, Theorem 2; Stoer and Wagner 1997.
    """
    parts = (graph.subgraph(nodes) for nodes in nx.connected_components(graph) if len(nodes) > 1)
    return min((nx.stoer_wagner(part)[0] for part in parts), default=None)


def _add(graph: nx.Graph, first: int, second: int, weight: int) -> None:
    total = graph.get_edge_data(first, second, {"weight": 0})["weight"] + weight
    if total:
        graph.add_edge(first, second, weight=total)
    else:
        graph.remove_edge(first, second)
