"""The attacks of the papers' worked examples, by table and example number."""

from fractions import Fraction

import polars as pl
import pytest

from republish.anonymize.attack.equivalence import compromised, minimum_equivalence
from republish.anonymize.attack.intersection import candidates, intersect, intersect_hosts
from republish.anonymize.formats.published import Published
from tests.papers.disclosure_risk import disclosure_risk
from tests.papers.invariance import check_invariance

pytestmark = pytest.mark.filterwarnings("error")

# Xiao and Tao, m-Invariance: Tables 1 to 3, zipcodes in thousands.
TABLE_1A = {
    "Bob": (21, 12, "dyspepsia"),
    "Alice": (22, 14, "bronchitis"),
    "Andy": (24, 18, "flu"),
    "David": (23, 25, "gastritis"),
    "Gary": (41, 20, "flu"),
    "Helen": (36, 27, "gastritis"),
    "Jane": (37, 33, "dyspepsia"),
    "Ken": (40, 35, "flu"),
    "Linda": (43, 26, "gastritis"),
    "Paul": (52, 33, "dyspepsia"),
    "Steve": (56, 34, "gastritis"),
}
TABLE_2A = {
    "Bob": (21, 12, "dyspepsia"),
    "David": (23, 25, "gastritis"),
    "Emily": (25, 21, "flu"),
    "Jane": (37, 33, "dyspepsia"),
    "Linda": (43, 26, "gastritis"),
    "Gary": (41, 20, "flu"),
    "Mary": (46, 30, "gastritis"),
    "Ray": (54, 31, "dyspepsia"),
    "Steve": (56, 34, "gastritis"),
    "Tom": (60, 44, "gastritis"),
    "Vince": (65, 36, "flu"),
}
TABLE_1B = {
    ((21, 22), (12, 14)): "dyspepsia bronchitis",
    ((23, 24), (18, 25)): "flu gastritis",
    ((36, 41), (20, 27)): "flu gastritis",
    ((37, 43), (26, 35)): "dyspepsia flu gastritis",
    ((52, 56), (33, 34)): "dyspepsia gastritis",
}
TABLE_2B = {
    ((21, 23), (12, 25)): "dyspepsia gastritis",
    ((25, 43), (21, 33)): "flu dyspepsia gastritis",
    ((41, 46), (20, 30)): "flu gastritis",
    ((54, 56), (31, 34)): "dyspepsia gastritis",
    ((60, 65), (36, 44)): "gastritis flu",
}
TABLE_3A = {
    ((21, 22), (12, 14)): "dyspepsia bronchitis",
    ((23, 25), (21, 25)): "gastritis flu",
    ((37, 43), (26, 33)): "dyspepsia flu gastritis",
    ((41, 46), (20, 30)): "flu gastritis",
    ((54, 56), (31, 34)): "dyspepsia gastritis",
    ((60, 65), (36, 44)): "gastritis flu",
}
TABLE_3B = {1: 1, 3: 1}


def released(table, counterfeits=()):
    boxes = [(g, *age, *zipcode) for g, (age, zipcode) in enumerate(table, start=1)]
    values = [(g, value, 1) for g, held in enumerate(table.values(), start=1) for value in held.split()]
    bounds = ["age_low", "age_high", "zipcode_low", "zipcode_high"]
    return Published(
        pl.DataFrame(boxes, schema=["group_id", *bounds], orient="row"),
        pl.DataFrame(values, schema=["group_id", "value", "tuples"], orient="row"),
        pl.DataFrame(
            list(dict(counterfeits).items()), schema={"group_id": pl.Int64, "count": pl.Int64}, orient="row"
        ),
    )


def snapshots(*tables):
    rows = [(n, name, value, *qi) for n, t in enumerate(tables, start=1) for name, (*qi, value) in t.items()]
    return pl.DataFrame(rows, schema=["release", "person", "value", "age", "zipcode"], orient="row")


def test_bob_is_convicted_by_tables_1b_and_2b():
    people = snapshots(TABLE_1A, TABLE_2A)
    releases = [released(TABLE_1B), released(TABLE_2B)]
    risk = disclosure_risk(people, releases, invariant=False)
    assert risk["Bob", "dyspepsia"] == 1

    domain = people["value"].unique().sort()
    state = None
    for n, published in enumerate(releases, start=1):
        state = intersect(people.filter(release=n), published, domain, n, state)
    vulnerable = candidates([state]).filter(candidates=1)["person"]
    assert "Bob" in vulnerable.to_list()


def test_tables_1b_and_3a_leave_every_risk_at_most_one_half():
    people = snapshots(TABLE_1A, TABLE_2A)
    releases = [released(TABLE_1B), released(TABLE_3A, TABLE_3B)]
    risk = disclosure_risk(people, releases, invariant=True)
    assert len(risk) == 16
    assert max(risk.values()) == Fraction(1, 2)
    assert risk["Bob", "dyspepsia"] == Fraction(1, 2)


# He, Barman and Naughton, Preventing equivalence attacks: Tables I to III.
TABLE_IB = [("Alice Bob", "cancer flu"), ("Chris Dan", "cancer flu"), ("Ellen Frank", "cancer meas.")]
TABLE_IIB = [("Alice Ellen", "cancer meas."), ("Chris Greg", "cancer flu"), ("Harry Ian", "cancer meas.")]
TABLE_IIIB = [
    ("Alice Greg", "cancer flu"),
    ("Chris c1", "cancer flu"),
    ("Ellen Harry", "cancer meas."),
    ("Ian Jane", "cancer meas."),
]
DISEASES = {
    "Alice": "cancer", "Bob": "flu", "Chris": "cancer", "Dan": "flu", "Ellen": "meas.", "Frank": "cancer",
    "Greg": "flu", "Harry": "cancer", "Ian": "meas.", "Jane": "cancer",
}  # fmt: skip


def hosted(table):
    """T(n), hosting groups and what is published, everybody's group being known."""
    groups = [
        (person, DISEASES[person], group)
        for group, (people, _) in enumerate(table, start=1)
        for person in people.split()
        if person in DISEASES
    ]
    values = [(group, value, 1) for group, (_, held) in enumerate(table, start=1) for value in held.split()]
    people = pl.DataFrame(groups, schema=["person", "value", "group_id"], orient="row")
    published = Published(
        pl.DataFrame({"group_id": range(1, len(table) + 1)}),
        pl.DataFrame(values, schema=["group_id", "value", "tuples"], orient="row"),
        pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64}),
    )
    return people, published


def invariance(*tables):
    before, found = None, []
    for number, table in enumerate(tables, start=1):
        people, published = hosted(table)
        one, before = check_invariance(people, people, published, 2, number, before)
        found.append(one)
    return found


def test_tables_ib_and_iib_say_that_alice_has_cancer():
    domain, state = pl.Series(["cancer", "flu", "meas."]), None
    for number, table in enumerate((TABLE_IB, TABLE_IIB), start=1):
        people, published = hosted(table)
        here = people.select("person", "value")
        state = intersect_hosts(here, people.select("person", "group_id"), published, domain, number, state)
    assert candidates([state]).filter(person="Alice")["candidates"].item() == 1
    first, second = invariance(TABLE_IB, TABLE_IIB)
    assert first.too_few == first.repeating == second.too_few == second.repeating == 0
    assert second.moved == 1  # Alice; Chris and Ellen have the signatures they had


def test_example_1_tables_ib_and_iiib_are_2_invariant():
    first, second = invariance(TABLE_IB, TABLE_IIIB)
    assert (first.too_few, first.repeating, first.moved) == (0, 0, 0)
    assert (second.too_few, second.repeating, second.moved, second.staying) == (0, 0, 0, 3)


def test_example_3_two_pairs_are_equivalent_and_then_bob_and_greg():
    *_, static = minimum_equivalence(*partitions(TABLE_IB))
    assert (static.e, static.at_least) == (2, 2)
    assert {frozenset(side) for side in static.witness} == {
        frozenset({"Alice", "Bob"}),
        frozenset({"Chris", "Dan"}),
    }
    *_, updated = minimum_equivalence(*partitions([*TABLE_IB, *TABLE_IIIB]))
    assert (updated.e, updated.at_least) == (1, 1)
    caught = set(compromised(*partitions([*TABLE_IB, *TABLE_IIIB]), e=2).people["person"])
    assert {"Bob", "Greg"} <= caught


# Tables IV to VII.
TABLES_IVB_VB_VI = [
    ("Alice Bob Chris Dan", "cancer cancer flu flu"),
    ("Ellen Frank", "cancer meas."),
    ("Alice Chris Greg c1", "cancer cancer flu flu"),
    ("Ellen Harry Ian Jane", "cancer cancer meas. meas."),
    ("Alice Chris Greg c1", "cancer cancer flu flu"),
    ("Ian Jane", "cancer meas."),
]
TABLE_VII = [
    ("Alice Bob Chris Dan", "cancer cancer flu flu"),
    ("Ellen Frank c2 c3", "cancer cancer meas. meas."),
    ("Alice Greg Chris c1", "cancer cancer flu flu"),
    ("Ellen Harry Ian Jane", "cancer cancer meas. meas."),
    ("Alice Greg Chris c1", "cancer cancer flu flu"),
    ("Ian Jane c4 c5", "cancer cancer meas. meas."),
]


def partitions(table):
    members = [(n, person) for n, (people, _) in enumerate(table) for person in people.split()]
    values = [(n, value) for n, (_, held) in enumerate(table) for value in held.split()]
    contents = pl.DataFrame(values, schema=["partition", "value"], orient="row")
    return (
        pl.DataFrame(members, schema=["partition", "person"], orient="row"),
        contents.group_by("partition", "value").agg(pl.len().cast(pl.Int64).alias("tuples")),
    )


def smallest_attacks(table):
    return {found.signature: found for found in minimum_equivalence(*partitions(table))}


def test_examples_4_and_6_frank_and_harry_have_the_same_disease():
    found = smallest_attacks(TABLES_IVB_VB_VI)
    frank_and_harry = found["cancer", "meas."]
    assert frank_and_harry.e == frank_and_harry.at_least == 1
    assert {*frank_and_harry.witness} == {("Frank",), ("Harry",)}

    bob_and_dan = found["cancer", "flu"]
    assert bob_and_dan.e == bob_and_dan.at_least == 2
    assert {frozenset(side) for side in bob_and_dan.witness} == {
        frozenset({"Bob", "Dan"}),
        frozenset({"Greg", "c1"}),
    }
    caught = compromised(*partitions(TABLES_IVB_VB_VI), e=2)
    assert caught.undecided.is_empty()
    assert sorted(caught.people["person"]) == ["Frank", "Harry"]


def test_table_vii_withstands_every_attack_below_2():
    found = smallest_attacks(TABLE_VII)
    assert all(equivalence.at_least >= 2 for equivalence in found.values())
    assert all(found.is_empty() for found in compromised(*partitions(TABLE_VII), e=2))
