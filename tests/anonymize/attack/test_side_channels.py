import numpy as np
import polars as pl
import pytest

from anonymize.attack.side_channels import (
    CHANCE,
    are_numbered_by_content,
    classifier_advantage,
    is_canonical,
    numbering_against,
    order_against,
    told_apart,
)


@pytest.mark.parametrize(
    ("rows", "canonical"),
    [
        ([(1, "a"), (1, "b"), (2, "a")], True),
        ([(1, "b"), (1, "a"), (2, "a")], False),
        ([(2, "a"), (1, "b")], False),
        ([(1, "a"), (1, "a")], True),
        ([], True),
    ],
)
def test_canonical_means_sorted_by_all_columns_left_to_right(rows, canonical):
    table = pl.DataFrame(rows, schema={"group_id": pl.Int64, "disease": pl.String}, orient="row")
    assert is_canonical(table) is canonical


def test_an_order_of_its_own_is_as_good_as_the_alphabet():
    table = pl.DataFrame({"size": ["small", "large", "huge"]})
    assert not is_canonical(table)
    assert is_canonical(table, {"size": ["small", "large", "huge"]})


def test_groups_numbered_by_bucket_are_not_numbered_by_content():
    table = pl.DataFrame({"group_id": [1, 1, 2, 2], "age_low": [30, 30, 20, 20], "disease": [*"abab"]})
    assert not are_numbered_by_content(table)
    assert are_numbered_by_content(table.with_columns(age_low=pl.Series([20, 20, 30, 30])))


def groups_of_four(groups=400, seed=0):
    rng = np.random.default_rng(seed)
    value = np.concatenate([rng.permutation(20)[:4] for _ in range(groups)])
    return pl.DataFrame(
        {"group_id": np.repeat(np.arange(groups), 4), "value": value, "order": np.arange(4 * groups)}
    )


def test_rows_left_in_the_snapshot_s_order_tell_every_value():
    people = groups_of_four()
    found = order_against(people.select("group_id", "value"), people)
    assert found["hits"] == found["rows"] == 1600
    assert found["p"] < CHANCE


def test_rows_in_an_order_of_their_own_tell_what_guessing_tells():
    people = groups_of_four()
    found = order_against(people.select("group_id", "value").sort("group_id", "value"), people)
    assert found["p"] > CHANCE
    assert found["expected"] == 400


def test_group_numbers_in_the_order_of_arrival_are_noticed():
    people = groups_of_four()
    assert numbering_against(people)["p"] < CHANCE
    shuffled = pl.Series(np.random.default_rng(1).permutation(400))
    people = people.with_columns(pl.col("group_id").replace_strict(range(400), shuffled))
    assert numbering_against(people)["p"] > CHANCE


def with_counterfeits(place):
    rng = np.random.default_rng(3)
    rows = pl.DataFrame({"group_id": np.repeat(np.arange(200), 5), "place": np.tile(np.arange(5), 200)})
    forged = rng.integers(0, 5, 200) if place is None else np.full(200, place)
    return rows.with_columns(
        counterfeit=pl.col("place") == pl.Series(np.repeat(forged, 5)),
        noise=pl.Series(rng.normal(size=1000)),
    )


def test_counterfeits_that_come_last_are_told_apart():
    rows = with_counterfeits(place=4)
    found = told_apart(rows, ["place", "noise"])
    assert found.filter(column="place")["advantage"].item() == 1
    assert found.filter(column="place")["p"].item() < CHANCE < found.filter(column="noise")["p"].item()
    assert classifier_advantage(rows, ["place", "noise"])["advantage"] > 0.9


def test_counterfeits_in_the_middle_are_found_by_the_classifier():
    rows = with_counterfeits(place=2)
    assert told_apart(rows, ["place"])["advantage"].item() == 0.5
    assert classifier_advantage(rows, ["place"])["advantage"] == 1


def test_counterfeits_anywhere_are_told_apart_no_better_than_by_chance():
    rows = with_counterfeits(place=None)
    assert told_apart(rows, ["place", "noise"])["p"].min() > CHANCE
    assert classifier_advantage(rows, ["place", "noise"])["p"] > CHANCE


def test_without_counterfeits_there_is_nothing_to_tell_apart():
    rows = with_counterfeits(place=None).with_columns(counterfeit=pl.lit(value=False))
    assert told_apart(rows, ["place"])["counterfeits"].item() == 0
    assert classifier_advantage(rows, ["place"])["p"] == 1
