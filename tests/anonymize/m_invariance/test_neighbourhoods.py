"""New groups of several columns: signatures of combinations whose people are neighbours."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.m_invariance import neighbourhoods as module
from republish.anonymize.m_invariance.combinations import Combinations
from republish.anonymize.m_invariance.neighbourhoods import choose_neighbours

SQUARE = Combinations(np.array([[job, 6 + (job + wage) % 6] for wage in range(6) for job in range(6)]), 12)
"""All combinations of six jobs and six wages, six of which differ one after the other."""


def chosen(arrivals, m, rest=None, known=None, seed=0, combinations=SQUARE):
    """The signatures with groups, their groups, and people by signature, combination and cell."""
    rest = arrivals.sum(axis=1) if rest is None else rest
    known = Signatures.none(len(arrivals)) if known is None else known
    found = choose_neighbours(rest, arrivals, combinations, m, known, np.random.default_rng(seed))
    people = np.zeros((len(found.signatures), *arrivals.shape), np.int64)
    combination, cell = np.divmod(found.demand.queue, arrivals.shape[1])
    np.add.at(people, (found.demand.bucket, combination, cell), found.demand.people)
    return found, people


@given(st.data())
def test_groups_are_whole_and_their_people_are_there_and_whoever_is_left_is_eligible(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    m, cells = data.draw(st.integers(2, 4)), 2 ** data.draw(st.integers(0, 4))
    columns = data.draw(st.integers(2, 3))
    part = np.unique(rng.integers(0, 7, (30, columns)), axis=0) + 7 * np.arange(columns)
    combinations = Combinations(part, 7 * columns)
    arrivals = rng.poisson(data.draw(st.sampled_from([0.05, 0.5, 3])), (len(part), cells))
    rest = rng.binomial(arrivals.sum(axis=1), data.draw(st.sampled_from([0.5, 1])))
    known = Signatures.of(np.eye(len(part), dtype=bool)[:3])
    found, people = chosen(arrivals, m, rest, known, combinations=combinations)

    assert (people.sum(axis=0) <= arrivals).all(), "people come from where they live"
    inside = found.signatures.table()
    assert (people.sum(axis=2) == inside * found.groups[:, None]).all(), "a group has each combination once"
    assert (found.signatures.value[:3] == known.value).all()
    for row in np.flatnonzero(found.groups):
        signature = part[inside[row]]
        assert signature.size == m * columns == len(np.unique(signature)), "they differ in every column"
    assert len(np.unique(inside, axis=0)) == len(found.signatures), "no signature has two buckets"
    left = rest - people.sum(axis=(0, 2))
    assert left.min(initial=0) >= 0
    if combinations.are_eligible(rest, m):
        assert combinations.are_eligible(left, m)


def test_combinations_of_one_place_form_a_signature_and_not_those_that_are_as_frequent():
    arrivals = np.zeros((36, 4), np.int64)
    town = np.arange(36) % 6 // 3  # by job: three jobs of each wage live in the first half
    arrivals[np.arange(36), 2 * town] = 9
    _, people = chosen(arrivals, 3)
    assert people.sum() == arrivals.sum()
    assert (np.count_nonzero(people.any(axis=1), axis=1) == 1).all(), "all people of a bucket live together"


@given(st.integers(0, 100))
def test_a_bucket_has_equally_many_of_each_combination_wherever_there_are_enough(seed):
    """So people of one cell could be exchanged for one another, and the same signatures would be chosen."""
    rng = np.random.default_rng(seed)
    arrivals = np.repeat(rng.integers(0, 5, (6, 8)), 6, axis=0)  # six that differ live in the same places
    _, people = chosen(arrivals, 3, seed=seed)
    for bucket in people:
        its = bucket[bucket.any(axis=1)]
        assert (its == its[0]).all()


def test_people_of_a_frequent_value_are_not_left_alone():
    """The rarer values find partners among themselves, too, if these are not needed elsewhere."""
    arrivals = np.zeros((36, 2), np.int64)
    arrivals[np.arange(36) % 6 == 0] = 7  # a third of the people have the first job
    arrivals[np.arange(36) % 6 != 0] = [[2, 1], [1, 2], [4, 4], [2, 4], [4, 4]] * 6
    assert SQUARE.excess(arrivals.sum(axis=1), 3).max() <= 0
    _, people = chosen(arrivals, 3)
    assert people.sum() > 0.8 * arrivals.sum()


def test_lots_say_which_of_the_inserted_people_are_left_over(monkeypatch):
    monkeypatch.setattr(module, "CONSIDERED", 3)
    arrivals = np.full((36, 2), 5)
    found = [chosen(arrivals, 3, np.full(36, 5), seed=seed)[1].sum(axis=0) for seed in (1, 2)]
    assert all((people.sum(axis=1) == 5).all() for people in found)
    assert (found[0] != found[1]).any()
