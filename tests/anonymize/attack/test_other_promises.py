"""Promises that other principles make, and releases by Anatomy."""

import numpy as np
import polars as pl
import pytest

from republish.anonymize.attack.equivalence import minimum_equivalence
from republish.anonymize.attack.same_values import search_attacks
from republish.anonymize.attack.side_channels import CERTAIN, CHANCE
from republish.anonymize.formats import ANATOMY, GENERALIZATION
from republish.anonymize.promise.registry import describe_findings
from tests import findings as fi
from tests.anonymize.attack.attack_series import Release, attack_series, broken, contract
from tests.findings import promise

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


DECLARED = contract(values=["cancer", "flu", "measles", "other"])
AGES_ONLY, ZIPCODES_ONLY = (
    DECLARED.model_copy(
        update={"quasi_identifiers": tuple(qi for qi in DECLARED.quasi_identifiers if qi.name == name)}
    )
    for name in ("age", "zipcode")
)
TWO_EQUIVALENT = promise(candidates=2, largest_share=1 / 2, equivalence=2)


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


def attacked(releases, promise=TWO_EQUIVALENT, release_format=ANATOMY, **options):
    """What every attack together found on the last release of a series that promises the same each time."""
    releases = list(releases)
    return attack_series(
        releases,
        AGES_ONLY,
        promises=[promise] * len(releases),
        release_format=release_format,
        everything=True,
        **options,
    )


@pytest.mark.parametrize("linked", [True, False])
def test_frank_and_harry_break_e_equivalence(linked):
    found = attacked(map(by_anatomy, NAIVE), linked=linked)
    assert broken(found) == {fi.EQUIVALENCE}
    assert found.findings.filter(promise=fi.EQUIVALENCE)["broken"].item() == 2


@pytest.mark.parametrize("linked", [True, False])
def test_table_vii_keeps_e_equivalence(linked):
    found = attacked(map(by_anatomy, TABLE_VII), linked=linked)
    assert broken(found) == set()
    smallest = minimum_equivalence(found.knowledge.parts["members"], found.knowledge.parts["contents"])
    assert [one.e for one in smallest] == [2, 2, 2]  # two signatures, and the series


@pytest.mark.slow("takes more than a second")
def test_a_bucket_that_is_one_tuple_short_is_caught_in_anatomy_too():
    releases = [by_anatomy(buckets) for buckets in TABLE_VII]
    last = releases[-1]
    short = last.tables["sensitive"].with_columns(pl.col("count") - (pl.col("group_id") == 1).cast(pl.Int64))
    releases[-1] = Release(last.snapshot, last.tables | {"sensitive": short}, last.linkage)
    assert {fi.COUNTS, fi.HOSTS} <= broken(attacked(releases))


@pytest.mark.slow("takes more than a second")
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

    strange = Release(snapshot, published(np.arange(80, 100)), linkage)
    assert broken(attacked([strange])) == {fi.COUNTERFEITS}
    alike = Release(snapshot, published(rng.integers(20, 60, 20)), linkage)
    assert broken(attacked([alike])) == set()
    # What chance does in one of 10,000 releases, and not in one of 10**9, is said and not judged.
    older = Release(snapshot, published(np.arange(44, 64)), linkage)
    findings = attacked([older]).findings
    (found,) = findings.filter(pl.col("promise") == fi.COUNTERFEITS).rows(named=True)
    assert CERTAIN < found["found"] < CHANCE
    assert (found["holds"], found["required"]) == (True, CERTAIN)
    assert found["undecided"] == found["people"] > 0
    said = describe_findings(findings)
    assert f"as clearly as chance does in 1 of {1 / found['found']:,.0f} releases" in said
    assert f"from 1 of {1 / CERTAIN:,.0f} on, none is published" in said
    # A release of another tool is judged once, and a table that is not in our order is none of ours.
    assert broken(attacked([older], is_own_format=False)) == {fi.COUNTERFEITS}
    upside_down = {"quasi_identifiers": older.tables["quasi_identifiers"].reverse()}
    turned = Release(snapshot, older.tables | upside_down, linkage)
    assert broken(attacked([turned])) == {fi.COUNTERFEITS, fi.ROW_ORDER}


def paired(seed, further=0):
    """A signature of two values: 400 people, and 200 counterfeits that live where people do, or further off.

    The tuples of each value are sorted: the first ones of both are a group, the second ones, and so on.
    """
    rng = np.random.default_rng(seed)
    zipcodes = rng.integers(1000, 8000, 400)
    forged = rng.choice(zipcodes, 200) + rng.choice([-1, 1], 200) + further
    snapshot = pl.DataFrame(
        {
            "patient": [f"p{n}" for n in range(400)],
            "zipcode": zipcodes,
            "disease": ["flu"] * 300 + ["cancer"] * 100,
        }
    )
    tuples = pl.concat(
        [snapshot, pl.DataFrame({"zipcode": forged, "disease": "cancer"})], how="diagonal"
    ).with_columns(group_id=pl.col("zipcode").rank("ordinal").over("disease").cast(pl.Int64))
    counts = (
        tuples.filter(pl.col("patient").is_null()).group_by("group_id").agg(count=pl.len().cast(pl.Int64))
    )
    values = pl.DataFrame({"group_id": range(1, 301)}).join(
        pl.DataFrame({"disease": ["cancer", "flu"]}), how="cross"
    )
    tables = {
        "quasi_identifiers": tuples.select("group_id", "zipcode").sort(pl.all()),
        "sensitive": values.with_columns(count=pl.lit(1, pl.Int64)),
        "counterfeits": counts.sort("group_id"),
    }
    return Release(snapshot, tables, tuples.drop_nulls("patient").select("patient", "group_id"))


@pytest.mark.slow("takes more than a second")
def test_chance_decides_once_for_a_signature_in_which_way_its_counterfeits_stand_out():
    """Groups of one signature were taken for independent: one honest release in four was refused."""

    def rarest(*paired_with, **options):
        options |= {"promises": [promise(candidates=2)], "release_format": ANATOMY}
        found = attack_series([paired(*paired_with)], ZIPCODES_ONLY, **options)
        return found.findings.filter(promise=fi.COUNTERFEITS)["found"].item()

    assert min(rarest(seed) for seed in range(6)) > CHANCE
    assert rarest(0, 1500) < CERTAIN
    # Nothing is known of how another tool makes groups.
    assert min(rarest(seed, is_own_format=False) for seed in range(6)) < CERTAIN


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

    one_half = promise(breach_probability=1 / 2)
    halves = [release(["a", "b"], ["flu", "cancer"]), release(["a", "b"], ["cancer", "flu"])]
    found = attacked(halves, one_half, GENERALIZATION)
    assert broken(found) == {fi.BREACH}
    assert found.findings.filter(promise=fi.BREACH)["found"].item() == 0.75

    quarters = [release([*"abcd"], ["flu", "cancer", "measles", "other"])] * 2
    found = attacked(quarters, one_half, GENERALIZATION)
    assert broken(found) == set()
    assert found.findings.filter(promise=fi.BREACH)["found"].item() == 0.4375


@pytest.mark.parametrize(("seconds", "broken_for", "undecided"), [(0, 0, 2), (60, 2, 0)])
def test_what_there_was_no_time_to_decide_is_neither_broken_nor_acquitted(seconds, broken_for, undecided):
    groups = ["e f", "e h i j", "i j"]
    members = [(n + 10**9, person) for n, people in enumerate(groups) for person in people.split()]
    contents = [
        (n + 10**9, value, len(people.split()) // 2) for n, people in enumerate(groups) for value in "ab"
    ]
    known = {
        "members": pl.DataFrame(members, schema=["partition", "person"], orient="row"),
        "contents": pl.DataFrame(contents, schema=["partition", "value", "tuples"], orient="row"),
    }
    (found,) = search_attacks(known, [2], seconds)
    assert (found.broken, found.undecided) == (broken_for, undecided)
