"""Signatures by region, for first releases, and from where the people of later ones come."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.buckets.assign import HELD_BACK, execute
from republish.anonymize.buckets.counts import Demand, Plan, is_eligible
from republish.anonymize.buckets.divide import UNDECIDED, Division
from republish.anonymize.buckets.plan import make_plan
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.m_invariance import neighbours
from republish.anonymize.m_invariance.family import InitialGroups, choose_family
from republish.anonymize.m_invariance.neighbours import (
    Cells,
    _present_and_wanted,
    find_cells,
    from_the_neighbourhood,
    worth,
)
from republish.anonymize.m_invariance.regions import Regions, cut, find_regions
from tests.anonymize.attack.attack_series import VALUES, attack_each, broken, contract, publish, snapshots
from tests.anonymize.buckets.test_core import eligible
from tests.plans import as_tables, counted

NOBODY = np.empty(0, np.int64)


def arriving(value, values):
    """People of whom nobody has been in a release, divided."""
    none = np.zeros((0, values), np.int64)
    counts = counted(none.astype(bool), none, np.bincount(value, minlength=values))
    undecided = np.full(len(value), UNDECIDED)
    return Division(undecided, value, np.zeros(len(value), bool), counts)


def received_by(plan, bucket, value):
    """How many people each place got; everybody has one."""
    places = plan.signatures.find(bucket, value)
    assert (places >= 0).all()
    return np.bincount(places, minlength=len(plan.moved))


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(0, 3))
def test_a_family_takes_nobody_twice_and_leaves_an_eligible_rest(seed, m, depth):
    rng = np.random.default_rng(seed)
    values = m + int(rng.integers(0, 8))
    everybody = eligible(rng, values, m, int(rng.integers(1, 400)))
    by_value = np.array([rng.multinomial(n, np.full(2**depth, 0.5**depth)) for n in everybody])
    counts = by_value.T.copy()  # rows of regions, as in a release: for others the kernel is compiled anew
    family = choose_family(counts, m)
    assert (family.signatures.sum(axis=1) == m).all()
    assert len(np.unique(family.signatures, axis=0)) == len(family.signatures)
    left = counts
    for groups in family.by_region:
        left = left - groups.T @ family.signatures
        assert left.min(initial=0) >= 0
        left = left if len(left) == 1 else left[0::2] + left[1::2]
    rest = everybody - family.groups().number @ family.signatures
    assert (rest == left[0]).all()
    assert is_eligible(rest, m)


def test_values_of_one_region_share_a_signature():
    # Values 0 to 2 are those of the one half of the people, 3 to 5 those of the other.
    family = choose_family(np.array([[50, 50, 50, 0, 0, 0], [0, 0, 0, 50, 50, 50]]), 3)
    assert {tuple(np.flatnonzero(each)) for each in family.signatures} == {(0, 1, 2), (3, 4, 5)}
    assert [groups.sum() for groups in family.by_region] == [100, 0]


def test_groups_without_a_value_that_nearly_everybody_could_have_share_one_bucket():
    # Of 126 people 39 have value 0, so that 3 of the 42 groups do without it.
    family = choose_family(np.array([[39, 13, 7, 23, 18, 5, 21]]), 3)
    without = family.groups().number[~family.signatures[:, 0]]
    assert without.tolist() == [3]


def test_exchanging_two_values_of_a_bucket_leaves_all_counts_by_region_as_they_are():
    # What decides on the release is the same for both tables, so nothing published tells them apart.
    rng = np.random.default_rng(3)
    regions = Regions(rng.integers(0, 4, 2000), 4)
    value = rng.choice(8, 2000, p=[0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.05, 0.05])
    counts = regions.count_by(value, 8)
    family = choose_family(counts.T, 3)
    signatures = Signatures.of(family.signatures)
    plan = Plan(
        signatures=signatures,
        moved=family.groups().number[signatures.bucket],
        separated=Demand(NOBODY, NOBODY, NOBODY),
        counterfeits=np.zeros(len(signatures.value), np.int64),
        held_back=np.zeros(8, np.int64),
    )
    regional = next(family.regional(regions, counts, plan))
    plan = replace(plan, moved=family.by_region[0].sum(axis=1)[signatures.bucket])
    bucket = execute(plan, arriving(value, 8), rng.permutation(2000).astype(np.uint64), [regional])
    assert (bucket != HELD_BACK).mean() > 0.8
    for row, signature in enumerate(family.signatures):
        one, other = np.flatnonzero(signature)[:2]
        exchanged = value.copy()
        exchanged[(bucket == row) & (value == one)] = other
        exchanged[(bucket == row) & (value == other)] = one
        assert (regions.count_by(exchanged, 8) == counts).all()


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(2, 4), st.integers(0, 3))
def test_everybody_of_a_first_release_gets_into_the_bucket_that_was_planned(seed, m, depth):
    rng = np.random.default_rng(seed)
    values = m + 3
    value = rng.permutation(np.repeat(np.arange(values), eligible(rng, values, m, 300)))
    regions = Regions(rng.integers(0, 2**depth, len(value)), 2**depth)
    division = arriving(value, values)
    counts = regions.count_by(value, values)
    family = choose_family(counts.T, m)
    plan = make_plan(division.counts, m, "refuse", rng, first=lambda _: family.groups())
    ranks = rng.permutation(len(value)).astype(np.uint64)
    bucket = execute(plan, division, ranks, family.regional(regions, counts, plan))
    assert (received_by(plan, bucket, value) == plan.moved).all()


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(2, 4), st.integers(0, 3))
def test_a_first_release_that_is_not_eligible_has_the_groups_of_regions_too(seed, m, depth):
    """As many people as can live where the groups of their bucket do; nobody is lost or doubled."""
    rng = np.random.default_rng(seed)
    values = m + 3
    people = eligible(rng, values, m, 300)
    people[0] = people.sum() // (m - 1) + rng.integers(1, 100)
    value = rng.permutation(np.repeat(np.arange(values), people))
    regions = Regions(rng.integers(0, 2**depth, len(value)), 2**depth)
    division, initial = arriving(value, values), InitialGroups(regions, regions.count_by(value, values), m)
    plan = make_plan(division.counts, m, "counterfeit", rng, first=initial)
    ranks = rng.permutation(len(value)).astype(np.uint64)
    regional = list(initial.regional(plan))
    assert sum(one.demand.people.sum() for one in regional) > 0.5 * plan.moved.sum()
    bucket = execute(plan, division, ranks, regional)
    is_in = bucket != HELD_BACK
    assert (received_by(plan, bucket[is_in], value[is_in]) == plan.moved).all()
    without = make_plan(division.counts, m, "counterfeit", np.random.default_rng(seed))
    assert plan.counterfeits.sum() == without.counterfeits.sum()
    assert plan.held_back.sum() == without.held_back.sum() == (bucket == HELD_BACK).sum()


def survivors_and_arrivals(rng, values=6):
    """Two buckets, and people who arrive."""
    value = rng.permutation(np.repeat(np.arange(values), 200))
    signatures = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], bool)
    stays = rng.random(len(value)) < 0.6
    bucket = np.where(stays, value // 3, UNDECIDED)
    bound = np.bincount(bucket[stays] * values + value[stays], minlength=12).reshape(2, values)
    counts = counted(signatures, bound, np.bincount(value[~stays], minlength=values))
    division = Division(bucket, value, np.zeros(len(value), bool), counts)
    return value, division


@pytest.mark.parametrize("policy", ["refuse", "wait"])
def test_everybody_of_a_later_release_gets_into_the_bucket_that_was_planned(policy):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        value, division = survivors_and_arrivals(rng)
        plan = make_plan(division.counts, 3, policy, rng)
        cells = find_cells(rng.random((len(value), 2)))
        assert cells.leaves.number > 4
        regional = from_the_neighbourhood(division, plan, cells, rng)
        bucket = execute(plan, division, rng.permutation(len(value)).astype(np.uint64), regional)
        arrived = (division.bucket == UNDECIDED) & (bucket != HELD_BACK)
        assert (received_by(plan, bucket[arrived], value[arrived]) == plan.moved).all()


def test_every_node_of_the_tree_says_how_far_apart_its_people_live():
    """1,000 people: cells of about 80 and more, three cuts deep."""
    shares = np.random.default_rng(9).random((1000, 2)) * [1, 0.3]
    cells = find_cells(shares)
    assert [len(level) for level in cells.extent] == [2, 4, 8]
    for depth, level in enumerate(cells.extent, start=1):
        node = cells.leaves.of_person >> (3 - depth)
        assert level == pytest.approx([shares[node == n].std(axis=0).sum() for n in range(2**depth)])


def halves(people, left):
    """A tree of two cells: so many people in the left one, all others in the right one."""
    return Cells(Regions(np.repeat([0, 1], [left, people - left]), 2), [np.ones(2)])


@pytest.mark.parametrize(("by_lot", "fewest", "most"), [(10**9, 20, 20), (2, 12, 18), (1, 4, 16)])
def test_people_come_to_the_bucket_that_lacks_their_value_where_they_live(monkeypatch, by_lot, fewest, most):
    # Two buckets of two values. The first has people on the left, the second on the right. Ten people with
    # value 0 have left each of them, and ten arrive on either side.
    cells = halves(60, 30)
    bucket = np.repeat([0, UNDECIDED, 1, UNDECIDED], [20, 10, 20, 10])
    value = np.concatenate([np.repeat([0, 1, 0], [5, 15, 10]), np.repeat([0, 1, 0], [5, 15, 10])])
    bound = np.array([[5, 15], [5, 15]])
    counts = counted(np.ones((2, 2), bool), bound, np.array([20, 0]))
    plan = make_plan(counts, 2, "counterfeit", np.random.default_rng(1))
    assert as_tables(plan).moved.tolist() == [[10, 0], [10, 0]]
    division = Division(bucket, value, np.zeros(60, bool), counts)
    monkeypatch.setattr(neighbours, "BY_LOT", by_lot)
    (regional,) = from_the_neighbourhood(division, plan, cells, np.random.default_rng(2))
    ranks = np.random.default_rng(3).permutation(60).astype(np.uint64)
    placed = execute(plan, division, ranks, [regional])
    right = (placed[20:30] == 0).sum() + (placed[50:] == 1).sum()
    assert fewest <= right <= most


def test_which_values_stay_where_does_not_decide_where_a_bucket_is_at_home():
    # Value 0 stays on the left and value 1 on the right: half of each value's people belong on either side.
    cells = halves(80, 40)
    bucket = np.concatenate([np.repeat([0, UNDECIDED], [20, 20])] * 2)
    value = np.concatenate([np.repeat([0, 0, 1], [20, 10, 10]), np.repeat([1, 0, 1], [20, 10, 10])])
    counts = counted(np.ones((1, 2), bool), np.array([[20, 20]]), np.array([20, 20]))
    plan = make_plan(counts, 2, "refuse", np.random.default_rng(1))
    division = Division(bucket, value, np.zeros(80, bool), counts)
    present, wanted = _present_and_wanted(division, plan, np.flatnonzero(plan.moved), cells.leaves)
    assert present.tolist() == [[20, 0], [0, 20]]
    assert wanted == pytest.approx(np.full((2, 2), 20))


def squared_differences(present, wanted, spread):
    """The sum over all nodes of the tree, in plain Python."""
    total, leaves = 0.0, len(present)
    for weights in spread:
        size = leaves // len(weights)
        for node, weight in enumerate(weights):
            part = slice(node * size, (node + 1) * size)
            total += weight * (sum(wanted[part]) - sum(present[part])) ** 2
    return total


def test_worth_is_by_how_much_squared_differences_fall():
    rng = np.random.default_rng(4)
    present, wanted = rng.integers(0, 9, (3, 8)).astype(float), rng.random((3, 8)) * 9
    spread = [rng.random(2**level) for level in (1, 2, 3)]
    found = worth(present, wanted, spread)
    for row in range(3):
        before = squared_differences(present[row], wanted[row], spread)
        for cell in range(8):
            more = present[row].copy()
            more[cell] += 1
            assert found[row, cell] == pytest.approx(before - squared_differences(more, wanted[row], spread))


def test_people_of_a_bucket_live_near_one_another_after_many_have_come_and_gone():
    # Values 1 and 2 are of people on the left, 3 and 4 of people on the right, and 0 of people anywhere.
    # Those with value 0 belong to the bucket of whom they live near to; without a choice they come to either.
    signatures = np.array([[1, 1, 1, 0, 0], [1, 0, 0, 1, 1]], bool)
    value = np.repeat([0, 1, 2, 3, 4], [1200, 600, 600, 600, 600])
    apart = {}
    for chosen in (True, False):
        rng = np.random.default_rng(5)
        at = np.where(value == 0, rng.random(3600), rng.random(3600) / 2 + (value > 2) / 2)
        bucket = np.where(value == 0, rng.permutation(np.repeat([0, 1], 1800)), value > 2).astype(np.int64)
        for _ in range(8):
            bucket[rng.random(3600) < 0.3] = UNDECIDED
            stays = bucket != UNDECIDED
            bound = np.bincount(bucket[stays] * 5 + value[stays], minlength=10).reshape(2, 5)
            counts = counted(signatures, bound, np.bincount(value[~stays], minlength=5))
            plan = make_plan(counts, 3, "counterfeit", rng)
            division = Division(bucket, value, np.zeros(3600, bool), counts)
            cells = find_cells(at[:, None])
            regional = from_the_neighbourhood(division, plan, cells, rng) if chosen else []
            bucket = execute(plan, division, rng.permutation(3600).astype(np.uint64), regional)
        left, right = (at[(bucket == b) & (value == 0)].mean() for b in (0, 1))
        apart[chosen] = right - left
    assert apart[True] > 0.2
    assert abs(apart[False]) < 0.1


def test_neighbours_live_in_one_region_and_regions_are_of_one_size():
    shares = np.random.default_rng(7).random((4000, 3))
    region = cut(shares, 4)
    assert np.bincount(region, minlength=16).min() > 200
    spread = np.mean([shares[region == r].std(axis=0).mean() for r in range(16)])
    assert spread < 0.7 * shares.std(axis=0).mean()


def test_people_alike_live_in_one_region():
    shares = np.repeat(np.random.default_rng(8).random((10, 2)), 50, axis=0)
    region = cut(shares, 5)
    assert all(len(set(region[i * 50 : (i + 1) * 50])) == 1 for i in range(10))
    assert (cut(np.zeros((30, 2)), 3) == 0).all()


def test_few_people_live_in_one_region_and_sensitive_values_move_nobody():
    shares = np.random.default_rng(9).random((4000, 2))
    assert find_regions(shares, np.full(50, 80), 10).number == 2
    assert find_regions(shares, np.full(500, 8), 10).number == 1
    few = np.full(4, 1000)
    found = find_regions(shares, few, 4)
    assert found.number == 8
    assert (found.of_person == find_regions(shares, few[::-1], 4).of_person).all()


def by_age(snapshot, number):
    """The n-th snapshot with values that mostly follow from age; from the third on, one in 20 is another."""
    person = np.array([int(name[1:]) for name in snapshot["patient"]])
    value = np.where(person % 3 > 0, (snapshot["age"].to_numpy() - 20) * len(VALUES) // 70, person % 8)
    changed = (number >= 3) & (person % 20 == 0)
    return snapshot.with_columns(disease=pl.Series(np.array(VALUES)[(value + 3 * changed) % len(VALUES)]))


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize(
    ("effort", "published_as"), [("fast", "generalization"), ("best", "generalization"), ("best", "anatomy")]
)
@pytest.mark.parametrize("policy", ["wait", "counterfeit"])
def test_releases_by_region_keep_every_promise_under_the_attack(effort, published_as, policy):
    # Several regions, people who come, go and return, changed values, and nobody new in the last release.
    series = enumerate(snapshots(seed=2, count=1_500, releases=4), start=1)
    tables = [by_age(table, number) for number, table in series]
    tables.append(tables[-1].head(1_200))
    declared = contract(m=3, on_ineligible=policy, effort=effort, format=published_as)
    released = publish(tables, declared)
    late = [len(table) - len(one.linkage) for table, one in zip(tables, released, strict=True)]
    for found in attack_each(released, declared, held_back=late):
        assert broken(found) == set()
    assert find_regions(np.zeros((1_500, 1)), np.full(8, 187), 3).number == 4


def halved(places, depth):
    """What `cut` says, in numpy: each node's people and which of them live beyond its middle."""
    region, nodes = np.zeros(len(places), np.int64), [np.arange(len(places))]
    for _ in range(depth):
        halves = []
        for rows in nodes:
            right = np.zeros(len(rows), bool)
            spread = places[rows].std(axis=0) if len(rows) else np.zeros(1)
            if spread.any():
                along = places[rows, np.argmax(spread)]
                middle = np.sort(along)[len(along) // 2]
                above, from_it = along > middle, along >= middle
                nearer = abs(above.mean() - 0.5) <= abs(from_it.mean() - 0.5)
                right = above if (nearer and above.any()) or from_it.all() else from_it
            region[rows] = 2 * region[rows] + right
            halves += [rows[~right], rows[right]]
        nodes = halves
    return region


@settings(max_examples=80)
@given(st.integers(0, 2**32), st.integers(0, 200), st.integers(1, 4), st.integers(0, 5))
def test_people_are_cut_where_numpy_would_cut_them(seed, people, attributes, depth):
    rng = np.random.default_rng(seed)
    steps = int(rng.integers(1, 40))
    places = np.asfortranarray(rng.integers(0, steps, (people, attributes)) / steps)
    places[:, -1] = np.where(rng.random() < 0.3, 1 - places[:, 0], places[:, -1])  # as wide as the first one
    assert (cut(places, depth) == halved(places, depth)).all()
