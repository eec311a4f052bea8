"""The smallest cuts that the judge finds: worked by hand, and on series of the principle and weaker ones."""

from dataclasses import replace

import networkx as nx
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.attack.cuts import cuts
from republish.anonymize.attack.stays import Stays, follow_stays
from republish.anonymize.e_equivalence import plan
from republish.anonymize.e_equivalence.parameters import smallest_safe_cut
from republish.anonymize.errors import NotEligible
from tests.anonymize.e_equivalence.equivalence_series import (
    Life,
    attack_each,
    contract,
    cuts_each,
    publish,
    take_returning_people_for_new_ones,
)

SIGNATURE = pl.DataFrame(
    {"group_id": [1, 1], "value": ["flu", "gout"]}, schema_overrides={"group_id": pl.Int32}
)
SAFE = 100
"""More than any cut here: every cut is computed."""


def cuts_of(*releases, safe=SAFE):
    """`(entered, left, min_cut)` of one signature after the last release.

    A release is who is in it, separated by blanks; numbers are counterfeits.
    """
    stays = None
    for number, names in enumerate(releases, start=1):
        people = [who for who in names.split() if not who.isdigit()]
        forged = [int(who) for who in names.split() if who.isdigit()]
        present = pl.DataFrame({"person": people}, schema={"person": pl.String})
        counterfeits = pl.DataFrame({"person": forged}, schema={"person": pl.UInt64})
        stays = follow_stays(
            present.with_columns(value=pl.lit("flu"), group_id=pl.lit(1)),
            counterfeits.with_columns(group_id=pl.lit(1)),
            SIGNATURE,
            number,
            stays,
        )
    return cuts(stays, len(releases), safe).select("entered", "left", "min_cut").rows()


def test_all_who_enter_the_first_release_are_its_cut():
    assert cuts_of("a b c d") == [(4, 0, 4)]


def test_a_release_in_which_nothing_happens_adds_no_cut():
    assert cuts_of("a b c d", "a b c d") == []


def test_example_10_bucket_1_two_left_and_two_came():
    # Nodes 1 and 2 are joined by B and D; A and C, G and the counterfeit are still there.
    assert cuts_of("a b c d", "a c g 1") == [(2, 2, 4)]


def test_frank_and_harry_are_a_cut_of_two():
    assert cuts_of("e f", "e h i j", "i j") == [(0, 2, 2)]


def test_two_counterfeits_that_are_inserted_make_it_four():
    assert cuts_of("e f", "e h i j", "i j 4 5") == [(2, 2, 4)]


def test_a_person_who_comes_back_counts_for_nothing():
    # Bob's first stay joined nodes 1 and 2 until he came back.
    assert cuts_of("a b c", "a c d") == [(1, 1, 2)]
    assert cuts_of("a b c", "a c d", "a b c d") == [(0, 0, 0)]


def test_a_part_that_everybody_left_adds_no_cut():
    assert cuts_of("a b", "") == []


def test_counterfeits_that_are_renewed_leave_and_enter():
    assert cuts_of("a b c 1", "a b 1") == [(1, 2, 3)]


def test_each_bucket_has_its_own_cut_where_several_publish_the_same_signature():
    """As a single graph they would have a cut of five: two who entered, and three of the other bucket."""
    values = pl.concat([SIGNATURE, SIGNATURE.with_columns(group_id=pl.lit(2, pl.Int32))])
    nobody = pl.DataFrame(schema={"person": pl.Int64, "group_id": pl.Int64})
    stays = None
    for number, (one, other) in enumerate((("ab", "efgh"), ("ac", "efghijk")), start=1):
        rows = [(who, "flu", 1) for who in one] + [(who, "flu", 2) for who in other]
        present = pl.DataFrame(rows, schema=["person", "value", "group_id"], orient="row")
        stays = follow_stays(present, nobody, values, number, stays, whole_buckets=True)
    assert cuts(stays, 2, SAFE).select("entered", "left", "min_cut").rows() == [(1, 1, 2), (3, 0, 3)]


def test_enough_that_enter_need_no_flow():
    assert cuts_of("a b c d", "a c d e", safe=1) == [(1, 1, 1)]
    assert cuts_of("a b c d", "a c d e") == [(1, 1, 2)]


LIFESPANS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 7), st.integers(1, 7), st.booleans()), max_size=40
)


@pytest.mark.slow("takes more than a second")
@given(LIFESPANS)
@settings(max_examples=50)
def test_every_signature_has_the_cut_that_networkx_finds(lifespans):
    release = 7
    rows = [(number, min(ends), max(ends), edge) for number, *ends, edge in lifespans]
    people = pl.DataFrame(
        rows,
        schema={"signature": pl.Int32, "since": pl.Int32, "until": pl.Int32, "edge": pl.Boolean},
        orient="row",
    ).with_columns(bucket=pl.col("signature").cast(pl.Int64) * 10**9)
    signatures = pl.DataFrame({"signature": range(4), "values": [[str(number)] for number in range(4)]})
    found = cuts(Stays(signatures.cast({"signature": pl.Int32}), people, people.clear()), release, SAFE)
    graphs = {number: nx.Graph() for number, *_ in rows}
    for number, since, until, edge in rows:
        end = until + 1 if until < release else 0
        weight = graphs[number].get_edge_data(since, end, {"capacity": 0})["capacity"] + edge
        graphs[number].add_edge(since, end, capacity=weight)
    assert {int(*values): cut for values, cut in found.select("values", "min_cut").rows()} == {
        number: nx.maximum_flow_value(graph, release, 0)
        for number, graph in graphs.items()
        if {0, release} <= graph.nodes and nx.has_path(graph, release, 0)
    }


def smallest(life, declared):
    """The smallest cut that the judge finds in any release of a series."""
    made = publish(life.snapshots(), declared)
    found = [counted["min_cut"].min() for counted in cuts_each(made)]
    return min(cut for cut in found if cut is not None)


LIVES = [
    Life(seed, churn=0.3, back=0.6, values=3, releases=7, change=0.05 * (seed % 2)) for seed in range(12)
]


@pytest.mark.slow("takes more than a second")
def test_the_whole_attack_counts_the_same_cuts():
    made = publish(LIVES[0].snapshots(), contract(e=3, values=6))
    for counted, attacked in zip(cuts_each(made), attack_each(made), strict=True):
        assert counted.equals(attacked.tables["cuts"].drop("safe"))


@pytest.mark.slow("measures over many simulated tables")
@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.seed)
@pytest.mark.parametrize("e", [2, 4])
def test_no_cut_of_ours_is_below_the_safe_weight(life, e):
    try:
        assert smallest(life, contract(e=e, values=6)) >= smallest_safe_cut(e)
    except NotEligible:
        pytest.skip("too few values are left to people whose values changed")


def caught(lives, e):
    return [smallest(life, contract(e=e, values=3)) < smallest_safe_cut(e) for life in lives]


STEADY = [replace(life, change=0.0) for life in LIVES]


@pytest.mark.slow("attacks many releases")
def test_a_planner_with_a_lower_safe_cut_is_caught(monkeypatch):
    monkeypatch.setattr(plan, "smallest_safe_cut", lambda e: smallest_safe_cut(e) - 2)
    assert sum(caught(STEADY, 3)) > len(STEADY) / 2


@pytest.mark.slow("attacks many releases")
def test_a_planner_that_takes_people_who_return_for_new_ones_is_caught(monkeypatch):
    take_returning_people_for_new_ones(monkeypatch)
    assert any(caught([replace(life, back=0.9) for life in STEADY], 3))
