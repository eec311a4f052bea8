"""People of groups with copies of a value stay together, so that counting assignments says less of them."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.kernels.fill_places import fill_places
from republish.anonymize.m_invariance.companions import (
    COMPANIONS,
    Members,
    remember_companions,
    stay_together,
)
from republish.anonymize.m_invariance.lasting_groups import APART
from tests.maybe_known import (
    NONE,
    SICK,
    contract,
    groups,
    random,
    released,
    table,
    tables,
    without_numbers,
)

M = 3
DECLARED = {"name": "m_invariance", "m": M, "on_ineligible": "wait"}


def members(names, values, places=None, bucket=0, forged=0):
    """Tuples of a bucket: people by letters, the last of them counterfeits."""
    number = len(names)
    return Members(
        pl.Series("pseudonym", [name.encode() for name in names], dtype=pl.Binary),
        np.full(number, bucket),
        np.array(values),
        np.array(places if places is not None else np.zeros(number))[:, None],
        np.arange(number, dtype=np.uint64),
        np.arange(number) >= number - forged,
    )


def remembered(names, values, group, **given):
    group = np.array(group)
    return remember_companions(members(names, values), group, np.arange(0), **given)


def stayed(before, names, values, **given):
    """The groups of people, by letters; a dot is a counterfeit."""
    own = members(names, values, **given)
    group, company = stay_together(own, before)
    letters = [name if not forged else "." for name, forged in zip(names, own.counterfeit, strict=True)]
    return {
        int(company[number]): "".join(
            sorted(name for name, at in zip(letters, group, strict=True) if at == number)
        )
        for number in range(len(company))
    }, group


def test_nobody_is_exchanged_while_they_can_stay():
    before = remembered("ABCDEF", [0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1], before=None)
    told, group = stayed(before, "ABDEFG", [0, 1, 0, 1, 2, 2])
    assert told == {0: "ABG", 1: "DEF"}
    assert APART not in group


def test_counterfeits_and_new_people_fill_the_nearest_place_of_their_value():
    before = remembered("ABCDEF", [0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1], before=None)
    places = [0.1, 0.1, 0.9, 0.9, 0.8, 0.2]
    told, _ = stayed(before, "ABDEGx", [0, 1, 0, 1, 2, 2], places=places, forged=1)
    assert told == {0: ".AB", 1: "DEG"}


def test_whoever_is_alone_comes_to_others():
    before = remembered("ABCDEFGHI", [0, 1, 2] * 3, [0, 0, 0, 1, 1, 1, 2, 2, 2], before=None)
    assert stayed(before, "ABCDEI", [0, 1, 2, 0, 1, 2])[0] == {0: "ABC", 1: "DEI"}


def test_of_more_groups_than_a_bucket_has_those_of_the_most_people_stay():
    before = remembered("ABCDEFGHI", [0, 1, 2] * 3, [0, 0, 0, 1, 1, 1, 2, 2, 2], before=None)
    assert stayed(before, "ABEFGI", [0, 1, 1, 2, 0, 2])[0] == {0: "ABI", 1: "EFG"}
    last = "ABEFDGI", [0, 1, 1, 2, 0, 0, 2]  # three of the second group
    assert stayed(before, f"{last[0]}xy", [*last[1], 1, 2], forged=2)[0][1] == "DEF"


def test_who_returns_comes_back_to_their_companions_unless_somebody_took_the_place():
    first = remembered("ABCDEF", [0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1], before=None)
    second = remember_companions(
        members("ABDEFx", [0, 1, 0, 1, 2, 2], forged=1), np.array([0, 0, 1, 1, 1, 0]), np.array([0, 1]), first
    )
    assert stayed(second, "ABCDEF", [0, 1, 2, 0, 1, 2])[0] == {0: "ABC", 1: "DEF"}
    second = remember_companions(
        members("ABDEFG", [0, 1, 0, 1, 2, 2]), np.array([0, 0, 1, 1, 1, 0]), np.array([0, 1]), first
    )
    told, group = stayed(second, "ABCDEFGHI", [0, 1, 2, 0, 1, 2, 2, 0, 1])
    assert told == {0: "ABG", 1: "DEF"}
    assert (group == APART).sum() == 3


@given(seed=st.integers(0, 2**32), order=st.permutations(range(3)))
@settings(max_examples=20)
def test_exchange_the_values_of_a_bucket_and_the_same_people_stay_together(seed, order):
    """Which groups stay says nothing of which value a person has."""
    rng = random(seed)
    names = "".join(map(chr, range(65, 65 + 12)))
    value, group = np.repeat(np.arange(3), 4), np.concatenate([rng.permutation(4) for _ in range(3)])
    places = rng.random(12)
    here = rng.random(12) < 0.7

    def told(values):
        before = remembered(names, values, group, before=None)
        left, own = [n for n, is_here in zip(names, here, strict=True) if is_here], values[here]
        most = max(np.bincount(own, minlength=3), default=0)
        new = np.repeat(np.arange(3), most - np.bincount(own, minlength=3))
        own_places = np.append(places[here], np.full(len(new), 0.5))
        added = "".join(map(chr, range(97, 97 + len(new))))
        _, now = stayed(
            before,
            "".join(left) + added,
            np.append(own, new),
            places=own_places,
            forged=len(new),
        )
        return now[: len(left)].tolist()

    assert told(value) == told(np.array(order)[value])


def halved(people, places):
    """As the kernel, in plain Python."""
    chosen = {}

    def fill(persons, wanted):
        if len(wanted) == 1:
            far = [
                sum(abs(a - b) for a, b in zip(people[p], places[wanted[0]], strict=True)) for p in persons
            ]
            chosen[wanted[0]] = persons[far.index(min(far))]
            return
        lengths = [max(along) - min(along) for along in zip(*(places[w] for w in wanted), strict=True)]
        widest = lengths.index(max(lengths))
        wanted = sorted(wanted, key=lambda w: places[w][widest])
        persons = sorted(persons, key=lambda p: people[p][widest])
        half = len(wanted) // 2
        border = (places[wanted[half - 1]][widest] + places[wanted[half]][widest]) / 2
        below = sum(people[p][widest] < border for p in persons)
        cut = max(half, min(below, len(persons) - (len(wanted) - half)))
        fill(persons[:cut], wanted[:half])
        fill(persons[cut:], wanted[half:])

    if len(places):
        fill(list(range(len(people))), list(range(len(places))))
    return [chosen[place] for place in range(len(places))]


@given(seed=st.integers(0, 2**32))
@settings(max_examples=30)
def test_places_are_filled_as_in_plain_python_and_nobody_has_two(seed):
    rng = random(seed)
    people, wanted = int(rng.integers(1, 30)), int(rng.integers(0, 30))
    own = np.round(rng.random((people, 2)), 1)
    places = np.round(rng.random((min(people, wanted), 2)), 1)
    chosen = fill_places(own, places).tolist()
    assert chosen == halved(own.tolist(), places.tolist())
    assert len({*chosen}) == len(chosen)


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("published_as", ["generalization", "anatomy"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=6)
def test_people_of_a_group_with_copies_stay_in_one_group_as_long_as_there_is_room(published_as, seed):
    snapshots = tables(random(seed), people=150, change=0.03, releases=3)
    made = list(released(contract(DECLARED | {"format": published_as}), snapshots))
    stayed_together = 0
    for (_, before, first), (_, people, now) in pairwise(made):
        same = people.join(before, on=["pseudonym", "value"])
        buckets = dict(
            now.buckets.select(
                "bucket_id",
                pl.col("signature").list.eval(pl.element().filter(pl.element() == NONE)).list.len(),
            ).iter_rows()
        )
        both = first.linkage.join(now.linkage, on=["pseudonym", "bucket_id"], suffix="_now")
        here = (
            now.linkage["bucket_id"]
            .value_counts()
            .join(now.linkage.group_by("bucket_id").agg(pl.col("group_id").n_unique()), on="bucket_id")
        )
        room = dict(here.select("bucket_id", "group_id").iter_rows())
        by_bucket = {}
        for (bucket, _), some in both.group_by("bucket_id", "group_id"):
            keep_values = some.join(same, on="pseudonym").height == len(some)
            if buckets[bucket] > 1 and len(some) > 1 and keep_values:
                by_bucket.setdefault(bucket, []).append(some["group_id_now"].n_unique() == 1)
        for bucket, found in by_bucket.items():
            most = min(len(found), room[bucket])
            # People who are back have groups of earlier releases, which take a tenth of the room at most.
            assert sum(found) >= most - max(1, most // 10)
            stayed_together += sum(found)
    assert stayed_together > 10


def test_counting_assignments_says_as_much_of_each_where_one_of_a_group_is_replaced():
    """In place of 2/5 and 1/5 if two of three were exchanged."""
    sick = {0: SICK[0], 3: SICK[1], 6: SICK[2]}
    people = {f"p{i}": [10 * i, 1000 * i, sick.get(i, NONE)] for i in range(9)}
    for leaves in range(9):
        later = {person: row for person, row in people.items() if person != f"p{leaves}"}
        later |= {"new": [10 * leaves, 1000 * leaves, people[f"p{leaves}"][2]]}
        made = list(released(contract(DECLARED), [table(people), table(later)]))
        told = without_numbers([list(groups(*one).values()) for one in made])
        assert max(p for one in told.values() for value, p in one.items() if value != NONE) == Fraction(1, M)


def test_what_is_remembered_is_each_persons_last_group():
    made = list(released(contract(DECLARED), tables(random(1), releases=3)))
    kept = made[-1][2].state.tables[COMPANIONS]
    assert not kept.select("pseudonym", "bucket_id").is_duplicated().any()
    here = kept.filter("is_here").join(made[-1][2].linkage, on=["pseudonym", "bucket_id"])
    assert here.group_by("group_id").agg(pl.col("company").n_unique())["company"].max() == 1
    assert here["company"].n_unique() == here["group_id"].n_unique()
    assert kept.filter(~pl.col("is_here")).height > 0


def test_without_copies_nothing_is_remembered():
    (made,) = released(
        contract(DECLARED, not_sensitive=[]), [table({f"p{i}": [i, i, SICK[i % 6]] for i in range(60)})]
    )
    assert COMPANIONS not in made[2].state.tables


def test_who_has_left_is_remembered_where_nobody_is_in_a_group_with_copies():
    """Of no rows, a scalar beside columns would take their types."""
    members = Members(
        pl.Series(["a", "b"], dtype=pl.String).cast(pl.Binary), *(np.zeros(2, np.int64),) * 2,
        np.zeros((2, 1)), np.arange(2, dtype=np.uint64), np.zeros(2, bool),
    )  # fmt: skip
    none = np.empty(0, np.int64)
    first = remember_companions(members, np.zeros(2, np.int64), none, None)
    nobody = members.filter(np.zeros(2, bool))
    later = remember_companions(nobody, none, none, first)
    assert later.schema == first.schema
    assert later.drop("is_here").equals(first.drop("is_here"))
    assert not later["is_here"].any()
