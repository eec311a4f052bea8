"""The smallest cuts of many graphs at once, against networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.e_equivalence.min_cut import cuts_between

EDGES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 9), st.integers(0, 7)), max_size=60
)


@given(EDGES)
@settings(max_examples=60)
def test_every_graph_has_the_cut_that_networkx_finds(edges):
    edges = [(bucket, first, second, weight) for bucket, first, second, weight in edges if first != second]
    found = cuts_between(*np.array(edges, np.int64).reshape(-1, 4).T, newest=9, buckets=4)
    for bucket in range(4):
        graph = nx.Graph()
        graph.add_nodes_from([0, 9])
        for _, first, second, weight in (edge for edge in edges if edge[0] == bucket):
            present = graph.get_edge_data(first, second, {"weight": 0})["weight"]
            graph.add_edge(first, second, weight=present + weight)
        assert found[bucket] == nx.minimum_cut_value(graph, 9, 0, capacity="weight")


@pytest.mark.parametrize("buckets", [0, 2])
def test_without_edges_there_is_nothing_to_cut(buckets):
    none = np.empty(0, np.int64)
    assert cuts_between(none, none, none, none, newest=5, buckets=buckets).tolist() == [0] * buckets
