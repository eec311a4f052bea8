"""Whether people whose presence is not known can be told from those who are in the table."""

import numpy as np
import polars as pl
import pytest

from republish.anonymize.attack.measures.presence import (
    FEWEST,
    Presence,
    _halved,
    _scores,
    guess_presence,
)
from republish.anonymize.formats.published import Published

ENDS = (("low", 0), ("high", 9))


def box(low, high, size):
    boxes = pl.DataFrame({"group_id": [1], "qi_0_low": [low], "qi_0_high": [high]})
    values = pl.DataFrame({"group_id": [1], "value": ["a"], "tuples": [size]})
    return Published(boxes, values, pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64}))


def ages(low, high, count=400, seed=0):
    return pl.DataFrame({"qi_0": np.random.default_rng(seed).integers(low, high + 1, count)})


def test_people_outside_of_every_box_are_known_to_be_absent():
    found = guess_presence(ages(20, 40), ages(60, 90), box(20, 40, 400))
    assert (found.excluded, found.advantage, found.error) == (1, 1, 0)


def test_people_who_are_alike_are_not_told_apart():
    found = guess_presence(ages(20, 40), ages(20, 40, seed=1), box(20, 40, 400))
    assert found.excluded == 0
    assert abs(found.advantage) <= 4 * found.error


def test_half_of_the_people_outside_are_excluded():
    outside = pl.concat([ages(20, 40, 200), ages(60, 90, 200)])
    found = guess_presence(ages(20, 40), outside, box(20, 40, 400))
    assert found.excluded == 0.5
    assert found.advantage == pytest.approx(0.5)
    assert found.error == pytest.approx((0.5 * 0.5 / 400) ** 0.5)


def test_people_are_called_present_where_tuples_are_dense():
    dense, thin = box(20, 29, 390), box(0, 99, 10)
    boxes = pl.concat([dense.boxes, thin.boxes.with_columns(group_id=pl.lit(2, pl.Int64))])
    values = pl.concat([dense.values, thin.values.with_columns(group_id=pl.lit(2, pl.Int64))])
    found = guess_presence(ages(20, 29), ages(0, 99), Published(boxes, values, dense.counterfeits))
    assert found.excluded == 0
    assert found.advantage > 0.7


def test_exact_quasi_identifiers_say_who_is_there():
    ids = pl.int_range(400, eager=True)
    points = pl.DataFrame({"group_id": ids // 4, "qi_0_low": ids * 2, "qi_0_high": ids * 2})
    values = pl.DataFrame({"group_id": ids // 4, "value": ["a"] * 400, "tuples": [1] * 400})
    exact = Published(points, values, box(0, 0, 1).counterfeits)
    found = guess_presence(pl.DataFrame({"qi_0": ids * 2}), pl.DataFrame({"qi_0": ids * 2 + 1}), exact)
    assert (found.excluded, found.advantage) == (1, 1)


def test_people_of_each_kind_are_counted():
    found = guess_presence(ages(20, 40, 300), ages(20, 40, 200, seed=1), box(20, 40, 400))
    assert (found.inside, found.outside) == (300, 200)


def test_the_tuples_of_a_group_of_several_boxes_are_divided_between_them():
    boxes = pl.DataFrame({"group_id": [1, 1], "qi_0_low": [0, 10], "qi_0_high": [9, 19]})
    one = box(0, 9, 40)
    scores = _scores(pl.DataFrame({"qi_0": [3, 12, 30]}), Published(boxes, one.values, one.counterfeits))
    assert scores.tolist() == [2, 2, 0]


def test_a_box_covers_people_who_are_inside_in_every_attribute():
    square = pl.DataFrame({"group_id": [1], **{f"qi_{n}_{end}": [at] for n in (0, 1) for end, at in ENDS}})
    one = box(0, 9, 40)
    people = pl.DataFrame({"qi_0": [0, 9, 10, 3], "qi_1": [9, 0, 3, -1]})
    scores = _scores(people, Published(square, one.values, one.counterfeits))
    assert scores.tolist() == [0.4, 0.4, 0, 0]


@pytest.mark.parametrize(("half", "shares"), [(0, [0, 0]), (1, [0.5, 0])])
def test_a_score_learned_from_one_half_is_counted_on_the_other(half, shares):
    """Scores of 0 and 7 teach to call 7 present, and all others have 1; these teach to call 1 present."""
    assert _halved([np.array([0, 1, 7, 1]), np.zeros(4)], half) == shares


def test_shards_are_taken_together_by_their_people():
    one = Presence(inside=100, outside=50, excluded=1.0, advantage=0.5, error=0.03)
    other = Presence(inside=300, outside=150, excluded=0.2, advantage=0.1, error=0.04)
    whole = Presence.of_all([one, other])
    assert (whole.inside, whole.outside) == (400, 200)
    assert whole.excluded == pytest.approx((50 + 30) / 200)
    assert whole.advantage == pytest.approx((50 + 30) / 400)
    assert whole.error == pytest.approx((3**2 + 12**2) ** 0.5 / 400)


def test_few_people_are_no_figure():
    assert guess_presence(ages(20, 40), ages(20, 40, FEWEST - 1), box(20, 40, 400)) is None
