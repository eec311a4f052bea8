"""The worked examples of He, Barman and Naughton, Preventing equivalence attacks: Examples 2, 5, 7 to 10."""

import networkx as nx
import numpy as np
import polars as pl
import pytest

from republish.anonymize.buckets.memory import Memory
from republish.anonymize.buckets.plan import make_plan
from republish.anonymize.e_equivalence.graph import Graphs, advance, open_graphs
from republish.anonymize.e_equivalence.plan import Cuts, inserted_tuples, make_safe_plan
from republish.anonymize.e_equivalence.plots import bucket_graph
from republish.anonymize.principle.state import State
from tests.papers.equivalence_matrices import build_graph, matrices, smallest_cut
from tests.plans import as_tables, counted

TABLES_IVB_VB_VI = [
    ("A B C D", {"cancer": 2, "flu": 2}),
    ("E F", {"cancer": 1, "meas.": 1}),
    ("A C G c1", {"cancer": 2, "flu": 2}),
    ("E H I J", {"cancer": 2, "meas.": 2}),
    ("A C G c1", {"cancer": 2, "flu": 2}),
    ("I J", {"cancer": 1, "meas.": 1}),
]


def series(table):
    members = [(n, who) for n, (people, _) in enumerate(table) for who in people.split()]
    contents = [(n, value, count) for n, (_, held) in enumerate(table) for value, count in held.items()]
    return matrices(
        pl.DataFrame(members, schema=["partition", "tuple"], orient="row"),
        pl.DataFrame(contents, schema=["partition", "value", "tuples"], orient="row"),
    )


def rows(matrix):
    return [" ".join(map(str, row)) for row in matrix]


def edges(graph):
    return {frozenset(ends): weight for *ends, weight in graph.edges(data="weight")}


def weights(**named):
    """`w10=2`: an edge of weight 2 between nodes 1 and 0."""
    return {frozenset(map(int, name[1:])): weight for name, weight in named.items()}


def test_example_5_person_and_value_matrices():
    both = series(TABLES_IVB_VB_VI)
    assert both.tuples == ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "c1"]
    assert rows(both.person) == [
        "1 1 1 1 0 0 0 0 0 0 0",
        "0 0 0 0 1 1 0 0 0 0 0",
        "1 0 1 0 0 0 1 0 0 0 1",
        "0 0 0 0 1 0 0 1 1 1 0",
        "1 0 1 0 0 0 1 0 0 0 1",
        "0 0 0 0 0 0 0 0 1 1 0",
    ]
    assert both.values == ["cancer", "flu", "meas."]
    assert rows(both.value) == ["2 2 0", "1 0 1", "2 2 0", "2 0 2", "2 2 0", "1 0 1"]


def test_example_7_rows_of_one_signature_together():
    first, second = series(TABLES_IVB_VB_VI).parts()
    assert first.tuples == ["A", "B", "C", "D", "G", "c1"]
    assert rows(first.person) == ["1 1 1 1 0 0", "1 0 1 0 1 1", "1 0 1 0 1 1"]
    assert rows(first.value) == ["2 2 0"] * 3
    assert second.tuples == ["E", "F", "H", "I", "J"]
    assert rows(second.person) == ["1 1 0 0 0", "1 0 1 1 1", "0 0 0 1 1"]
    assert rows(second.value) == ["1 0 1", "2 0 2", "1 0 1"]
    for attack, part, e in (
        ([1, -1, 0], first, 2),
        ([1, 0, -1], first, 2),
        ([1, 0, -1], second, 2),
        ([1, -1, 1], second, 1),
    ):
        assert not (attack @ part.value).any()
        assert np.abs(attack @ part.person).sum() == 2 * e


def test_example_2_and_figure_1_bucketization():
    # Figure 1b: Alice and Chris are left of {cancer, flu}, Ellen of {cancer, measles}; Greg (flu), Harry and
    # Jane (cancer) and Ian (measles) come.
    signature = np.array([[True, True, False], [True, False, True]])
    left = np.array([[2, 0, 0], [0, 0, 1]])
    for number in range(20):
        rng = np.random.default_rng(number)
        plan = as_tables(make_plan(counted(signature, left, np.array([2, 1, 1])), 2, "refuse", rng))
        # Figure 1c, and 1d: who is left over goes where whole signatures can be made.
        assert plan.counterfeits.tolist() == [[0, 1, 0], [0, 0, 0]]
        assert plan.moved.tolist() == [[0, 1, 0], [2, 0, 1]]
        assert (left + plan.moved + plan.counterfeits).tolist() == [[2, 2, 0], [2, 0, 2]]


def test_example_8_delta_encoding_keeps_the_attacks():
    first, second = (part.delta() for part in series(TABLES_IVB_VB_VI).parts())
    assert rows(first.person) == ["1 1 1 1 0 0", "0 -1 0 -1 1 1", "0 0 0 0 0 0"]
    assert rows(first.value) == ["2 2 0", "0 0 0", "0 0 0"]
    assert rows(second.person) == ["1 1 0 0 0", "0 -1 1 1 1", "-1 0 -1 0 0"]
    assert rows(second.value) == ["1 0 1", "1 0 1", "-1 0 -1"]
    for attack, part, e in (([0, 1, 0], first, 2), ([0, 1, 1], second, 2), ([1, 0, 1], second, 1)):
        assert not (attack @ part.value).any()
        assert np.abs(attack @ part.person).sum() == 2 * e


def test_example_9_figures_2_and_3_and_their_cuts():
    first, second = (build_graph(part.delta()) for part in series(TABLES_IVB_VB_VI).parts())
    assert edges(first) == weights(w10=2, w20=2, w12=2)
    assert set(first) == {0, 1, 2, 3}
    assert smallest_cut(first) == 4

    assert edges(second) == weights(w12=1, w13=1, w23=1, w20=2)
    assert smallest_cut(second) == nx.cut_size(second, {1, 3}, weight="weight") == 2  # Frank and Harry


class Bucket:
    """One bucket, release by release, through the graphs that a series keeps."""

    def __init__(self):
        self.graphs = Graphs.of(State.empty(), pl.String())
        self.memory = Memory.of(State.empty(), pl.String())
        self.number = 0
        self.people = {}

    def open(self, leaving=""):
        """Delete people; returns the opening, and how many of each value stay."""
        self.number += 1
        for who in leaving.split():
            del self.people[who]
        fits = pl.lit(value=True)
        return open_graphs(self.graphs, self._frame(self.people), self.memory.people, self.number, 2, fits)

    def close(self, opening, people, counterfeits=()):
        """Insert people and counterfeits; returns the graph."""
        new = [{"bucket_id": 0, "value": value} for value in counterfeits]
        self.graphs = advance(
            opening,
            self._frame(people),
            pl.DataFrame(new, schema={"bucket_id": pl.Int32, "value": pl.String}),
            pl.DataFrame(schema=self.graphs.cuts.schema),
        )
        self.people |= people
        self.memory = self.memory.after(self._frame(self.people), self.memory.buckets, self.number)
        return bucket_graph(self.graphs, 0)

    @staticmethod
    def _frame(people):
        return pl.DataFrame(
            {
                "pseudonym": [who.encode() for who in people],
                "bucket_id": [0] * len(people),
                "value": list(people.values()),
            },
            schema={"pseudonym": pl.Binary, "bucket_id": pl.Int32, "value": pl.String},
        )


def planned(opening, bound, free, values=2):
    """A plan for one bucket whose values come first among `values`."""
    signature = np.arange(values)[None] < 2
    return make_safe_plan(
        counted(signature, np.array([bound]), np.array(free)),
        Cuts(opening.cuts(1), opening.connected(1)),
        m=2,
        e=2,
        on_ineligible="counterfeit",
        draw=lambda: np.random.default_rng(0),
    )


def test_example_10_bucket_1_figure_2():
    bucket = Bucket()
    opening = bucket.open()
    plan = planned(opening, bound=[0, 0], free=[2, 2])
    assert inserted_tuples(plan).tolist() == [4]
    assert not plan.counterfeits.any()
    graph = bucket.close(opening, {"A": "cancer", "B": "flu", "C": "cancer", "D": "flu"})
    assert edges(graph) == weights(w10=4)
    assert smallest_cut(graph) == 4

    opening = bucket.open(leaving="B D")
    plan = planned(opening, bound=[2, 0], free=[0, 1])  # Greg
    assert plan.moved.tolist() == [0, 1]
    assert plan.counterfeits.tolist() == [0, 1]  # c1
    graph = bucket.close(opening, {"G": "flu"}, ["flu"])
    assert edges(graph) == weights(w10=2, w12=2, w20=2)
    assert smallest_cut(graph) == opening.cuts(1)[0] + 2 == 4

    opening = bucket.open()
    assert opening.kept.height == 1  # nothing happens in the bucket: c1 stays
    graph = bucket.close(opening, {})
    assert edges(graph) == weights(w10=2, w12=2, w20=2)
    assert smallest_cut(graph) == 4


def test_example_10_bucket_2_figure_4_and_table_vii():
    bucket = Bucket()
    opening = bucket.open()
    plan = planned(opening, bound=[0, 0], free=[1, 1])  # Ellen and Frank: a cut of 2
    assert plan.moved.sum() == 2
    assert plan.counterfeits.tolist() == [1, 1]  # c2, c3
    graph = bucket.close(opening, {"E": "meas.", "F": "cancer"}, ["meas.", "cancer"])
    assert edges(graph) == weights(w10=4)

    opening = bucket.open(leaving="F")
    assert opening.kept.is_empty()  # c2 and c3 are dropped greedily
    plan = planned(opening, bound=[1, 0], free=[1, 2])  # of Harry, Ian and Jane, one fills the shortage
    assert plan.moved.tolist() == [1, 2]
    assert not plan.counterfeits.any()
    graph = bucket.close(opening, {"H": "cancer", "I": "meas.", "J": "cancer"})
    assert edges(graph) == weights(w10=1, w12=3, w20=3)
    assert smallest_cut(graph) == opening.cuts(1)[0] + 3 == 4

    opening = bucket.open(leaving="E H")
    assert opening.cuts(1)[0] == 2  # Frank and Harry, unless somebody is inserted
    plan = planned(opening, bound=[1, 1], free=[0, 0])
    assert plan.counterfeits.tolist() == [1, 1]  # c4, c5
    graph = bucket.close(opening, {}, ["meas.", "cancer"])
    assert edges(graph) == weights(w12=3, w13=1, w23=1, w20=2, w30=2)
    assert smallest_cut(graph) == opening.cuts(1)[0] + 2 == 4


@pytest.mark.parametrize("part", [0, 1])
def test_what_is_kept_is_algorithm_1s_graph(part):
    algorithm_1 = build_graph(series(TABLES_IVB_VB_VI).parts()[part].delta())
    lives = [[("A B C D", ""), ("G c1", "B D"), ("", "")], [("E F", ""), ("H I J", "F"), ("", "E H")]][part]
    bucket = Bucket()
    for entering, leaving in lives:
        graph = bucket.close(bucket.open(leaving), dict.fromkeys(entering.split(), "some value"))
    assert edges(graph) == edges(algorithm_1)
