import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anonymize.buckets.counts import is_eligible
from anonymize.buckets.plan import assign_counts, assign_to_existing
from anonymize.buckets.signatures import Signatures


@st.composite
def batches_and_buckets(draw):
    values = draw(st.integers(2, 6))
    m = draw(st.integers(2, values))
    rest = np.array(draw(st.lists(st.integers(0, 12), min_size=values, max_size=values)))
    rest = np.minimum(rest, rest.sum() // m) if rest.any() else rest
    while not is_eligible(rest, m):
        rest = np.minimum(rest, rest.sum() // m)
    rows = draw(st.lists(st.lists(st.booleans(), min_size=values, max_size=values), max_size=5))
    signatures = np.array(rows, bool).reshape(-1, values)
    return rest, m, signatures[signatures.sum(axis=1) >= 1]


def assigned_as_table(rest, m, table):
    signatures = Signatures.of(table)
    return signatures.table(assign_to_existing(rest, m, signatures))


@given(batches_and_buckets())
def test_what_existing_buckets_leave_is_eligible_and_they_stay_balanced(case):
    rest, m, signatures = case
    assigned = assigned_as_table(rest, m, signatures)
    left = rest - assigned.sum(axis=0)
    assert (left >= 0).all()
    assert is_eligible(left, m)
    for signature, tuples in zip(signatures, assigned, strict=True):
        assert len(set(tuples[signature])) <= 1
        assert not tuples[~signature].any()
        assert signature.sum() >= m or not tuples.any()


@given(batches_and_buckets())
def test_no_existing_bucket_could_take_one_more_of_each_of_its_values(case):
    rest, m, signatures = case
    left = rest - assigned_as_table(rest, m, signatures).sum(axis=0)
    for signature in signatures:
        fits = signature.sum() >= m and (left >= signature).all()
        assert not (fits and left.any() and is_eligible(left - signature, m))


def test_a_batch_like_an_earlier_one_opens_fewer_buckets_than_figure_3_alone():
    rng = np.random.default_rng(1)
    frequency = 1 / (np.arange(20) + 5)
    opened = {True: 0, False: 0}
    for reuse in opened:
        signatures = Signatures.none(20)
        for _ in range(20):
            batch = rng.multinomial(400, frequency / frequency.sum())
            taken = signatures.by_value(assign_to_existing(batch, 5, signatures)) if reuse else 0
            _, signatures = assign_counts(batch - taken, 5, signatures)
        opened[reuse] = len(signatures)
    assert opened[True] < 0.8 * opened[False]
