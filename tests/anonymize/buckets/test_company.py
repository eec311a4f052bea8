"""People per group: an adversary who knows what counterfeits look like is still left with 1/people."""

import numpy as np
import polars as pl
import pytest

from republish.anonymize.errors import NotEligible
from republish.anonymize.principles import principle_of
from republish.anonymize.promise import MinimumPeople, Promise
from tests.attacks import attack_releases
from tests.series import draws, entered, make_contract, released

VALUES = [f"value {n:02}" for n in range(16)]


def skewed(rng, first, people, most):
    """New people, the share `most` of whom has the first value."""
    shares = np.append(most, (1 - most) * 0.8 ** np.arange(15) / (0.8 ** np.arange(15)).sum())
    return pl.DataFrame(
        {
            "person": [f"p{first + i}" for i in range(people)],
            "age": rng.integers(0, 100, people),
            "zipcode": rng.integers(10_000, 99_999, people),
            "value": rng.choice(VALUES, people, p=shares),
        }
    )


def changing(seed, most, releases=5, people=240):
    """Tables of which a tenth leaves before each release, as many come, and some change their value."""
    rng = np.random.default_rng(seed)
    table = skewed(rng, 0, people, most)
    yield table
    for number in range(1, releases):
        gone = people // 10
        new = skewed(rng, 1000 * number, gone, most)
        table = pl.concat([table.sample(people - gone, seed=seed + number), new])
        changed = pl.Series(rng.random(people) < 0.02)
        other = pl.Series(rng.choice(VALUES, people))
        table = table.with_columns(value=pl.when(changed).then(other).otherwise("value"))
        yield table


def with_company(tables, **principle):
    """`(contract, people, candidate)` of each table."""
    return released(make_contract(values=VALUES, **principle), tables)


def guesses(people, made):
    """`group_id`, `people`, `most`: how many people each group has, and how many have its commonest value."""
    hosted = made.linkage.join(people.select("pseudonym", "value"), on="pseudonym")
    each = hosted.group_by("group_id", "value").agg(carriers=pl.len())
    return each.group_by("group_id").agg(people=pl.col("carriers").sum(), most=pl.col("carriers").max())


SERIES = [
    {"m": 3, "on_ineligible": "counterfeit", "people_per_group": 2},
    {"m": 4, "on_ineligible": "counterfeit", "people_per_group": 2, "format": "anatomy"},
    {"m": 5, "on_ineligible": "counterfeit", "people_per_group": 3},
    {"m": 3, "on_ineligible": "wait", "people_per_group": 2},
    {"m": 4, "on_ineligible": "wait", "people_per_group": 3},
    {"m": 2, "on_ineligible": "wait", "people_per_group": 2},
    {"name": "e_equivalence", "m": 3, "e": 2, "on_ineligible": "counterfeit", "people_per_group": 2},
]


@pytest.mark.slow("measures over many simulated tables")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("principle", SERIES, ids=str)
def test_whichever_value_is_guessed_it_is_right_for_one_person_in_so_many(principle, seed):
    m, least = principle["m"], principle["people_per_group"]
    most = (1.2 if principle["on_ineligible"] == "counterfeit" else 0.85) / m
    counterfeits = waiting = 0
    for _, people, made in with_company(changing(seed, most), **principle):
        found = guesses(people, made)
        assert (found["most"] * least <= found["people"]).all()
        figures = made.figures
        assert figures.people == made.linkage.height == people.height - figures.held_back
        counterfeits, waiting = counterfeits + figures.counterfeits, waiting + figures.held_back
    assert counterfeits + waiting > 0


def test_without_it_people_are_alone_with_counterfeits_and_the_frequent_value_is_theirs():
    alone = right = 0
    for *_, people, made in with_company(changing(1, 0.45, releases=8), m=3, on_ineligible="counterfeit"):
        hosted = made.linkage.join(people.select("pseudonym", "value"), on="pseudonym")
        lonely = hosted.filter(pl.len().over("group_id") == 1)
        alone, right = alone + lonely.height, right + (lonely["value"] == VALUES[0]).sum()
    assert alone > 0
    assert right > 0.75 * alone  # beside 1/3 promised by Definition 14


def test_people_who_wait_for_company_keep_their_signature_and_return_with_it():
    rng = np.random.default_rng(3)
    first = skewed(rng, 0, 60, 0.2)
    contract, people, made = next(with_company([first], m=3, on_ineligible="counterfeit", people_per_group=2))
    signature = dict(made.linkage.select("pseudonym", "bucket_id").rows())
    # Of a bucket, all but those with one value leave.
    bucket = made.linkage["bucket_id"][0]
    inside = people.join(made.linkage.filter(bucket_id=bucket), on="pseudonym")
    kept = inside["value"].mode()[0]
    gone = inside.filter(pl.col("value") != kept)["identifier"]
    left = first.filter(~pl.col("person").is_in(gone.implode()))
    second = principle_of(contract).release(entered(left, contract), contract, made.state, 2, draws(2))
    waiting = set(inside.filter(value=kept)["pseudonym"])
    assert second.figures.held_back == len(waiting) > 0
    assert not waiting & set(second.linkage["pseudonym"])
    third = principle_of(contract).release(entered(first, contract), contract, second.state, 3, draws(3))
    assert third.figures.held_back == 0
    assert dict(third.linkage.select("pseudonym", "bucket_id").rows()) == signature


def test_a_table_that_can_not_be_published_so_says_how_many_would_have_to_wait():
    rng = np.random.default_rng(1)
    table = skewed(rng, 0, 100, 0.0).with_columns(
        value=pl.when(pl.int_range(pl.len()) < 62).then(pl.lit(VALUES[0])).otherwise("value")
    )
    with pytest.raises(NotEligible, match=r"62 share a value, and 50, 1/2 of them, may") as told:
        next(with_company([table], m=3, on_ineligible="counterfeit", people_per_group=2))
    assert "at least 24 would have to be held back" in str(told.value)
    # 38 of the 62 and the others: half of those who are left.
    few = pl.concat([table[:38], table[62:]])
    (made,) = [made for *_, made in with_company([few], m=3, on_ineligible="counterfeit", people_per_group=2)]
    assert made.figures.held_back == 0


def attacked(promised, linkage=True, **principle):
    """The findings on what `MinimumPeople` says, of each release of a series."""
    made = list(with_company(changing(1, 0.45), **principle))
    promises = [Promise(MinimumPeople(promised))] * len(made)
    found = attack_releases(made, promises, linked=linkage)
    for one, (_, people, candidate) in zip(found, made, strict=True):
        row = one.findings.filter(promise="share among people").row(0, named=True)
        yield row, one.figures, guesses(people, candidate)


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize("linkage", [True, False])
@pytest.mark.parametrize("policy", [{"m": 3}, {"m": 3, "name": "e_equivalence", "e": 2}], ids=str)
def test_the_attack_counts_people_in_too_little_company_and_acquits_those_with_enough(policy, linkage):
    convicted = 0
    for row, figures, found in attacked(2, linkage, on_ineligible="counterfeit", **policy):
        lonely = found.filter(pl.col("most") * 2 > pl.col("people"))["people"].sum()
        assert row["broken"] == lonely or ("e" in policy and not linkage and row["broken"] < lonely)
        assert row["broken"] + row["undecided"] >= lonely
        assert figures["fewest_people"] == found["people"].min()
        convicted += lonely
    assert convicted > 0
    for row, _, _ in attacked(2, linkage, on_ineligible="counterfeit", people_per_group=2, **policy):
        assert row["broken"] == 0
        if linkage or "e" not in policy:
            assert row["undecided"] == 0
            assert row["found"] <= 0.5


@pytest.mark.parametrize("policy", [{}, {"format": "anatomy"}, {"name": "e_equivalence", "e": 2}], ids=str)
def test_known_counterfeits_of_two_releases_leave_one_value_and_the_promise_says_so(policy):
    """By hand: {a, b} beside a counterfeit with c, then {a, c} beside one with b. Whoever stays has a."""
    first = skewed(np.random.default_rng(1), 0, 3, 0.0).with_columns(value=pl.Series(VALUES[:3]))
    tables = [first, first[:2], first[::2]]
    left = set(VALUES)
    for _, people, made in with_company(tables, m=3, people_per_group=2, **policy):
        found = guesses(people, made)
        assert (found["most"] * 2 <= found["people"]).all()
        left &= set(people["value"])
    assert left == {VALUES[0]}
    (said,) = MinimumPeople(people_per_group=2).sentences()
    assert "in each release by itself" in said
