"""Plans on counts: balanced, every cut safe, nobody lost, no bucket of counterfeits alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.e_equivalence.plan import Cuts, inserted_tuples, make_safe_plan
from republish.anonymize.errors import NotEligible
from tests.plans import as_tables, counted


@st.composite
def situations(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values, buckets = draw(st.integers(2, 7)), draw(st.integers(0, 6))
    signatures = np.unique(rng.random((buckets, values)) < 0.5, axis=0)
    signatures = signatures[signatures.sum(axis=1) >= 2]
    bound = rng.integers(0, 6, signatures.shape) * signatures * (rng.random((len(signatures), 1)) < 0.8)
    connected = (rng.random(len(signatures)) < 0.6) & (bound.sum(axis=1) > 0)
    weight = rng.integers(0, 9, len(signatures)) * connected
    free = rng.integers(0, draw(st.sampled_from([0, 1, 5, 40])) + 1, values)
    return counted(signatures, bound, free), Cuts(weight, connected), int(rng.integers(2, 12))


def plan_of(counts, cuts, e, m=2, on_ineligible="counterfeit"):
    return make_safe_plan(counts, cuts, m, e, on_ineligible, lambda: np.random.default_rng(0))


@given(situations())
@settings(max_examples=200)
def test_every_plan_is_balanced_and_safe_and_loses_nobody(situation):
    counts, cuts, e = situation
    safe = plan_of(counts, cuts, e)
    plan, counts = as_tables(safe), as_tables(counts)
    tuples = plan.moved + plan.counterfeits
    tuples[: len(counts.bound)] += counts.bound
    for signature, held in zip(plan.signatures, tuples, strict=True):
        assert len(set(held[signature])) <= 1
        assert not held[~signature].any()

    grown = cuts.of_first(len(plan.signatures))
    inserted = inserted_tuples(safe)
    open_cuts = (grown.weight + inserted)[grown.connected | (inserted > 0)]
    assert (open_cuts > 2 * (e - 1)).all()

    assert (plan.moved.sum(axis=0) == counts.free).all()
    people = plan.moved.sum(axis=1)
    people[: len(counts.bound)] += counts.bound.sum(axis=1)
    assert not plan.counterfeits[people == 0].any()
    assert (tuples.sum(axis=1)[len(counts.bound) :] > 0).all()


@given(situations())
@settings(max_examples=100)
def test_no_signature_less_would_do_where_nobody_is_inserted(situation):
    counts, cuts, e = situation
    counts = replace(counts, free=np.zeros_like(counts.free))
    safe = plan_of(counts, cuts, e)
    plan = as_tables(safe)
    whole = plan.counterfeits.min(axis=1, where=plan.signatures, initial=99)
    one_less = cuts.weight + inserted_tuples(safe) - plan.signatures.sum(axis=1)
    assert (one_less[whole > 0] <= 2 * (e - 1)).all()


def test_real_people_fill_whole_signatures_before_counterfeits_do():
    counts = counted(np.array([[True, True]]), np.array([[1, 1]]), np.array([5, 5]))
    plan = plan_of(counts, Cuts(np.array([1]), np.array([True])), e=4)
    assert plan.moved.tolist() == [5, 5]
    assert not plan.counterfeits.any()


@pytest.mark.parametrize(
    ("free", "e", "fewest"),
    [
        # Two buckets of five tuples and more, with the third value in both: 6 tuples each.
        ([1, 1, 5], 3, 5),
        # Two buckets of three tuples and more, with the first value in both: 5 pairs.
        ([5, 2, 0, 0, 1], 2, 2),
    ],
)
def test_people_of_the_batch_fill_what_new_buckets_lack_before_counterfeits_do(free, e, fewest):
    counts = counted(np.zeros((0, len(free)), bool), np.zeros((0, len(free)), int), np.array(free))
    plan = plan_of(counts, Cuts(np.empty(0, int), np.empty(0, bool)), e)
    assert plan.counterfeits.sum() == fewest


def test_a_bucket_that_was_planned_for_nobody_is_none():
    counts = counted(np.zeros((0, 3), bool), np.zeros((0, 3), int), np.array([4, 3, 4]))
    plan = plan_of(counts, Cuts(np.empty(0, int), np.empty(0, bool)), e=3)
    assert inserted_tuples(plan).min() > 0


def test_a_bucket_nothing_happens_in_is_left_alone():
    counts = counted(np.array([[True, True]]), np.array([[2, 2]]), np.array([0, 0]))
    plan = plan_of(counts, Cuts(np.array([0]), np.array([False])), e=5)
    assert not inserted_tuples(plan).any()


def test_an_ineligible_batch_is_refused():
    counts = counted(np.array([[True, True]]), np.array([[1, 1]]), np.array([5, 0]))
    with pytest.raises(NotEligible, match="not 2-eligible"):
        plan_of(counts, Cuts(np.array([0]), np.array([False])), e=2, on_ineligible="refuse")
