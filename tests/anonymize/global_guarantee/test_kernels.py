"""The kernels beside plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.global_guarantee.admission import looseness
from republish.anonymize.global_guarantee.partition import set_apart
from republish.anonymize.kernels.accounts import Accounts
from republish.anonymize.kernels.admission import admit
from republish.anonymize.kernels.ledger import fewest_releases, post
from republish.anonymize.kernels.partition import Table, partition


def accounts_of(limits: list[dict[int, float]], largest: list[float]) -> Accounts:
    """Accounts in which person i admits `limits[i]` of values with a link, and `largest[i]` of others."""
    sizes = np.array([len(person) for person in limits], np.int64)
    stop = np.cumsum(sizes)
    pairs = [pair for person in limits for pair in sorted(person.items())]
    return Accounts(
        first=stop - sizes,
        last=stop,
        link_value=np.array([value for value, _ in pairs], np.int32),
        link_share=np.array([share for _, share in pairs], np.float64),
        largest=np.array(largest, np.float64),
        account=np.where(sizes > 0, np.arange(len(limits)), -1),
    )


def random_people(seed: int, people: int, values: int):
    """Limits, the largest share of any value, and values of some people."""
    rng = np.random.default_rng(seed)
    largest = rng.choice([0.3, 0.5], people)
    limits = [
        {
            int(v): float(largest[p] * rng.random())
            for v in rng.permutation(values)[: rng.integers(0, values + 1)]
        }
        for p in range(people)
    ]
    return limits, largest.tolist(), rng.integers(0, values, people).astype(np.int32), rng


def holds(members, limits, largest, value) -> bool:
    """Whether no value has a larger share of a group than any of its members admits."""
    counts = np.bincount(value[members])
    return all(
        count / len(members) <= limits[p].get(v, largest[p]) + 1e-12
        for p in members
        for v, count in enumerate(counts)
        if count
    )


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 6))
def test_partition_holds_and_no_group_can_be_cut(seed, people, values):
    """Every group holds, and none has a cut of which both parts hold."""
    limits, largest, value, rng = random_people(seed, people, values)
    limits = [{v: max(share, 0.15) for v, share in person.items()} for person in limits]
    codes = np.round(rng.random((people, 2)) * 6) / 6
    everybody = np.arange(people)
    if not holds(everybody, limits, largest, value):
        return
    accounts = accounts_of(limits, largest)
    order = np.stack([np.argsort(column, kind="stable") for column in codes.T]).astype(np.int32)
    group = np.empty(people, np.int32)
    partition(Table(codes, np.zeros(2), accounts, value, values), 0, people, order, group)
    for g in np.unique(group):
        members = np.flatnonzero(group == g)
        assert holds(members, limits, largest, value)
        for column in codes.T:
            for at in np.unique(column[members])[1:]:
                left, right = members[column[members] < at], members[column[members] >= at]
                assert not (holds(left, limits, largest, value) and holds(right, limits, largest, value))


@pytest.mark.parametrize(
    "admits",
    [[0.12, 0.5], [0.12, 0.5, 0.6], [0.12] + [0.5] * 119],
    ids=["half of all", "a third", "ten of 1,200"],
)
def test_people_who_admit_little_are_set_apart_from_the_others(admits):
    """Of ten values, each a tenth, some people admit shares of 0.12, and others of 0.5 and more."""
    people = np.arange(1200)
    admits, value = np.array(admits)[people // 10 % len(admits)], (people % 10).astype(np.int32)
    stratum = set_apart(accounts_of([{}] * len(people), admits.tolist()), value, 10)
    assert (stratum == (admits < 0.5)).all()


def test_people_who_admit_alike_stay_together():
    value = (np.arange(400) % 10).astype(np.int32)
    assert not set_apart(accounts_of([{}] * 400, [0.12] * 400), value, 10).any()


def plain_admission(order, unseen, sample, limits, largest, value, expected, factor, passes):
    """The rule of `admit`, word for word, on dictionaries and lists."""
    admitted, counts = [], np.zeros(len(expected))

    def has_room():
        return all(
            counts[v] + 1 <= limits[p].get(v, largest[p]) * (len(admitted) + 1)
            for p in admitted
            for v in range(len(counts))
        )

    settled = False
    for asking in range(passes):
        progress = False
        for position, person in enumerate(order):
            if person in admitted:
                continue
            if asking or position >= unseen:
                if not settled and (asking or position >= sample):
                    settled = has_room()
                total = len(admitted) + expected.sum()
                if any(
                    (counts[v] + expected[v]) * factor[v] > share * total
                    for v, share in limits[person].items()
                ):
                    continue
                own = all(
                    counts[v] + 1 <= limits[person].get(v, largest[person]) * (len(admitted) + 1)
                    for v in range(len(counts))
                )
                if settled and not (has_room() and own):
                    continue
            admitted.append(person)
            counts[value[person]] += 1
            progress = True
        if not progress:
            break
    return admitted


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 6))
def test_admission_is_the_rule(seed, people, values):
    limits, largest, value, rng = random_people(seed, people, values)
    accounts = accounts_of(limits, largest)
    order, unseen, sample = rng.permutation(people), int(rng.integers(0, people + 1)), people // 2
    expected, factor = rng.random(values) * rng.choice([0, 10]), 1 + rng.random(values)
    admitted, does_hold = admit(order, unseen, sample, accounts, value, expected, factor, 3)
    plain = plain_admission(order.tolist(), unseen, sample, limits, largest, value, expected, factor, 3)
    assert sorted(plain) == np.flatnonzero(admitted).tolist()
    assert does_hold == (not plain or holds(np.array(sorted(plain)), limits, largest, value))


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(2, 6))
def test_nobody_is_admitted_for_their_own_value(seed, people, values):
    """Whatever value a person had, they would be admitted, or not, all the same."""
    limits, largest, value, rng = random_people(seed, people, values)
    accounts = accounts_of(limits, largest)
    fixed = (rng.permutation(people), 0, people // 2, accounts)
    person = int(rng.integers(people))
    others = [value.copy() for _ in range(values)]
    for v, other in enumerate(others):
        other[person] = v
    decided = {bool(admit(*fixed, other, np.ones(values), np.ones(values), 3)[0][person]) for other in others}
    assert len(decided) == 1


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 5))
def test_posting_adds_up_per_person_and_value(seed, people, groups):
    rng = np.random.default_rng(seed)
    books = [
        {int(v): float(rng.random()) for v in rng.permutation(8)[: rng.integers(0, 6)]} for _ in range(people)
    ]
    spends = [
        {int(v): float(rng.random()) for v in rng.permutation(8)[: rng.integers(1, 6)]} for _ in range(groups)
    ]
    group = rng.integers(-1, groups, people)

    def flat(tables):
        first = np.cumsum([0, *(len(table) for table in tables)])
        pairs = [pair for table in tables for pair in sorted(table.items())]
        return first, np.array([v for v, _ in pairs], np.int32), np.array([s for _, s in pairs], np.float64)

    first, value, spent = post(*flat(books), group, *flat(spends))
    for person in range(people):
        expected = dict(books[person])
        for v, share in (spends[group[person]] if group[person] >= 0 else {}).items():
            expected[v] = expected.get(v, 0.0) + share
        mine = slice(first[person], first[person + 1])
        assert value[mine].tolist() == sorted(expected)
        assert spent[mine].tolist() == pytest.approx([expected[v] for v in sorted(expected)])


def test_fewest_releases_is_that_of_the_scarcest_link():
    limits = np.array([[[0.6, 0.3, 0.1], [0.6, -1, -1]]])
    first, value = np.array([0, 1, 3, 3]), np.array([0, 0, 1], np.int32)
    left = fewest_releases(first, value, np.array([0.2, 0.0, 0.7]), np.zeros(3, np.int64), limits)
    assert left.tolist() == [2, 0, 3]


def test_looseness_is_the_smallest_multiple_and_skips_links_of_people_who_are_absent():
    everybody = accounts_of([{0: 0.2}, {0: 0.01}, {1: 0.3}, {}], [0.5] * 4)
    here = np.array([0, 2, 3])
    some = Accounts(
        everybody.first[here], everybody.last[here], everybody.link_value, everybody.link_share,
        everybody.largest[here], everybody.account[here],
    )  # fmt: skip
    assert looseness(some, np.array([0.1, 0.1])).tolist() == pytest.approx([2, 3, 5])
