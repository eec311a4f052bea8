"""Signatures as places, against the same in tables."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.buckets.counts import Counts
from republish.anonymize.buckets.plan import make_plan
from republish.anonymize.buckets.signatures import Signatures


@st.composite
def tables(draw):
    """bool[B, V], every bucket with a value, and int[B, V] that is 0 elsewhere."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = draw(st.integers(1, 8))
    table = rng.random((draw(st.integers(0, 6)), values)) < 0.4
    table[np.arange(len(table)), rng.integers(0, values, len(table))] = True
    return table, rng.integers(0, 9, table.shape) * table, rng


@given(tables())
def test_places_say_what_the_table_says(case):
    """Sums and the most; which places there are; some buckets in another order, and new ones below."""
    table, people, rng = case
    places, by_place = Signatures.of(table), people[table]
    assert len(places) == len(table)
    assert (places.table() == table).all()
    assert (places.table(by_place) == people).all()
    assert (places.sizes == table.sum(axis=1)).all()
    assert (places.by_bucket(by_place) == people.sum(axis=1)).all()
    assert (places.by_value(by_place) == people.sum(axis=0)).all()
    assert (places.most(by_place) == people.max(axis=1, initial=0)).all()

    bucket, value = (part.ravel() for part in np.indices(table.shape))
    found = places.find(bucket, value)
    assert ((found >= 0) == table.ravel()).all()
    assert (places.bucket[found[found >= 0]] == bucket[found >= 0]).all()
    assert (places.value[found[found >= 0]] == value[found >= 0]).all()

    chosen = rng.integers(0, len(table), 5) if len(table) else np.empty(0, np.int64)
    some, where = places.only(chosen)
    assert (some.table() == table[chosen]).all()
    assert (some.table(people[table][where]) == people[chosen]).all()
    grown = places.with_new([np.flatnonzero(row)[::-1] for row in table[chosen]])
    assert (grown.table() == np.vstack([table, table[chosen]])).all()


@pytest.mark.parametrize("values", [2_000, 20_000])
def test_memory_goes_with_the_people_and_not_with_buckets_times_values(values):
    free = np.full(values, 10)
    nobody = Signatures.none(values)
    tracemalloc.start()
    try:
        counts = Counts(nobody, np.empty(0, np.int64), free)
        plan = make_plan(counts, 10, "refuse", np.random.default_rng(1), largest_first=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(plan.signatures) == values // 10
    assert peak < 2_000 * values
