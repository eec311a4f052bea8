"""Groups that are followed by what is published of them."""

import polars as pl

from benchmarks.adversaries.following import follow
from republish.anonymize.formats.published import Published


def published(*groups):
    """Groups: the ends of an interval, values, and how many are counterfeits."""
    boxes, values, forged = [], [], []
    for number, (low, high, held, count) in enumerate(groups):
        boxes.append((number, low, high))
        values += [(number, value, held.count(value)) for value in sorted(set(held))]
        forged += [(number, count)] if count else []
    return Published(
        pl.DataFrame(boxes, schema=["group_id", "qi_0_low", "qi_0_high"], orient="row"),
        pl.DataFrame(values, schema=["group_id", "value", "tuples"], orient="row"),
        pl.DataFrame(forged, schema={"group_id": pl.Int64, "count": pl.Int64}, orient="row"),
    )


def test_a_group_is_followed_by_its_ends_values_and_counterfeits():
    first = follow(published((0, 5, "ab", 0), (6, 9, "ab", 0), (6, 9, "bc", 1)))
    assert (first.groups, first.tuples) == (None, None)
    second = follow(published((6, 9, "bc", 1), (6, 9, "ab", 1), (1, 5, "ab", 0), (0, 5, "ba", 0)), first)
    assert (second.groups, second.tuples) == (2 / 4, 4 / 8)


def test_groups_that_look_alike_are_not_followed():
    first = follow(published((0, 5, "ab", 0), (0, 5, "ab", 0)))
    assert follow(published((0, 5, "ab", 0)), first).groups == 0
    again = follow(published((0, 5, "ab", 0)))
    assert follow(published((0, 5, "ab", 0), (0, 5, "ab", 0)), again).groups == 0


def test_after_nothing_nothing_is_followed():
    nothing = follow(
        published((0, 1, "a", 0)).__class__(
            *(table.clear() for table in vars(published((0, 1, "a", 0))).values())
        )
    )
    assert follow(published((0, 5, "ab", 0)), nothing).groups == 0
    assert follow(published((0, 5, "ab", 0)), None).groups is None
