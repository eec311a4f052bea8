import itertools

import polars as pl
import pytest

from benchmarks.census import DOMAINS, census, census_contract, census_series
from benchmarks.series import contract_of, dynamic_series, pseudonymous


@pytest.fixture(scope="module")
def people():
    return census()


def test_600_000_people_with_the_domains_of_table_5(people):
    assert people.height == people["person_id"].n_unique() == 600_000
    sizes = {name: people[name].n_unique() for name in DOMAINS}
    assert list(sizes.values()) == [79, 2, 17, 57, 50, 50]
    assert {name: (people[name].min(), people[name].max()) for name in DOMAINS} == DOMAINS


@pytest.mark.parametrize("sensitive", ["occupation", "income"])
def test_m_10_is_eligible_though_values_are_skewed(people, sensitive):
    counts = people[sensitive].value_counts()["count"]
    assert counts.max() < 0.1 * people.height
    assert counts.max() > 4 * counts.median()


@pytest.mark.parametrize(
    ("one", "other"), [("education", "age"), ("occupation", "education"), ("income", "occupation")]
)
def test_attributes_go_together(people, one, other):
    """Most of the ten most frequent values are twice as frequent with some values of the other."""
    frequent = people[one].value_counts(sort=True)[one].head(10)
    shares = (
        people.group_by(other)
        .agg(pl.len(), *((pl.col(one) == value).mean().alias(f"{value}") for value in frequent))
        .filter(pl.col("len") > 1000)
        .select(pl.exclude(other, "len").max() / pl.exclude(other, "len").min())
    )
    assert sum(ratio > 2 for ratio in shares.row(0)) > 5


def test_a_series_replaces_r_of_those_who_live():
    series = dict(census_series(rows=2000, live=1000, r=100, releases=11))
    assert (next(iter(series)), list(series)[-1], len(series)) == ("2020-01-01", "2020-11-01", 11)
    for last, now in itertools.pairwise(series.values()):
        assert now.height == now["person_id"].n_unique() == 1000
        assert len(set(now["person_id"]) - set(last["person_id"])) == 100
    assert pl.concat(series.values())["person_id"].n_unique() == 2000  # nobody comes back


def test_the_same_seed_makes_the_same_series():
    def last(seed):
        return list(census_series(rows=300, live=100, r=50, releases=3, seed=seed))[-1][1]

    assert last(1).equals(last(1))
    assert not last(1).equals(last(2))


def test_a_pool_that_is_too_small_is_refused(people):
    with pytest.raises(ValueError, match="3 releases need 12 people; there are 11"):
        next(dynamic_series(people[:11], 10, 1, 3, seed=1))


@pytest.mark.parametrize("sensitive", ["occupation", "income"])
def test_it_is_what_its_contract_says(sensitive):
    contract = contract_of(census_contract(sensitive=sensitive))
    assert contract.principle.m == 10
    for _, snapshot in census_series(400, 200, 20, releases=2, sensitive=sensitive):
        assert pseudonymous(snapshot, contract).height == 200
