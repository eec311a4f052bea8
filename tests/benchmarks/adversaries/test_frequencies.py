"""What knowing how frequent values are gives away: nothing of a first release, something of later ones."""

import polars as pl
import pytest

from benchmarks.adversaries.arrivals import arrivals, shares, shuffled_contract
from benchmarks.adversaries.frequencies import arrival_posteriors, guess_arrivals
from benchmarks.census import QUASI_IDENTIFIERS, census


def arrived(**lists):
    """So many people for each list of candidates, which are letters."""
    return pl.DataFrame(
        {"candidates": [list(letters) for letters, many in lists.items() for _ in range(many)]}
    )


def known(**frequent):
    return pl.DataFrame({"value": list(frequent), "share": list(frequent.values())})


def probability(found, letters, value):
    row = found.filter(pl.col("candidates") == pl.lit(list(letters)), pl.col("value") == value)
    return row["probability"].item()


def test_all_candidates_are_alike_where_that_makes_each_value_as_frequent_as_it_is():
    found = arrival_posteriors(arrived(ab=10, ac=10), known(a=0.5, b=0.25, c=0.25))
    assert found["probability"].to_list() == pytest.approx([0.5] * 4)


def test_a_value_in_too_many_lists_is_less_likely_than_the_others():
    # All alike, a would be the value of 10 of 20 people; it is known to be that of 5.
    found = arrival_posteriors(arrived(ab=10, ac=10), known(a=0.25, b=0.375, c=0.375))
    assert probability(found, "ab", "a") == pytest.approx(0.25)
    assert probability(found, "ab", "b") == pytest.approx(0.75)


def test_lists_of_different_lengths_are_fitted_together():
    found = arrival_posteriors(arrived(ab=6, abc=12), known(a=0.5, b=1 / 3, c=1 / 6))
    weighed = found.join(arrived(ab=6, abc=12).group_by("candidates").len("people"), on="candidates")
    total = weighed.group_by("value").agg((pl.col("people") * pl.col("probability")).sum()).sort("value")
    assert total["people"].to_list() == pytest.approx([9, 6, 3])
    assert found.group_by("candidates").agg(pl.col("probability").sum())["probability"].to_list() == (
        pytest.approx([1, 1])
    )


def test_a_value_that_nobody_has_is_impossible():
    found = arrival_posteriors(arrived(ab=10), known(b=1.0))
    assert (probability(found, "ab", "a"), probability(found, "ab", "b")) == (0, 1)


def test_nobody_arrived():
    nobody = pl.DataFrame(schema={"candidates": pl.List(pl.String)})
    assert arrival_posteriors(nobody, known(a=1.0)).height == 0


def test_of_our_releases_the_first_says_nothing_and_later_ones_something():
    """m-invariance does not promise to withstand this adversary; see docs/explanation/adversaries.md."""
    contract = shuffled_contract(m=10)
    people = census(60_000).select("person_id", *QUASI_IDENTIFIERS, "occupation")
    population, right, guesses = shares(people["occupation"]), {False: 0.0, True: 0.0}, {False: 0, True: 0}
    for seed in range(3):
        for number, new in enumerate(arrivals(people, contract, 8_000, 1_000, 4, seed), start=1):
            share, chance = guess_arrivals(new, arrival_posteriors(new, population))
            assert chance <= 0.1
            right[number > 1] += share * new.height
            guesses[number > 1] += new.height
    assert right[False] / guesses[False] == pytest.approx(0.1)  # each group has each of its values once
    assert 0.105 < right[True] / guesses[True] < 0.14
