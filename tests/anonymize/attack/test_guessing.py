"""What an adversary guesses who learns from the groups: nothing where there is nothing to learn, and a lot
else."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest

from republish.anonymize.attack.measures import guessing
from republish.anonymize.attack.measures.guessing import drawn, guess_values
from republish.anonymize.formats import GENERALIZATION
from republish.anonymize.formats.published import knowledge_table
from tests.anonymize.attack.attack_series import VALUES, attacked_people, contract, publish, snapshots


def released(strength, m=4, count=2_000, seed=3):
    """A release of people whose value follows from their age for so many of them, and is random for the
    rest."""
    (table,) = snapshots(seed=seed, count=count, releases=1)
    by_age = np.array(VALUES)[(table["age"].to_numpy() - 20) * len(VALUES) // 70]
    follows = np.random.default_rng(5).random(count) < strength
    table = table.with_columns(disease=pl.Series(np.where(follows, by_age, table["disease"].to_numpy())))
    declared = contract(m=m)
    (release,) = publish([table], declared)
    published = GENERALIZATION.read(GENERALIZATION.internal(release.tables, declared), declared)
    known = knowledge_table(attacked_people(table, declared), declared)
    linkage = release.linkage.select(pl.col("patient").alias("person"), "group_id")
    return known, published, declared, linkage


@pytest.mark.slow("measures over many simulated tables")
@pytest.mark.parametrize("m", [2, 4])
def test_where_values_are_random_nothing_is_learned(m):
    """What is learned of twelve tables is as far from chance as standard errors say, on average."""
    several = [guess_values(*released(0, m, seed=seed)) for seed in range(3, 15)]
    assert [found.at_random for found in several] == pytest.approx([1 / m] * 12, abs=0.01)
    off = [(found.learned - found.at_random) / found.error for found in several]
    assert abs(np.mean(off)) < 1
    assert 0.6 < np.sqrt(np.mean(np.square(off))) < 1.6


@pytest.mark.slow("takes more than a second")
def test_the_standard_error_is_that_of_all_ways_to_exchange_values_of_equal_groups():
    known, published, declared, linkage = released(0.8, m=3, count=60)
    found = guess_values(known, published, declared, linkage)
    told = known.join(linkage, on="person").join(
        published.values.group_by("group_id").agg(pl.col("value").sort().alias("of")), on="group_id"
    )
    variance = 0.0
    for (values,), people in told.group_by("of"):
        right = []
        for order in permutations(values):
            exchanged = pl.col("value").replace(dict(zip(values, order, strict=True)))
            other = known.with_columns(
                value=pl.when(pl.col("person").is_in(people["person"].implode()))
                .then(exchanged)
                .otherwise("value")
            )
            right.append(guess_values(other, published, declared, linkage).learned)
        variance += np.var(right)
    assert found.error == pytest.approx(np.sqrt(variance))
    assert found.error > 0


def test_where_values_follow_from_age_they_are_learned_from_the_groups():
    found = guess_values(*released(0.8))
    assert found.at_random == pytest.approx(0.25, abs=0.01)
    assert found.learned > 0.5
    assert found.most_frequent < 0.2
    # Statistics of the true table give away as much: that is why no principle promises otherwise.
    assert found.from_truth > 0.6


def test_without_the_linkage_less_is_learned_and_still_something():
    known, published, declared, linkage = released(0.8)
    linked, alone = (
        guess_values(known, published, declared, linkage),
        guess_values(known, published, declared),
    )
    assert alone.hosted < 100 < linked.hosted == linked.people == alone.people
    assert alone.at_random + 4 * alone.error < alone.learned < linked.learned


def test_certain_values_are_guessed_for_certain():
    known, published, declared, linkage = released(0, m=2)
    values = published.values.group_by("group_id").agg(pl.col("value").first())
    single = values.with_columns(pl.lit(2).alias("tuples"))
    told = known.drop("value").join(linkage, on="person").join(values, on="group_id").drop("group_id")
    one_value = type(published)(published.boxes, single, published.counterfeits)
    assert guess_values(told, one_value, declared, linkage).learned == 1


def test_the_true_values_are_used_for_counting_alone():
    """Other true values change what is right, and not what is guessed, nor what is remembered."""
    known, published, declared, linkage = released(0.8)
    first, second = VALUES[:2]
    swapped = pl.col("value").replace({first: second, second: first})
    other = guess_values(known.with_columns(swapped), published, declared, linkage)
    found = guess_values(known, published, declared, linkage)
    assert other.learned != found.learned
    assert other.clues.said.equals(found.clues.said)


def test_of_many_people_some_are_guessed_by_whole_groups(monkeypatch):
    known, published, declared, linkage = released(0.8)
    monkeypatch.setattr(guessing, "MOST", 500)
    monkeypatch.setattr(guessing, "MOST_LINKED", 500)
    linked, alone = (
        guess_values(known, published, declared, linkage),
        guess_values(known, published, declared),
    )
    assert linked.people == pytest.approx(500, abs=10)
    assert linked.people % 4 == 0
    assert linked.at_random == pytest.approx(0.25, abs=0.01)
    assert linked.learned > 0.3
    assert alone.people == 500


def test_nobody_is_guessed_whom_no_group_covers():
    known, published, declared, _ = released(0, count=200)
    away = known.with_columns(qi_1=pl.lit(9_999))
    assert guess_values(away, published, declared) is None
    nobody = pl.DataFrame(schema=known.schema)
    assert drawn(nobody, None, 0).equals(nobody)  # a release without rows has no values either


@pytest.mark.slow("takes more than a second")
def test_each_release_with_other_groups_says_more_of_everybody():
    """What is promised is 1/4, of each release and of what all have in common."""
    declared, clues, found = contract(m=4), None, []
    follows = pl.col("patient").str.slice(1).cast(pl.Int64) % 10 < 6
    by_age = pl.lit(pl.Series(VALUES)).gather((pl.col("age") - 20) * len(VALUES) // 70)
    made = [
        table.with_columns(disease=pl.when(follows).then(by_age).otherwise("disease"))
        for table in snapshots(seed=3, count=2_000, releases=8, churn=0.05)
    ]
    for one in publish(made, declared):
        published = GENERALIZATION.read(GENERALIZATION.internal(one.tables, declared), declared)
        known = knowledge_table(attacked_people(one.snapshot, declared), declared)
        linkage = one.linkage.select(pl.col("patient").alias("person"), "group_id")
        found.append(guess_values(known, published, declared, linkage, clues))
        clues = found[-1].clues
    alone = guess_values(known, published, declared, linkage)
    assert found[-1].at_random == pytest.approx(0.25, abs=0.01)
    assert found[-1].learned > max(found[0].learned, alone.learned) + 0.02
    assert found[-1].surest_twentieth > found[-1].learned


def test_a_group_that_is_published_again_says_nothing_new():
    """What it says counts once, however often it is published."""
    release = released(0.8)
    first = guess_values(*release)
    again = guess_values(*release, first.clues)
    assert again.learned == first.learned
    assert (again.clues.said["earlier"] == 0).all()
    known, published, declared, linkage = release
    one, other = (linkage.filter(group_id=group)["person"][0] for group in (1, 2))
    exchanged = pl.col("person").replace({one: other, other: one})
    moved = guess_values(known, published, declared, linkage.with_columns(exchanged), first.clues)
    assert 0 < (moved.clues.said["earlier"] != 0).sum() <= 8 * 4  # of the people of two groups


def test_who_is_away_is_not_forgotten():
    known, published, declared, linkage = released(0.8)
    first = guess_values(known, published, declared, linkage).clues
    some = first.hosts["group_id"] != 1
    here = pl.col("person").is_in(first.hosts.filter(some)["person"].implode())
    after = guess_values(known.filter(here), published, declared, linkage.filter(here), first).clues
    assert set(after.said["person"]) == set(first.said["person"])
    # Groups have other numbers in each release: those of the last one alone are compared.
    assert set(after.hosts["person"]) == set(first.hosts.filter(here)["person"])
    absent = first.said.filter(~here).sort("person", "value")
    assert after.said.filter(~here).sort("person", "value").equals(absent)
