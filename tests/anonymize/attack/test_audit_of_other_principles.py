"""Promises that other principles make, and releases by Anatomy."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from anonymize.attack import evidence as ev
from anonymize.attack.audit import Knowledge, audit_release, equivalence_evidence
from anonymize.attack.equivalence import minimum_equivalence
from tests.anonymize.attack.attack_series import Release, contract

# He, Barman and Naughton: Tables IV to VII by Anatomy; ages stand for whole quasi-identifiers.
AGES = {
    name: 20 + n for n, name in enumerate(["Alice", "Bob", "Chris", "Dan", "Ellen", "Frank", "Greg", "Harry"])
}
AGES |= {"Ian": 50, "Jane": 51, "c1": 71, "c2": 72, "c3": 73, "c4": 74, "c5": 75}
DISEASES = {
    "Alice": "cancer",
    "Bob": "flu",
    "Chris": "cancer",
    "Dan": "flu",
    "Ellen": "measles",
    "Frank": "cancer",
}
DISEASES |= {"Greg": "flu", "Harry": "cancer", "Ian": "measles", "Jane": "cancer"}
NAIVE = [
    {"cancer flu": "Alice Bob Chris Dan", "cancer measles": "Ellen Frank"},
    {"cancer flu": "Alice Chris Greg c1", "cancer measles": "Ellen Harry Ian Jane"},
    {"cancer flu": "Alice Chris Greg c1", "cancer measles": "Ian Jane"},
]
TABLE_VII = [
    {"cancer flu": "Alice Bob Chris Dan", "cancer measles": "Ellen Frank c2 c3"},
    {"cancer flu": "Alice Chris Greg c1", "cancer measles": "Ellen Harry Ian Jane"},
    {"cancer flu": "Alice Chris Greg c1", "cancer measles": "Ian Jane c4 c5"},
]


def promising(**principle):
    declared = contract(values=["cancer", "flu", "measles"])
    ages = tuple(qi for qi in declared.quasi_identifiers if qi.name == "age")
    return declared.model_copy(update={"quasi_identifiers": ages, "principle": SimpleNamespace(**principle)})


def by_anatomy(buckets):
    rows = [(g, name) for g, names in enumerate(buckets.values(), start=1) for name in names.split()]
    tuples = pl.DataFrame(rows, schema=["group_id", "patient"], orient="row").with_columns(
        pl.col("patient").replace_strict(AGES).alias("age")
    )
    people = tuples.filter(pl.col("patient").is_in(list(DISEASES)))
    snapshot = people.select("patient", "age", pl.col("patient").replace_strict(DISEASES).alias("disease"))
    values = [
        (g, value, len(names.split()) // 2)
        for g, (signature, names) in enumerate(buckets.items(), start=1)
        for value in signature.split()
    ]
    tables = {
        "quasi_identifiers": tuples.select("group_id", "age").sort(pl.all()),
        "sensitive": pl.DataFrame(values, schema=["group_id", "disease", "count"], orient="row"),
        "counterfeits": tuples.filter(~pl.col("patient").is_in(list(DISEASES)))
        .group_by("group_id")
        .agg(pl.len().cast(pl.Int64).alias("count"))
        .sort("group_id"),
    }
    return Release(snapshot, tables, people.select("patient", "group_id"))


def audited(releases, declared, linked=True):
    knowledge = None
    for number, release in enumerate(releases, start=1):
        linkage = release.linkage if linked else None
        found = audit_release(
            declared, release.tables, release.snapshot, number, knowledge, linkage=linkage, everything=True
        )
        knowledge = found.knowledge
    return found


def broken(found):
    return set(found.evidence.filter(~pl.col("holds"))["promise"])


@pytest.mark.parametrize("linked", [True, False])
def test_frank_and_harry_break_e_equivalence(linked):
    found = audited(map(by_anatomy, NAIVE), promising(name="e_equivalence", m=2, e=2), linked)
    assert broken(found) == {ev.EQUIVALENCE}
    assert found.evidence.filter(promise=ev.EQUIVALENCE)["broken"].item() == 2


@pytest.mark.parametrize("linked", [True, False])
def test_table_vii_keeps_e_equivalence(linked):
    found = audited(map(by_anatomy, TABLE_VII), promising(name="e_equivalence", m=2, e=2), linked)
    assert broken(found) == set()
    smallest = minimum_equivalence(found.knowledge.members, found.knowledge.contents)
    assert [one.e for one in smallest] == [2, 2, 2]  # two signatures, and the series


def test_a_bucket_that_is_one_tuple_short_is_caught_in_anatomy_too():
    releases = [by_anatomy(buckets) for buckets in TABLE_VII]
    last = releases[-1]
    short = last.tables["sensitive"].with_columns(pl.col("count") - (pl.col("group_id") == 1).cast(pl.Int64))
    releases[-1] = Release(last.snapshot, last.tables | {"sensitive": short}, last.linkage)
    assert {ev.COUNTS, ev.HOSTS} <= broken(audited(releases, promising(name="e_equivalence", m=2, e=2)))


def test_counterfeits_that_look_like_nobody_are_told_apart_in_anatomy():
    rng = np.random.default_rng(0)
    people = 300
    snapshot = pl.DataFrame(
        {
            "patient": [f"p{n}" for n in range(people)],
            "age": rng.integers(20, 60, people),
            "disease": ["cancer", "flu"] * (people // 2),
        }
    )
    linkage = snapshot.select("patient", pl.lit(1, pl.Int64).alias("group_id"))

    def published(ages):
        forged = pl.DataFrame({"group_id": 1, "age": ages})
        table = pl.concat(
            [snapshot.select(pl.lit(1, pl.Int64).alias("group_id"), "age"), forged.cast(pl.Int64)]
        )
        return {
            "quasi_identifiers": table.sort(pl.all()),
            "sensitive": pl.DataFrame({"group_id": 1, "disease": ["cancer", "flu"], "count": 160}),
            "counterfeits": pl.DataFrame({"group_id": [1], "count": [20]}),
        }

    declared = promising(name="e_equivalence", m=2, e=2)
    strange = Release(snapshot, published(np.arange(80, 100)), linkage)
    assert broken(audited([strange], declared)) == {ev.COUNTERFEITS}
    alike = Release(snapshot, published(rng.integers(20, 60, 20)), linkage)
    assert broken(audited([alike], declared)) == set()


def test_halves_twice_break_the_global_guarantee_and_quarters_don_t():
    def release(names, values):
        snapshot = pl.DataFrame({"patient": names, "age": range(20, 20 + len(names)), "disease": values})
        box = {"group_id": 1, "age_low": 20, "age_high": 19 + len(names)}
        microdata = snapshot.select(*(pl.lit(code).alias(name) for name, code in box.items()), "disease")
        return Release(
            snapshot,
            {"microdata": microdata.sort(pl.all())},
            snapshot.select("patient", pl.lit(1).alias("group_id")),
        )

    declared = promising(name="global_guarantee", l=2)
    halves = [release(["a", "b"], ["flu", "cancer"]), release(["a", "b"], ["cancer", "flu"])]
    found = audited(halves, declared)
    assert broken(found) == {ev.BREACH}
    assert found.evidence.filter(promise=ev.BREACH)["found"].item() == 0.75

    quarters = [release([*"abcd"], ["flu", "cancer", "measles", "other"])] * 2
    found = audited(quarters, declared)
    assert broken(found) == set()
    assert found.evidence.filter(promise=ev.BREACH)["found"].item() == 0.4375


@pytest.mark.parametrize(("seconds", "broken_for", "undecided"), [(0, 0, 2), (60, 2, 0)])
def test_what_there_was_no_time_to_decide_is_neither_broken_nor_acquitted(seconds, broken_for, undecided):
    groups = ["e f", "e h i j", "i j"]
    members = [(n, person) for n, people in enumerate(groups) for person in people.split()]
    contents = [(n, value, len(people.split()) // 2) for n, people in enumerate(groups) for value in "ab"]
    known = Knowledge(
        members=pl.DataFrame(members, schema=["partition", "person"], orient="row"),
        contents=pl.DataFrame(contents, schema=["partition", "value", "tuples"], orient="row"),
    )
    found = pl.concat(equivalence_evidence(known, 2, seconds))
    assert found.select("promise", "broken").rows() == [
        (ev.EQUIVALENCE, broken_for),
        (ev.EQUIVALENCE_DECIDED, undecided),
    ]
