"""A bucket that is there again with the same people has the same groups; any other is grouped anew."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from republish.anonymize.m_invariance import M_INVARIANCE
from republish.anonymize.m_invariance.release import GROUPING
from republish.anonymize.principle.state import State
from tests.series import draws, entered, make_contract, released

VALUES = ["flu", "gout", "mumps", "asthma", "angina", "scurvy", "colic", "croup"]
SCHEMA = {"person": pl.String, "age": pl.Int64, "zipcode": pl.Int64, "value": pl.String}


def people(rng, first, number):
    """New people; one quasi-identifier is coarse, so that many people are alike by it."""
    return pl.DataFrame(
        {
            "person": [f"p{first + i}" for i in range(number)],
            "age": rng.integers(0, 12, number) * 10,
            "zipcode": rng.integers(10_000, 100_000, number),
            "value": rng.choice(VALUES, number),
        },
        schema=SCHEMA,
    )


def updated(rng, table, first, number):
    """A table after so many people left and as many came."""
    return pl.concat([table.sample(table.height - number, seed=first), people(rng, first, number)])


def candidates(tables, between=lambda state: state, **principle):
    """The candidate of each table. What a release leaves goes through `between` before the next."""
    contract = make_contract(values=VALUES, m=3, on_ineligible="counterfeit", **principle)
    return [candidate for *_, candidate in released(contract, tables, between)]


def sets(candidate, column):
    """The people of each bucket, or of each group, by bucket."""
    found = {}
    for _, rows in candidate.linkage.group_by({"bucket_id", column}):
        found.setdefault(rows["bucket_id"][0], set()).add(frozenset(rows["pseudonym"]))
    return found


def untouched(before, now):
    """The buckets of which nobody left, and to which nobody came."""
    earlier, later = sets(before, "bucket_id"), sets(now, "bucket_id")
    return [bucket for bucket in later if earlier.get(bucket) == later[bucket]]


def small_updates(seed=0, releases=6):
    rng = np.random.default_rng(seed)
    tables = [people(rng, 0, 400)]
    for number in range(1, releases):
        tables.append(updated(rng, tables[-1], 1000 * number, 4))
    return tables


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize(
    ("effort", "published_as"), [("fast", "anatomy"), ("best", "generalization"), ("best", "anatomy")]
)
@pytest.mark.parametrize("seed", range(2))
def test_a_bucket_that_nobody_entered_or_left_keeps_its_groups(effort, published_as, seed):
    made = candidates(small_updates(seed), effort=effort, format=published_as)
    kept = with_counterfeits = 0
    for before, now in pairwise(made):
        forged = set(now.buckets.filter(pl.col("counterfeits") > 0)["bucket_id"])
        for bucket in untouched(before, now):
            assert sets(now, "group_id")[bucket] == sets(before, "group_id")[bucket]
            kept += 1
            with_counterfeits += bucket in forged
    assert kept > 30
    assert with_counterfeits > 0


def shown(candidate, bucket):
    """The exact quasi-identifiers of each group of a bucket, counterfeits' among them."""
    groups = candidate.linkage.filter(pl.col("bucket_id") == bucket).select("group_id").unique()
    rows = candidate.published["quasi_identifiers"].join(groups, on="group_id", how="semi")
    return sorted(sorted(some.select("age", "zipcode").rows()) for _, some in rows.group_by("group_id"))


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("regroup", [1, 0.25])
def test_rows_of_exact_quasi_identifiers_stay_too_and_counterfeits_look_like_the_same_people(regroup):
    compared = with_counterfeits = 0
    for seed in range(3):
        for before, now in pairwise(candidates(small_updates(seed), format="anatomy", regroup=regroup)):
            forged = set(now.buckets.filter(pl.col("counterfeits") > 0)["bucket_id"])
            for bucket in untouched(before, now):
                assert shown(before, bucket) == shown(now, bucket)
                compared, with_counterfeits = compared + 1, with_counterfeits + (bucket in forged)
    assert compared > 30
    assert with_counterfeits > 3


def without_secret(state):
    """The state of a series that earlier software began."""
    return State({name: table for name, table in state.tables.items() if name != GROUPING})


def test_without_the_secret_of_the_release_before_groups_are_drawn_anew():
    made = candidates(small_updates(), between=without_secret, regroup=1)
    changed = [
        bucket
        for before, now in pairwise(made)
        for bucket in untouched(before, now)
        if sets(now, "group_id")[bucket] != sets(before, "group_id")[bucket]
    ]
    assert len(changed) > 5


def test_a_bucket_that_somebody_left_is_grouped_anew():
    # All alike, so that groups are made by lot alone. Of a person's two companions, chance keeps 1 of 40.
    rng = np.random.default_rng(1)
    everybody = people(rng, 0, 240).with_columns(
        pl.lit(30, pl.Int64).alias("age"),
        pl.lit(500, pl.Int64).alias("zipcode"),
        pl.Series("value", VALUES[:3] * 80),
    )
    before, now = candidates([everybody, everybody[3:]], regroup=1)
    companions = [
        {
            frozenset(pair)
            for groups in sets(one, "group_id").values()
            for group in groups
            for pair in ((a, b) for a in group for b in group if a < b)
        }
        for one in (before, now)
    ]
    assert len(companions[0] & companions[1]) < 15
    assert len(companions[1]) == 237


@pytest.mark.parametrize("seed", range(4))
def test_groups_that_change_show_that_values_were_exchanged_among_many_and_no_other_bucket_changes(seed):
    rng = np.random.default_rng(seed)
    table = people(rng, 0, 600)
    (before,) = candidates([table])
    contract = make_contract(values=VALUES)
    inside = table.with_row_index("row").join(
        entered(table, contract).select("pseudonym", person="identifier"), on="person"
    )
    inside = inside.join(before.linkage, on="pseudonym").sort("row")
    largest = inside["bucket_id"].mode().sort()[0]
    inside = inside.filter(bucket_id=largest)
    values, (first, second) = (
        table["value"].to_list(),
        inside.group_by("value").first().sort("value")["row"][:2],
    )
    values[first], values[second] = values[second], values[first]
    before, now = candidates([table, table.with_columns(value=pl.Series(values))])
    assert sorted(untouched(before, now)) == sorted(sets(now, "bucket_id"))
    groups = [sets(one, "group_id") for one in (before, now)]
    changed = [one for one in groups[0] if groups[0][one] != groups[1][one]]
    assert set(changed) <= {largest}
    exchanged = set(inside.filter(pl.col("row").is_in([first, second]))["pseudonym"])
    for one in changed:
        regrouped = frozenset().union(*(groups[1][one] - groups[0][one]))
        assert exchanged & regrouped
        assert len(regrouped) > 2


def test_people_whose_quasi_identifiers_change_are_grouped_by_what_they_are_now():
    rng = np.random.default_rng(2)
    table = people(rng, 0, 300)
    moved = table.with_columns(zipcode=pl.Series(rng.permutation(table["zipcode"].to_numpy())))
    before, now = candidates([table, moved])
    assert sorted(untouched(before, now)) == sorted(sets(now, "bucket_id"))
    assert sets(now, "group_id") != sets(before, "group_id")


def test_a_series_that_has_no_secret_yet_draws_one_and_keeps_it():
    tables = small_updates(releases=3)
    contract = make_contract(values=VALUES, m=3, on_ineligible="counterfeit")
    (first,) = candidates(tables[:1])
    older = without_secret(first.state)
    assert {*first.state.tables} - {*older.tables} == {GROUPING}
    second = M_INVARIANCE.release(entered(tables[1], contract), contract, older, 2, draws(2))
    third = M_INVARIANCE.release(entered(tables[2], contract), contract, second.state, 3, draws(3))
    (key,) = second.state.tables[GROUPING]["key"]
    assert len(key) == 32
    assert not second.state.tables[GROUPING].equals(first.state.tables[GROUPING])
    assert third.state.tables[GROUPING].equals(second.state.tables[GROUPING])
