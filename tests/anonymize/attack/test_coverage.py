import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.attack.coverage import cover, covering, holds, signatures, value_domain
from republish.anonymize.formats.published import Published


@pytest.mark.slow("takes more than a second")
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(0, 60), st.integers(0, 12))
@settings(max_examples=60)
def test_candidate_sets_are_the_union_of_all_covering_groups(seed, attributes, people, groups):
    published, table = random_release(np.random.default_rng(seed), attributes, people, groups, values=70)
    domain = pl.Series("value", range(70))
    found = cover(table, published, domain)
    for row in found.iter_rows(named=True):
        covering = covering_groups(row, published, attributes)
        union = set(published.values.filter(pl.col("group_id").is_in(covering))["value"])
        assert unpack(row) == union
        assert row["groups"] >= len(covering)
        assert row["group_id"] == (covering[0] if row["groups"] == 1 else None)


@pytest.mark.slow("takes more than a second")
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_codes_that_share_a_cell_are_compared_exactly(seed):
    rng = np.random.default_rng(seed)
    lows = rng.random((200, 2))
    highs = lows + rng.random((200, 2)) * 0.3
    ends = {f"q{a}_{end}": side[:, a] for a in range(2) for end, side in (("low", lows), ("high", highs))}
    # Some people are at the very ends of intervals.
    at = np.concatenate([rng.random((300, 2)), lows[:50], highs[:50]])
    people = pl.DataFrame({"person": range(400), "q0": at[:, 0], "q1": at[:, 1]})
    boxes = pl.DataFrame({"group_id": range(200)} | ends)
    values = pl.DataFrame({"group_id": range(200), "value": np.arange(200) % 70, "tuples": [1] * 200})
    found = cover(people, Published(boxes, values, values.clear()), pl.Series("value", range(70)))
    inside = ((at[:, None] >= lows) & (at[:, None] <= highs)).all(axis=2)
    assert found["groups"].to_list() == inside.sum(axis=1).tolist()
    assert [unpack(row) for row in found.iter_rows(named=True)] == [
        {int(group) % 70 for group in np.flatnonzero(row)} for row in inside
    ]
    points, covered_by = covering(people.select("q0", "q1"), boxes)
    assert set(zip(points.tolist(), covered_by.tolist(), strict=True)) == set(
        zip(*np.nonzero(inside), strict=True)
    )


def test_intervals_are_closed_on_both_ends():
    published = Published(
        pl.DataFrame({"group_id": [1], "age_low": [21], "age_high": [22]}),
        pl.DataFrame({"group_id": [1], "value": ["flu"], "tuples": [1]}),
        pl.DataFrame({"group_id": [], "count": []}),
    )
    people = pl.DataFrame({"person": ["a", "b", "c", "d"], "age": [20, 21, 22, 23]})
    found = cover(people, published, pl.Series(["flu"]))
    assert found["groups"].to_list() == [0, 1, 1, 0]
    assert found["candidates_0"].to_list() == [0, 1, 1, 0]


@pytest.mark.parametrize("count", [1, 63, 64, 65, 200])
def test_every_value_has_a_bit_of_its_own(count):
    published = Published(
        pl.DataFrame({"group_id": range(count), "age_low": range(count), "age_high": range(count)}),
        pl.DataFrame({"group_id": range(count), "value": range(count), "tuples": [1] * count}),
        pl.DataFrame({"group_id": [], "count": []}),
    )
    people = pl.DataFrame({"person": range(count), "age": range(count)})
    found = cover(people, published, value_domain(published.values["value"]))
    assert [unpack(row) for row in found.iter_rows(named=True)] == [{value} for value in range(count)]


def test_new_values_come_after_the_known_ones():
    first = value_domain(pl.Series(["m", "z"]))
    assert value_domain(pl.Series(["a", "z", None]), known=first).to_list() == ["m", "z", "a"]


@pytest.mark.parametrize("count", [1, 64, 65, 200, 20_000])
def test_a_group_holds_its_values_and_no_others(count):
    domain = pl.Series("value", range(count))
    values = pl.DataFrame({"group_id": [1, 1, 2], "value": [0, count - 1, count // 2]})
    people = pl.DataFrame({"group_id": [1, 1, 2, 2, 1], "mine": [0, count - 1, count // 2, count + 1, None]})
    people = people.join(signatures(values, domain), on="group_id", maintain_order="left")
    assert holds(people, "mine", domain).to_list() == [True, True, True, False, False]
    shifted = people.with_columns(mine=(pl.col("mine") + 1) % count)
    held = {1: {0, count - 1}, 2: {count // 2}}
    assert holds(shifted, "mine", domain).to_list() == [
        mine in held[group] for group, mine in shifted.select("group_id", "mine").rows()
    ]


def test_nobody_has_a_value_among_no_candidates():
    nobody = pl.DataFrame(schema={"candidates_0": pl.UInt64, "value": pl.String})
    assert holds(nobody, "value", pl.Series("value", ["a"])).is_empty()
    unseen = pl.DataFrame(
        {"candidates_0": [None], "value": ["a"]}, schema_overrides={"candidates_0": pl.UInt64}
    )
    assert holds(unseen, "value", pl.Series("value", ["a"])).to_list() == [False]


def random_release(rng, attributes, people, groups, values):
    names = [f"q{a}" for a in range(attributes)]
    lows = {f"{name}_low": rng.integers(0, 8, groups) for name in names}
    highs = {f"{name}_high": lows[f"{name}_low"] + rng.integers(0, 4, groups) for name in names}
    boxes = pl.DataFrame({"group_id": np.arange(groups)} | lows | highs)
    pairs = pl.DataFrame(
        {
            "group_id": np.repeat(np.arange(groups), 3),
            "value": rng.integers(0, values, groups * 3),
            "tuples": np.ones(groups * 3, dtype=np.int64),
        }
    ).unique(["group_id", "value"])
    table = pl.DataFrame(
        {"person": np.arange(people)} | {name: rng.integers(0, 11, people) for name in names}
    )
    return Published(boxes, pairs, pl.DataFrame({"group_id": [], "count": []})), table


def covering_groups(person, published, attributes):
    inside = [
        (pl.col(f"q{a}_low") <= person[f"q{a}"]) & (pl.col(f"q{a}_high") >= person[f"q{a}"])
        for a in range(attributes)
    ]
    return published.boxes.filter(inside)["group_id"].to_list()


def unpack(row):
    words = [row[column] for column in row if column.startswith("candidates_")]
    return {64 * w + bit for w, word in enumerate(words) for bit in range(64) if word >> bit & 1}
