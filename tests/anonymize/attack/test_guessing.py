"""What an adversary guesses who learns from the groups: nothing where there is nothing to learn, and a lot
else."""

import numpy as np
import polars as pl
import pytest

from anonymize.attack.measures import guessing
from anonymize.attack.measures.guessing import drawn, guess_values
from anonymize.formats import GENERALIZATION
from anonymize.formats.published import knowledge_table
from anonymize.people.codes import code_domain
from tests.anonymize.attack.attack_series import VALUES, attacked_people, contract, publish, snapshots


def released(strength, m=4, count=2_000):
    """A release of people whose value follows from their age for so many of them, and is random for the
    rest."""
    (table,) = snapshots(seed=3, count=count, releases=1)
    by_age = np.array(VALUES)[(table["age"].to_numpy() - 20) * len(VALUES) // 70]
    follows = np.random.default_rng(5).random(count) < strength
    table = table.with_columns(disease=pl.Series(np.where(follows, by_age, table["disease"].to_numpy())))
    declared = contract(m=m)
    (release,) = publish([table], declared)
    published = GENERALIZATION.read(GENERALIZATION.internal(release.tables, declared), declared)
    known = knowledge_table(attacked_people(table, declared), declared)
    linkage = release.linkage.select(pl.col("patient").alias("person"), "group_id")
    return known, published, declared, linkage


@pytest.mark.parametrize("m", [2, 4])
def test_where_values_are_random_nothing_is_learned(m):
    found = guess_values(*released(0, m))
    assert found.at_random == pytest.approx(1 / m, abs=0.01)
    assert abs(found.learned - 1 / m) < 4 * found.error


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
    """Other true values change what is right, and not what is guessed."""
    known, published, declared, linkage = released(0.8)
    first, second = VALUES[:2]
    swapped = pl.col("value").replace({first: second, second: first})
    other = guess_values(known.with_columns(swapped), published, declared, linkage)
    assert other.learned < guess_values(known, published, declared, linkage).learned


def test_of_many_people_some_are_guessed_by_whole_groups(monkeypatch):
    known, published, declared, linkage = released(0.8)
    monkeypatch.setattr(guessing, "MOST", 500)
    linked, alone = (
        guess_values(known, published, declared, linkage),
        guess_values(known, published, declared),
    )
    assert linked.people == pytest.approx(500, abs=10)
    assert linked.people % 4 == 0
    assert linked.at_random == pytest.approx(0.25, abs=0.01)
    assert linked.learned > 0.4
    assert alone.people == 500


def test_nobody_is_guessed_whom_no_group_covers():
    known, published, declared, _ = released(0, count=200)
    away = known.with_columns(qi_1=pl.lit(9_999))
    assert guess_values(away, published, declared) is None
    nobody = pl.DataFrame(schema=known.schema)
    assert drawn(nobody, None, 0).equals(nobody)  # a release without rows has no values either


@pytest.mark.parametrize("most", [5, 500])
def test_cells_begin_and_end_with_the_domain_since_each_of_them_is_smoothed(most):
    known, _, declared, _ = released(0)
    for column, attribute in declared.attributes():
        lowest, highest = code_domain(attribute)
        cells = guessing._Cells.of(known[column], attribute, column, most)
        assert (cells.edges[0], cells.edges[-1]) == (lowest, highest + 1)
