"""Quasi-identifiers that are recovered from intervals alone."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.attack.measures.recovered import recover
from republish.anonymize.formats.published import Published
from republish.anonymize.people.codes import MISSING_CODE


def released(groups, forged=()):
    """The truth, a release and everybody's group, of `(people, intervals)` with two quasi-identifiers each.

    `forged` counts the counterfeits of each group, where there are any.
    """
    forged = [*forged, *[0] * (len(groups) - len(forged))]
    people, boxes, values, linkage = [], [], [], []
    for number, (members, ends) in enumerate(groups):
        boxes.append((number, *ends))
        values.append((number, "a", len(members) + forged[number]))
        for own in members:
            linkage.append((len(people), number))
            people.append((len(people), "a", *own))
    counts = [(number, count) for number, count in enumerate(forged) if count]
    names = ["group_id", "qi_0_low", "qi_0_high", "qi_1_low", "qi_1_high"]
    return (
        pl.DataFrame(people, schema=["person", "value", "qi_0", "qi_1"], orient="row"),
        Published(
            pl.DataFrame(boxes, schema=names, orient="row"),
            pl.DataFrame(values, schema=["group_id", "value", "tuples"], orient="row"),
            pl.DataFrame(counts, schema={"group_id": pl.Int64, "count": pl.Int64}, orient="row"),
        ),
        pl.DataFrame(linkage, schema=["person", "group_id"], orient="row"),
    )


MINIMAL = [([(30, 1), (34, 1), (39, 1)], (30, 39, 1, 1)), ([(50, 0), (58, 1)], (50, 58, 0, 1))]


def test_each_end_of_a_minimal_interval_is_somebody_s_value_and_no_width_is_everybody_s():
    found = recover(*released(MINIMAL))
    assert found.exact == 3 / 10  # the second column of the first group
    assert found.by_ends == (2 + 3 + 2 + 2) / 10
    assert found.ends == 1


def test_ends_on_a_grid_are_somebody_s_by_chance():
    found = recover(*released([(MINIMAL[0][0], (30, 44, 0, 4)), (MINIMAL[1][0], (45, 59, 0, 4))]))
    assert found.exact == 0
    assert (found.by_ends, found.ends) == (2 / 10, 2 / 8)


def test_counterfeits_have_no_values():
    assert recover(*released(MINIMAL, forged=[4])) == recover(*released(MINIMAL))
    nobody = [*MINIMAL, ([], (10, 20, 0, 0))]
    assert recover(*released(nobody, forged=[0, 0, 2])) == recover(*released(MINIMAL))


def test_without_groups_only_intervals_without_width_are_counted():
    known, published, _ = released(MINIMAL)
    found = recover(known, published, None)
    assert (found.exact, found.by_ends, found.ends) == (3 / 10, None, None)


@pytest.mark.parametrize(
    ("own", "ends", "missing", "exact", "named"),
    [
        ([30, 30, MISSING_CODE], (30, 30), 1, 0, 2),
        ([30, 39, MISSING_CODE], (30, 39), 1, 0, 2),
        ([30, 30, 30], (30, 30), 0, 3, 3),
        ([MISSING_CODE] * 3, (MISSING_CODE, MISSING_CODE), 3, 3, 3),
    ],
)
def test_missing_values_are_published_as_a_count(own, ends, missing, exact, named):
    known, published, linkage = released([([(one, 5) for one in own], (*ends, 0, 9))])
    boxes = published.boxes.with_columns(
        pl.lit(missing).alias("qi_0_missing"), pl.lit(0).alias("qi_1_missing")
    )
    found = recover(known, Published(boxes, published.values, published.counterfeits), linkage)
    assert (found.exact, found.by_ends) == (exact / 6, named / 6)


def test_published_as_they_are_or_of_nobody_nothing_is_recovered():
    known, published, linkage = released(MINIMAL)
    twice = pl.concat([published.boxes, published.boxes.with_columns(pl.col("qi_0_low", "qi_0_high") + 1)])
    assert recover(known, Published(twice, published.values, published.counterfeits), linkage) is None
    empty = Published(*(table.clear() for table in vars(published).values()))
    assert recover(known, empty, linkage) is None


VALUES = st.tuples(st.integers(0, 6), st.integers(0, 2))
MEMBERS = st.lists(VALUES, min_size=1, max_size=5)


@given(st.lists(MEMBERS, min_size=1, max_size=4), st.sampled_from([1, 2, 3]))
def test_person_by_person_it_is_the_same(groups, width):
    """Each end strikes out one person who has the value, and a single value all who have it."""
    made, exact, named, right, ends = [], 0, 0, 0, 0
    for members in groups:
        box = []
        for own in zip(*members, strict=True):
            low, high = min(own) // width * width, max(own) // width * width + width - 1
            box += [low, high]
            left = list(own)
            for end in [low] * len(own) if low == high else [low, high]:
                if end in left:
                    left.remove(end)
                    named += 1
            exact += len(own) * (low == high)
            right += (low in own) + (high in own)
            ends += 2
        made.append((members, tuple(box)))
    people = sum(map(len, groups))
    found = recover(*released(made))
    assert found.exact == pytest.approx(exact / (2 * people))
    assert found.by_ends == pytest.approx(named / (2 * people))
    assert found.ends == pytest.approx(right / ends)
