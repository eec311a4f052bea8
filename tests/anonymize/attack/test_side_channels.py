from itertools import combinations, permutations, product
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.attack import side_channels
from republish.anonymize.attack.side_channels import (
    CHANCE,
    are_numbered_by_content,
    classifier_advantage,
    follows_values,
    is_canonical,
    marks,
    numbering_against,
    one_throw,
    order_against,
    orders_against,
    ragged_groups,
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


def forwards(published, people):
    """What is found of rows that ascend in one order."""
    return order_against(published, people).row(0, named=True)


def test_rows_left_in_the_snapshot_s_order_tell_every_value():
    people = groups_of_four()
    found = forwards(people.select("group_id", "value"), people)
    assert found["hits"] == found["rows"] == 1600
    assert found["p"] < CHANCE


def test_rows_in_an_order_of_their_own_tell_what_guessing_tells():
    people = groups_of_four()
    found = order_against(people.select("group_id", "value").sort("group_id", "value"), people)
    assert found.filter(pl.col("p") < CHANCE).is_empty()
    assert found["expected"].unique().to_list() == [400]


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
        counterfeit=pl.col("place") == pl.Series(np.repeat(forged, 5)), noise=pl.Series(rng.normal(size=1000))
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


@pytest.mark.parametrize(("signatures", "rare"), [(1, 1.0), (10, 2 * np.exp(-5)), (100, 2 * np.exp(-50))])
def test_so_many_signatures_in_which_counterfeits_come_last_are_so_many_coins(signatures, rare):
    rows = with_counterfeits(place=4).with_columns(signature=pl.col("group_id") % signatures)
    assert one_throw(rows, "place") == pytest.approx(rare)


def test_without_counterfeits_there_is_nothing_to_tell_apart():
    rows = with_counterfeits(place=None).with_columns(counterfeit=pl.lit(value=False))
    assert told_apart(rows, ["place"])["counterfeits"].item() == 0
    assert classifier_advantage(rows, ["place"])["p"] == 1


entry = st.one_of(st.none(), st.integers(0, 2))


@given(st.lists(st.tuples(entry, entry, entry), max_size=6), st.booleans())
@settings(max_examples=80)
def test_canonical_is_what_sorting_leaves_as_it_is(rows, arranged):
    table = pl.DataFrame(rows, schema=dict.fromkeys("abc", pl.Int64), orient="row")
    table = table.sort("a", "b", "c") if arranged else table
    assert is_canonical(table) is table.equals(table.sort("a", "b", "c"))


def test_a_table_of_hundreds_of_columns_is_read_as_well():
    table = pl.DataFrame({f"qi_{n}": [1, 1, 1] for n in range(600)})
    assert is_canonical(table.with_columns(last=pl.Series([1, 2, 3])))
    assert not is_canonical(table.with_columns(last=pl.Series([1, 3, 2])))


# Small numbers: chances by trying every arrangement.


def hits_by_trying(groups, hits):
    """The chance of so many hits or more, groups being lists of values."""
    chance = np.ones(1)
    for values in groups:
        counts = [sum(a == b for a, b in zip(values, order, strict=True)) for order in permutations(values)]
        chance = np.convolve(chance, np.bincount(counts) / len(counts))
    return chance[hits:].sum()


@pytest.mark.parametrize("groups", [["abc"], ["ab", "ab", "ab"], ["aab", "abcd"], ["aabb", "abbb", "cc"]])
def test_the_chance_of_hits_is_exact_for_few_rows(groups):
    rows = [(number, value) for number, values in enumerate(groups) for value in values]
    people = pl.DataFrame(rows, schema=["group_id", "value"], orient="row").with_row_index("order")
    for seed in range(5):
        published = people.sample(fraction=1, shuffle=True, seed=seed).select("group_id", "value")
        found = forwards(published, people)
        assert found["p"] == pytest.approx(hits_by_trying(groups, found["hits"]))


@pytest.mark.parametrize(
    "groups", [["aab"] * 9, ["abc"] * 20 + ["abcd"] * 9, ["aabb"] * 8 + ["abbb"] * 4 + ["cc"]]
)
def test_where_rows_are_too_many_the_chance_is_bounded_from_above(monkeypatch, groups):
    rows = [(number, value) for number, values in enumerate(groups) for value in values]
    people = pl.DataFrame(rows, schema=["group_id", "value"], orient="row").with_row_index("order")
    for mixed_up in range(0, len(groups), 4):
        published = people.sort(pl.col("group_id") >= mixed_up, "value").select("group_id", "value")
        exact = forwards(published, people)["p"]
        with monkeypatch.context() as patched:
            patched.setattr(side_channels, "EXACT_ROWS", 0)
            bound = forwards(published, people)["p"]
        assert exact * (1 - 1e-9) <= bound
        assert bound <= 60 * exact


@pytest.mark.parametrize("groups", [["aab"], ["aab", "abcd"], ["aabb", "abbb", "cc"]])
def test_where_groups_are_too_large_chance_is_normal_with_the_mean_and_variance_of_all_orders(
    monkeypatch, groups
):
    monkeypatch.setattr(side_channels, "EXACT_GROUP", 0)
    rows = [(number, value) for number, values in enumerate(groups) for value in values]
    people = pl.DataFrame(rows, schema=["group_id", "value"], orient="row").with_row_index("order")
    every = [
        [sum(a == b for a, b in zip(values, order, strict=True)) for order in permutations(values)]
        for values in groups
    ]
    mean, variance = sum(map(np.mean, every)), sum(map(np.var, every))
    found = forwards(people.select("group_id", "value"), people)
    assert found["expected"] == pytest.approx(mean)
    assert found["p"] == pytest.approx(NormalDist().cdf((mean - len(people)) / variance**0.5))


def test_fourteen_pairs_in_somebodys_order_are_enough():
    pairs = pl.DataFrame({"group_id": np.repeat(np.arange(14), 2), "value": [*"ab"] * 14, "order": range(28)})
    assert forwards(pairs.select("group_id", "value"), pairs)["p"] == 2**-14 < CHANCE
    fewer = forwards(pairs.head(26).select("group_id", "value"), pairs.head(26))
    assert fewer["p"] == fewer["possible"] == 2**-13 > CHANCE


TURNS = {
    "ascending": (0, 1, 2, 3),
    "descending": (3, 2, 1, 0),
    "turned by one": (1, 2, 3, 0),
    "from the middle": (1, 2, 0, 3),
}


@pytest.mark.parametrize("turn", TURNS)
def test_rows_in_any_permutation_of_the_order_of_age_are_found_out(turn):
    rng = np.random.default_rng(5)
    people = groups_of_four(60).drop("order")
    people = people.with_columns(
        age=pl.Series(rng.permutation(len(people))),
        identifier=pl.Series([f"p{n}" for n in rng.permutation(len(people))]),
    )
    place = np.argsort(np.array(TURNS[turn]))
    by_age = people.sort("group_id", "age").with_columns(place=pl.Series(np.tile(place, 60)))
    listed = by_age.sort("group_id", "place").select("group_id", "value")
    found = orders_against(listed, people, ["age", "identifier"])
    leaks = found.filter(pl.col("p") < CHANCE / len(found)).select("order", "rule").rows()
    plain = {"ascending": [("age", "forwards")], "descending": [("age", "backwards")]}
    assert {*plain.get(turn, []), ("age", "groups of 4")} <= {*leaks}
    assert {order for order, _ in leaks} == {"age"}
    assert not follows_values(listed)


def shuffled(people, seed):
    order = np.random.default_rng(seed).permutation(len(people)).tolist()
    return people[order].sort("group_id", maintain_order=True).select("group_id", "value")


@pytest.mark.slow("attacks many releases")
def test_rows_that_are_shuffled_are_found_out_no_more_often_than_chance_allows():
    """Groups of three sizes, and of each value several people who may have it, of whom one has."""
    rng = np.random.default_rng(1)
    size = rng.integers(2, 6, 40)
    people = pl.DataFrame(
        {
            "group_id": np.repeat(np.arange(40), size),
            "value": np.concatenate([rng.permutation(7)[:k] for k in size]),
        }
    )
    may_be = pl.concat([people, people.gather_every(2), people.gather_every(3)])
    may_be = may_be.with_columns(age=pl.Series(rng.integers(0, 90, len(may_be))), place=range(len(may_be)))
    rare = []
    for seed in range(100):
        found = orders_against(shuffled(people, seed), may_be, ["age", "place"])
        rare.append(found["p"].min() * len(found))
    # Within three standard deviations of what so many honest tables may do.
    for level in (0.2, 0.05):
        assert sum(p < level for p in rare) <= 100 * level + 3 * (100 * level * (1 - level)) ** 0.5


def test_rows_in_one_order_of_their_values_say_nothing_more():
    people = groups_of_four(60)
    codes = np.random.default_rng(2).permutation(20)
    by_code = people.with_columns(code=pl.col("value").replace_strict(range(20), codes.tolist()))
    for key, descending in (("value", False), ("value", True), ("code", False)):
        listed = by_code.sort("group_id", key, descending=[False, descending])
        assert follows_values(listed.select("group_id", "value"))
    assert not any(follows_values(shuffled(people, seed)) for seed in range(20))
    # Of values that hardly ever come again, any order could be one of theirs.
    rare = people.with_columns(value=pl.Series(np.random.default_rng(3).permutation(240)))
    assert not follows_values(shuffled(rare, 0))


def test_eight_groups_numbered_in_order_are_noticed():
    hosted = pl.DataFrame({"group_id": range(8), "order": range(8)})
    assert numbering_against(hosted)["p"] == pytest.approx(2 / 40320)
    assert CHANCE > 2 / 40320
    assert numbering_against(hosted.reverse().with_columns(order=pl.Series(range(8))))[
        "correlation"
    ] == pytest.approx(-1)
    assert numbering_against(hosted.head(2))["p"] == 1


def few_counterfeits(forged, size):
    """Groups with a counterfeit each, at the last place, and as many people before it."""
    return pl.DataFrame(
        {
            "group_id": np.repeat(np.arange(forged), size),
            "place": np.tile(np.arange(size), forged),
            "counterfeit": np.tile(np.arange(size) == size - 1, forged),
        }
    )


@pytest.mark.parametrize(("forged", "size"), [(4, 12), (5, 8), (6, 6), (7, 5)])
def test_a_handful_of_counterfeits_put_last_is_told_apart(forged, size):
    found = told_apart(few_counterfeits(forged, size), ["place"])
    # Last everywhere or first everywhere: two of size ** forged arrangements.
    assert found["p"].item() == pytest.approx(2 / size**forged)
    assert found["p"].item() < CHANCE


def test_what_could_be_chance_is_not_called_a_leak():
    assert told_apart(few_counterfeits(4, 3), ["place"])["p"].item() == pytest.approx(2 / 81)


def test_the_chance_of_ranks_is_exact_with_ties_and_several_counterfeits_in_a_group():
    rows = pl.DataFrame(
        {
            "group_id": [1, 1, 1, 1, 2, 2, 2],
            "counterfeit": [True, True, False, False, True, False, False],
            "x": [2.0, 2.0, 1.0, 2.0, 3.0, 1.0, 2.0],
        }
    )
    # Doubled ranks 6 6 2 6 and 6 2 4: sums 12 (3 of 6) or 8 (3 of 6), and 6, 2, 4; observed 18, mean 14.
    assert told_apart(rows, ["x"])["p"].item() == pytest.approx((1 / 2 + 1 / 2) * 1 / 3)


@pytest.mark.parametrize("seed", range(12))
def test_the_chance_of_ranks_is_that_of_all_ways_to_draw_the_counterfeits(seed):
    rng = np.random.default_rng(seed)
    groups = [rng.integers(0, 3, rng.integers(2, 6)).tolist() for _ in range(2)]
    drawn = [range(rng.integers(1, len(own))) for own in groups]

    def ahead(own, forged):
        """Pairs of a counterfeit and a person that the counterfeit wins, less those that it loses."""
        people = [x for place, x in enumerate(own) if place not in forged]
        return sum(np.sign(own[place] - x) for place in forged for x in people)

    observed = abs(sum(map(ahead, groups, drawn)))
    every = [
        [ahead(own, some) for some in combinations(range(len(own)), len(forged))]
        for own, forged in zip(groups, drawn, strict=True)
    ]
    chance = np.mean([abs(sum(way)) >= observed for way in product(*every)])
    rows = pl.concat(
        pl.DataFrame({"x": own, "counterfeit": [n in forged for n in range(len(own))]}).with_columns(
            group_id=number
        )
        for number, (own, forged) in enumerate(zip(groups, drawn, strict=True))
    )
    assert told_apart(rows, ["x"])["p"].item() == pytest.approx(chance)


@pytest.mark.parametrize("forged", [4, 5, 6, 7])
def test_a_column_that_marks_counterfeits_is_certain_over_the_whole_table(forged):
    people = pl.DataFrame({"counterfeit": [False] * 400, "origin": ["ward"] * 400})
    counterfeits = pl.DataFrame({"counterfeit": [True] * forged, "origin": ["made up"] * forged})
    found = marks(pl.concat([people, counterfeits]), ["origin"])
    assert found.select("marked", "alike").row(0) == (forged, forged)
    assert found["p"].item() < CHANCE
    honest = pl.concat([people, counterfeits.with_columns(origin=pl.lit("ward"))])
    assert marks(honest, ["origin"])["p"].item() == 1


def test_a_group_with_two_boxes_is_ragged():
    table = pl.DataFrame(
        {"group_id": [1, 1, 2, 2], "age_low": [20, 20, 30, 31], "age_high": [22, 22, 40, 40]}
    )
    assert ragged_groups(table, ["age_low", "age_high"]) == 1
    assert ragged_groups(table, ["age_high"]) == 0
