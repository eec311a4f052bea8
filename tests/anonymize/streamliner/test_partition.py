import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.streamliner.partition import minimal_partition


@settings(max_examples=100)
@given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 2**32))
def test_groups_are_the_components_that_networkx_finds(nodes, degree, seed):
    neighbours = np.random.default_rng(seed).integers(0, nodes, (nodes, degree)).astype(np.int32)
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from((node, int(other)) for node in range(nodes) for other in neighbours[node])
    found = minimal_partition(neighbours)
    expected = {frozenset(part) for part in nx.connected_components(graph)}
    assert {
        frozenset(np.flatnonzero(found == number).tolist()) for number in range(found.max() + 1)
    } == expected
    firsts = [int(np.argmax(found == number)) for number in range(found.max() + 1)]
    assert firsts == sorted(firsts)
