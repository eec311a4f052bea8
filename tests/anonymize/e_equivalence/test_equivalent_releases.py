"""What is true of every series of e-equivalent releases, and what an adversary does to weaker ones."""

import functools
from collections import defaultdict

import networkx as nx
import numpy as np
import polars as pl
import pytest

from republish.anonymize.attack.equivalence import compromised
from republish.anonymize.e_equivalence import graph, plan
from republish.anonymize.e_equivalence import release as steps
from republish.anonymize.e_equivalence.forget import merge_old_nodes
from republish.anonymize.e_equivalence.plots import bucket_graph
from republish.anonymize.errors import NotEligible, SnapshotError, ValueChangeRefused
from tests.anonymize.e_equivalence.equivalence_series import (
    VALUES,
    Life,
    contract,
    cuts_each,
    knowledge,
    publish,
    take_returning_people_for_new_ones,
)
from tests.papers.equivalence_matrices import smallest_cut


def life(seed):
    """A series with its parameters: churn, skew, people who return, values that change."""
    rng = np.random.default_rng(seed)
    table = Life(
        seed,
        people=int(rng.integers(8, 30)),
        releases=int(rng.integers(3, 9)),
        churn=float(rng.choice([0.05, 0.1, 0.3, 0.7])),
        back=float(rng.choice([0, 0.5, 0.9])),
        change=float(rng.choice([0, 0.03, 0.1])),
        skewed=bool(rng.random() < 0.5),
    )
    return table, contract(
        m=int(rng.integers(2, 4)),
        e=int(rng.integers(2, 5)),
        on_ineligible=str(rng.choice(["counterfeit", "wait"])),
    )


def series(seed):
    table, declared = life(seed)
    try:
        return publish(table.snapshots(), declared), declared.principle.e
    except NotEligible:
        pytest.skip("too few values are left to people whose values changed")


def caught(made, e):
    people, undecided = compromised(*knowledge(made), e, seconds=20)
    assert undecided.is_empty()
    return set(people["person"])


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("seed", range(30))
def test_no_attack_finds_fewer_than_e_people_that_share_values(seed):
    made, e = series(seed)
    assert not caught(made, e)


@pytest.mark.slow("attacks many releases")
@pytest.mark.parametrize("seed", range(100, 110))
def test_nor_where_old_nodes_are_merged(seed, monkeypatch):
    monkeypatch.setattr(steps, "merge_old_nodes", functools.partial(merge_old_nodes, most=3))
    made, e = series(seed)
    assert not caught(made, e)


@pytest.mark.slow("attacks many releases")
def test_without_the_cuts_it_does(monkeypatch):
    monkeypatch.setattr(plan, "smallest_safe_cut", lambda _: 0)
    table = [Life(seed, churn=0.3, values=3) for seed in range(8)]
    assert sum(bool(caught(publish(one.snapshots(), contract(e=3, values=3)), 3)) for one in table) >= 6


def test_a_cut_one_lower_is_not_enough(monkeypatch):
    monkeypatch.setattr(plan, "smallest_safe_cut", lambda e: 2 * (e - 1))
    table = [Life(seed, churn=0.3, values=3) for seed in range(12)]
    assert any(caught(publish(one.snapshots(), contract(e=3, values=3)), 3) for one in table)


def test_people_who_return_may_not_be_taken_for_new_ones(monkeypatch):
    """Were they an edge again, each of them would be counted as safety that is not there."""
    take_returning_people_for_new_ones(monkeypatch)
    table = [Life(seed, churn=0.3, back=0.9, values=3, releases=8) for seed in range(25)]
    assert any(caught(publish(one.snapshots(), contract(values=3)), 2) for one in table)


@pytest.mark.slow("attacks many releases")
def test_a_larger_e_holds_from_its_release_on_and_the_smaller_one_before():
    for seed in range(8):
        snapshots = list(Life(seed, churn=0.3, releases=7).snapshots())
        made = publish(snapshots, [contract(e=2)] * 3 + [contract(e=4)] * 4)
        assert not caught(made, 2)
        for cuts in list(cuts_each(made))[3:]:
            assert cuts["min_cut"].min() > 6


@pytest.mark.slow("attacks many releases")
@pytest.mark.parametrize("seed", range(300, 310))
def test_the_smallest_cut_of_a_bucket_is_that_of_its_whole_graph(seed):
    table = Life(seed, back=0.0, churn=0.15)
    smallest = {}
    for number, one in enumerate(publish(table.snapshots(), contract()), start=1):
        graphs = graph.Graphs.of(one.candidate.state, pl.String())
        for bucket, cut in graphs.cuts.iter_rows():
            whole = bucket_graph(graphs, bucket)
            found = smallest_cut(whole)
            assert found is None or found >= cut
            if number in whole:  # something happened there
                newest = nx.minimum_cut_value(whole, 0, number, capacity="weight")
                smallest[bucket] = min(newest, smallest.get(bucket, newest))
        assert dict(graphs.cuts.iter_rows()) == smallest
        assert one.candidate.figures.smallest_cut == min(smallest.values())


def test_everybody_is_there_with_exact_quasi_identifiers_and_no_link_to_a_value():
    for one in publish(Life(3).snapshots(), contract()):
        tables, linkage = one.candidate.published, one.candidate.linkage
        assert set(tables["quasi_identifiers"].columns) & set(tables["sensitive"].columns) == {"group_id"}
        assert linkage.height == one.people.height
        rows = tables["quasi_identifiers"].rows()
        for row in one.people.join(linkage, on="pseudonym").select("group_id", "qi_0", "qi_1").rows():
            rows.remove(row)
        assert len(rows) == tables["counterfeits"]["count"].sum() == one.candidate.figures.counterfeits


def test_tables_are_in_the_order_of_their_content():
    for one in publish(Life(4).snapshots(), contract()):
        for table in one.candidate.published.values():
            assert table.rows() == sorted(table.rows())
        first_rows = (
            one.candidate.published["quasi_identifiers"].group_by("group_id").first().sort("group_id")
        )
        assert first_rows.drop("group_id").rows() == sorted(first_rows.drop("group_id").rows())


def test_nothing_depends_on_the_order_of_rows_and_all_on_the_key():
    snapshots = list(Life(5).snapshots())
    shuffled = [snapshot.sample(fraction=1, shuffle=True, seed=1) for snapshot in snapshots]
    first, again, other = (
        [dict(one.candidate.published) for one in publish(these, contract(), key=key)]
        for these, key in ((snapshots, b"a"), (shuffled, b"a"), (snapshots, b"b"))
    )
    same = [[one[name].equals(two[name]) for name in one] for one, two in zip(first, again, strict=True)]
    assert all(map(all, same))
    assert not first[-1]["sensitive"].equals(other[-1]["sensitive"]) or not first[-1][
        "quasi_identifiers"
    ].equals(other[-1]["quasi_identifiers"])


def test_counterfeits_look_like_people_and_stay_as_they_are():
    made = publish(Life(6, churn=0.05, releases=10).snapshots(), contract(e=4))
    vectors = [set(one.people.select("qi_0", "qi_1").rows()) for one in made]
    born = defaultdict(set)
    for number, one in enumerate(made, start=1):
        kept = one.candidate.state.tables["counterfeits"]
        for bucket, node, *rest in kept.select("bucket_id", "node", "value", "qi_0", "qi_1").rows():
            if node == number:
                assert tuple(rest[1:]) in vectors[number - 1]
                born[bucket, node].add(tuple(rest))
            assert tuple(rest) in born[bucket, node]
    assert any(node < len(made) for _, node in born)


def test_an_empty_release_forgets_nobody():
    nobody = next(Life(7).snapshots()).clear()
    snapshots = list(Life(7).snapshots())
    made = publish([*snapshots[:2], nobody, *snapshots[2:]], contract())
    assert made[2].candidate.figures.tuples == 0
    assert not caught([one for one in made if one.people.height], 2)


def test_what_is_refused_names_the_way_out():
    (snapshot,) = Life(8, releases=1).snapshots()
    alike = snapshot.with_columns(disease=pl.lit(VALUES[0]))
    with pytest.raises(NotEligible, match=r"Release less often, or merge .* no m is small enough"):
        publish([alike], contract(on_ineligible="refuse"))
    with pytest.raises(SnapshotError, match="correct the snapshot"):
        publish([snapshot.with_columns(disease=pl.lit("unheard of"))], contract())
    changed = snapshot.with_columns(pl.col("disease").replace({VALUES[0]: VALUES[4], VALUES[1]: VALUES[5]}))
    with pytest.raises(ValueChangeRefused, match="Begin a new series"):
        publish([snapshot, changed], contract(on_value_change="refuse"))
