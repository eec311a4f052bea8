"""What the graphs of a bucket say of its history: settled cuts, and attacks that are never smaller."""

from dataclasses import replace

import networkx as nx
import polars as pl
import pytest

from republish.anonymize.attack.equivalence import minimum_equivalence
from republish.anonymize.e_equivalence import E_EQUIVALENCE
from republish.anonymize.e_equivalence.forget import merge_old_nodes
from republish.anonymize.e_equivalence.graph import Graphs
from republish.anonymize.e_equivalence.parameters import smallest_safe_cut
from republish.anonymize.e_equivalence.plots import bucket_graph
from republish.anonymize.principle.state import State
from tests.anonymize.e_equivalence.equivalence_series import Life, contract, publish
from tests.anonymize.e_equivalence.histories import History
from tests.papers.equivalence_matrices import build_graph, matrices, smallest_cut

SERIES = 15


def edges(graph):
    return {frozenset(ends): weight for *ends, weight in graph.edges(data="weight")}


def encoded(history):
    members, contents = history.knowledge()
    both = matrices(members.rename({"person": "tuple"}).cast({"tuple": pl.String}), contents)
    return both.delta()


@pytest.mark.parametrize("seed", range(SERIES))
def test_all_cuts_are_settled_and_what_is_kept_is_the_graph_of_algorithm_1_where_somebody_is_left(seed):
    history = History(seed, back=False, people=5)
    if not history.presence().any(axis=1).all():
        pytest.skip("an empty release has no row in the paper's matrices")
    *_, (_, _, graphs) = history.follow()
    whole, kept = build_graph(encoded(history)), bucket_graph(graphs, 0)
    assert min(cut for cut in history.settled() if cut is not None) == smallest_cut(whole)
    assert edges(kept) == edges(whole.subgraph(nx.node_connected_component(whole, 0)))


@pytest.mark.slow("attacks many releases")
@pytest.mark.parametrize("most", [None, 2, 4])
@pytest.mark.parametrize("seed", range(SERIES))
def test_theorem_2_no_attack_is_smaller_than_half_the_smallest_cut(seed, most):
    history = History(seed, people=9, releases=7, most=most)
    settled = min(cut for cut in history.settled() if cut is not None)
    floor = min(settled, smallest_safe_cut(history.e)) if most else settled
    for attack in minimum_equivalence(*history.knowledge(), seconds=10):
        if attack.e is not None:
            assert 2 * attack.e >= floor


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("seed", range(SERIES))
def test_merged_graphs_never_call_a_cut_safe_that_is_not(seed):
    exact, merged = (History(seed, releases=14, people=20, most=most) for most in (None, 4))
    safe = smallest_safe_cut(exact.e)
    for one, other in zip(exact.follow(), merged.follow(), strict=True):
        assert one[0].connected(1) == other[0].connected(1)
        assert min(other[0].cuts(1)[0], safe) <= min(one[0].cuts(1)[0], safe)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("seed", range(10))
def test_merged_graphs_keep_the_cuts_where_nobody_comes_back(seed):
    exact, merged = (History(seed, releases=20, people=6, most=most, back=False) for most in (None, 12))
    safe = smallest_safe_cut(exact.e)
    same = [
        min(other[0].cuts(1)[0], safe) == min(one[0].cuts(1)[0], safe)
        for one, other in zip(exact.follow(), merged.follow(), strict=True)
    ]
    assert sum(same) >= len(same) - 1


@pytest.mark.parametrize("weight", [smallest_safe_cut(3) - 1, smallest_safe_cut(3)])
def test_releases_that_still_have_tuples_are_one_node_from_the_safe_weight_on(weight):
    """With less between them, a smaller cut may part them: it would be taken for safe."""
    none = Graphs.of(State.empty(), pl.String())
    nodes = pl.DataFrame(
        {"bucket_id": 0, "node": range(4), "component": 0, "merged_for": 0}, none.nodes.schema
    )
    edge = pl.DataFrame([(0, 0, 1, weight)], none.edges.schema, orient="row")
    present = nodes.select(pl.lit(b"").alias("pseudonym"), "bucket_id", "node")
    merged = merge_old_nodes(replace(none, nodes=nodes, edges=edge, present=present), 3, most=2)
    assert merged.nodes.height == (4 if weight < smallest_safe_cut(3) else 3)
    assert merged.edges.height == (1 if weight < smallest_safe_cut(3) else 0)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("back", [True, False])
def test_a_bucket_is_remembered_by_as_many_nodes_as_it_may_and_cohorts_that_are_there(back):
    history = History(1, releases=50, people=20, most=12, back=back)
    for _, _, graphs in history.follow():
        cohorts = graphs.present["node"].n_unique()
        assert graphs.nodes.height <= 12 + cohorts + 1
        assert graphs.edges.height <= graphs.nodes.height**2


def texts(plot):
    """Names of nodes, and the weights of edges."""
    return {one.name for one in (*plot.nodes, *plot.joins)}


def test_the_chart_shows_the_cuts_above_the_bound_and_the_weakest_bucket_of_the_last_release():
    made = publish(Life(3, churn=0.3, releases=4).snapshots(), contract(e=3))
    states = {f"2024-0{number}-01": one.candidate.state for number, one in enumerate(made, start=1)}
    cuts, weakest = E_EQUIVALENCE.plots(made[0].contract, states)
    assert set(cuts.promised) == {4}
    assert [min(line) > 4 for line in cuts.lines.values()] == [True, True]
    smallest, middle = cuts.lines.values()
    assert all(one <= other for one, other in zip(smallest, middle, strict=True))
    graphs = Graphs.of(made[-1].candidate.state, pl.String())
    here = graphs.cuts.join(graphs.present, on="bucket_id", how="semi").sort("min_cut", "bucket_id")
    shown = bucket_graph(graphs, here["bucket_id"][0])
    assert texts(weakest) >= {str(node) for node in shown}
    _, alone = E_EQUIVALENCE.plots(made[0].contract, {"2024-04-01": made[-1].candidate.state})
    _, before = E_EQUIVALENCE.plots(made[0].contract, {"2024-03-01": made[-2].candidate.state})
    assert texts(weakest) == texts(alone) != texts(before)


def test_a_release_in_which_all_left_who_came_is_a_node_without_edges():
    alone = pl.DataFrame({"bucket_id": [0, 1], "node": [4, 5]})
    graphs = replace(Graphs.of(State.empty(), pl.String()), nodes=alone)
    assert set(bucket_graph(graphs, 0)) == {0, 4}
