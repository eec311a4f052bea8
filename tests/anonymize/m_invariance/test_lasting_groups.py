"""Groups that stay until somebody leaves, but for a share of those with the longest intervals (`regroup`)."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from republish.anonymize.kernels.split import EMPTY
from republish.anonymize.m_invariance.lasting_groups import APART, TOGETHER, lasting, together
from republish.anonymize.m_invariance.parameters import parameter_changes
from republish.anonymize.principle.state import State
from republish.anonymize.principles import principle_of
from tests.anonymize.attack.attack_series import attack_each, contract, publish, snapshots
from tests.anonymize.m_invariance.test_kept_groups import (
    candidates,
    people,
    sets,
    small_updates,
    untouched,
    updated,
)


def groups(candidate):
    """The people of each group of a release."""
    return {group for some in sets(candidate, "group_id").values() for group in some}


def forged(candidate):
    """The groups with counterfeits."""
    return set(candidate.published["counterfeits"]["group_id"])


def whole(candidate):
    """The people of each group without counterfeits."""
    rows = candidate.linkage.filter(~pl.col("group_id").is_in(forged(candidate)))
    return {frozenset(some["pseudonym"]) for _, some in rows.group_by("group_id")}


def tables(seed=0, releases=6, count=400, moved=30):
    rng = np.random.default_rng(seed)
    made = [people(rng, 0, count)]
    for number in range(1, releases):
        made.append(updated(rng, made[-1], 1000 * number, moved))
    return made


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("published_as", ["generalization", "anatomy"])
@pytest.mark.parametrize("seed", range(3))
def test_a_group_stays_until_somebody_leaves(seed, published_as):
    stayed = 0
    for before, now in pairwise(candidates(tables(seed), regroup=0, format=published_as)):
        present = set(now.linkage["pseudonym"])
        expected = {group for group in whole(before) if group <= present}
        assert expected <= groups(now)
        stayed += len(expected)
    assert stayed > 200


def test_of_groups_that_could_stay_the_longest_are_made_anew():
    made = candidates(tables(), regroup=0.25)
    for before, now in pairwise(made):
        present = set(now.linkage["pseudonym"])
        could = {group for group in whole(before) if group <= present}
        stayed = could & groups(now)
        # A group may be made again just as it was.
        assert 0.75 * len(could) <= len(stayed) < len(could)


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("regroup", [0, 0.1, 0.5])
def test_an_untouched_bucket_keeps_its_groups(regroup):
    compared = 0
    for before, now in pairwise(candidates(small_updates(), regroup=regroup)):
        with_counterfeits = set(before.buckets.filter(pl.col("counterfeits") > 0)["bucket_id"])
        for bucket in set(untouched(before, now)) - with_counterfeits:
            assert sets(before, "group_id")[bucket] == sets(now, "group_id")[bucket]
            compared += 1
    assert compared > 10


def test_the_same_table_again_is_published_the_same():
    first, second = candidates([tables()[0]] * 2, regroup=0.3)
    for name, table in first.published.items():
        assert table.equals(second.published[name])


def test_with_one_nothing_is_remembered_and_every_group_is_made_anew():
    made = candidates(tables(releases=3), regroup=1)
    assert all(TOGETHER not in one.state.tables for one in made)
    for before, now in pairwise(made):
        changed = [one for one in sets(now, "group_id") if one not in untouched(before, now)]
        stayed = [sets(before, "group_id").get(one, set()) & sets(now, "group_id")[one] for one in changed]
        assert sum(map(len, stayed)) < len(groups(now)) / 3  # by chance


def test_a_quarter_is_made_anew_unless_a_contract_says_otherwise():
    usual, named = (candidates(tables(releases=3), **given) for given in ({}, {"regroup": 0.25}))
    for mine, other in zip(usual, named, strict=True):
        assert all(mine.published[name].equals(other.published[name]) for name in mine.published)


def test_where_the_last_release_remembered_nothing_groups_are_made_anew():
    def forgets(state):
        return State({name: table for name, table in state.tables.items() if name != TOGETHER})

    first, second = candidates(tables(releases=2), forgets, regroup=0)
    usual, other = candidates(tables(releases=2), regroup=1)
    assert groups(first) == groups(usual)
    assert groups(second) == groups(other)


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("seed", range(4))
def test_what_is_promised_holds_as_before(seed):
    """People come and leave, and come back; every attack on every release finds what is promised."""
    declared = contract(m=3, regroup=0.1)
    series = publish(snapshots(seed=seed, releases=5), declared)
    for found in attack_each(series, declared):
        assert found.findings["holds"].all()


def kept(names, bucket, value, before, places=None, forged=0, size=2, regroup=0.0):
    """Which groups stay: names of a letter each, of which the last so many are counterfeits'."""
    shares = np.zeros((len(names), 1)) if places is None else np.array(places)[:, None]
    counterfeit = np.arange(len(names)) >= len(names) - forged
    sizes = np.full(max(bucket) + 1, size)
    named = pl.Series("pseudonym", [one.encode() for one in names])
    found = lasting(named, np.array(bucket), np.array(value), shares, counterfeit, sizes, before, regroup)
    return found.tolist()


def noted(names, group, places=None):
    shares = np.zeros((len(names), 1)) if places is None else np.array(places)[:, None]
    return together(pl.Series("pseudonym", [one.encode() for one in names]), np.array(group), shares)


def test_a_group_whose_values_became_alike_does_not_stay():
    """A changed value that is still in the signature: two people of a group have the same one."""
    before = noted("abcd", [1, 1, 2, 2])
    assert kept("abcd", [0] * 4, [0, 1, 0, 1], before) == [0, 0, 1, 1]
    assert kept("abcd", [0] * 4, [0, 0, 0, 1], before) == [APART, APART, 0, 0]
    assert kept("abcd", [0, 1, 0, 0], [0, 1, 0, 1], before) == [APART, APART, 0, 0]
    assert kept("abc", [0] * 3, [0, 1, 0], before) == [0, 0, APART]


@pytest.mark.parametrize("seed", range(5))
def test_which_groups_stay_says_nothing_of_values(seed):
    """Exchange two values of a bucket, for everybody in it: the same groups stay."""
    rng = np.random.default_rng(seed)
    names = pl.Series("pseudonym", [b"%d" % n for n in range(120)])
    bucket, value = np.repeat([0, 1], 60), np.tile(np.arange(3), 40)
    places = rng.random((120, 2))
    before = together(names, np.repeat(np.arange(40), 3), places)
    here = np.sort(rng.permutation(120)[:110])
    value[rng.integers(0, 120, 5)] = 0  # some changed
    exchanged = np.where(bucket == 1, np.array([1, 0, 2])[value], value)
    own = (places[here], np.zeros(110, bool), np.array([3, 3]), before, 0.3)
    found = [
        lasting(names.gather(here), bucket[here], one[here], *own).tolist() for one in (value, exchanged)
    ]
    assert found[0] == found[1]
    assert APART in found[0]
    assert max(found[0]) > 10


def test_of_a_bucket_with_counterfeits_only_so_many_groups_stay_that_the_others_need_no_more_of_them():
    """Three groups of two values; one person left. Without the bound one person would be alone with two."""
    places = [0.0, 0.1, 0.5, 0.7, 0.8, 0.8]
    before = noted("abcdef", [1, 1, 2, 2, 3, 3], places)
    found = kept("abcdeX", [0] * 6, [0, 1, 0, 1, 0, 1], before, places, forged=1)
    assert found == [0, 0, 1, 1, APART, APART]
    # Two more counterfeits: with two groups for three of them, one would have two.
    places = [*places, 0.8, 0.8]
    found = kept("abcdeXYZ", [0] * 8, [0, 1, 0, 1, 0, 1, 0, 1], before, places, forged=3)
    assert found == [0, 0, *[APART] * 6]


def test_an_untouched_bucket_keeps_its_counterfeits_in_their_groups():
    places, value = [0.0, 0.1, 0.5, 0.7, EMPTY, EMPTY], [0, 1, 0, 1, 0, 1]
    before = noted("abcdXY", [1, 1, 2, 3, 3, 2], places)
    own = {"forged": 2, "regroup": 1.0}
    assert kept("abcdXY", [0] * 6, value, before, places, **own) == [0, 0, 1, 2, 2, 1]
    longer = [0.0, 0.2, *places[2:]]
    assert set(kept("abcdXY", [0] * 6, value, before, longer, **own)) == {APART}
    renewed = kept("abcdZY", [0] * 6, value, before, places, forged=2)
    assert renewed == [0, 0, *[APART] * 4]


def test_who_is_forgotten_is_missed_in_their_group():
    """Nothing that is kept has them; the others of their group come to other people."""

    def forgets(state):
        forgotten = state.tables[TOGETHER]["pseudonym"][0]
        kept = {
            name: table.filter(pl.col("pseudonym") != forgotten) if "pseudonym" in table.columns else table
            for name, table in state.tables.items()
        }
        return State(kept)

    series = tables(releases=2)
    first, second = candidates(series, forgets, regroup=0)
    (person,) = first.state.tables[TOGETHER]["pseudonym"].head(1)
    (group,) = (group for group in groups(first) if person in group)
    assert group - {person} not in groups(second)
    (sizes,) = {frozenset(map(len, made)) for made in [whole(second)]}
    assert min(sizes) >= 3


def test_nobody_is_published_and_nothing_stays():
    none = pl.Series("pseudonym", [], dtype=pl.Binary)
    empty = np.empty(0, np.int64)
    before = together(none, empty, np.empty((0, 2)))
    own = (np.empty((0, 2)), np.empty(0, bool), empty, before, 0.5)
    assert lasting(none, empty, empty, *own).tolist() == []


def test_another_share_is_a_safe_change():
    before, now = (contract(m=3, **given).principle for given in ({"regroup": 1}, {"regroup": 0.1}))
    (change,) = parameter_changes(before, now)
    assert (change.name, change.says, change.verdict) == ("regroup", "1 -> 0.1", "safe")
    assert principle_of(contract(m=3, regroup=0.1)).promise(now) == principle_of(contract(m=3)).promise(
        before
    )
