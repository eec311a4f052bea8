"""The planner against plain Python: Figure 3 word by word, and every plan there is on tiny counts."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from republish.anonymize.buckets.counts import is_eligible
from republish.anonymize.buckets.plan import (
    assign_counts,
    assign_to_existing,
    balance,
    make_plan,
    people_lacking,
    shortages,
)
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.errors import NotEligible
from tests.plans import as_tables, counted
from tests.series import draws

RANDOM = draws(1)


def counts_of(signatures, bound, free, **separated):
    """Counts from lists; each signature is a list of values."""
    matrix = np.zeros((len(signatures), len(free)), bool)
    for row, signature in enumerate(signatures):
        matrix[row, signature] = True
    return counted(
        signatures=matrix,
        bound=np.array(bound, np.int64).reshape(matrix.shape),
        free=np.array(free, np.int64),
        **{name: np.array(column) for name, column in separated.items()},
    )


def is_balanced(plan, counts):
    """Whether every bucket holds each value of its signature equally often, and no other."""
    existing = len(counts.signatures)
    tuples = plan.moved + plan.counterfeits
    tuples[:existing] += as_tables(counts).bound
    for group, bucket, people in zip(*plan.separated, strict=True):
        tuples[bucket, counts.separated_value[group]] += people
    inside = [set(row[signature]) for row, signature in zip(tuples, plan.signatures, strict=True)]
    return all(len(heights) == 1 for heights in inside) and not tuples[~plan.signatures].any()


# Assignment


def assign_by_the_book(rest, m):
    """Figure 3, line by line: (signature, alpha) of each iteration."""
    rest = Counter({value: number for value, number in enumerate(rest) if number})
    iterations = []
    while rest:
        gamma = sum(rest.values())
        order = sorted(rest, key=lambda value: (-rest[value], value))
        n = [rest[value] for value in order] + [0]
        alpha, beta = None, m
        while alpha is None:
            for candidate in range(1, n[beta - 1] + 1):
                left = gamma - candidate * beta
                if (n[0] - candidate) * m <= left and n[beta] * m <= left:
                    alpha = candidate
            beta += alpha is None
        signature = order[:beta]
        iterations.append((frozenset(signature), alpha))
        rest -= Counter(dict.fromkeys(signature, alpha))
    return iterations


@st.composite
def eligible_batches(draw):
    rest = draw(st.lists(st.integers(0, 30), min_size=2, max_size=9))
    m = draw(st.integers(2, 6))
    if not is_eligible(np.array(rest), m):
        rest = [min(number, sum(number > 0 for number in rest)) for number in rest]
    while not is_eligible(np.array(rest), m):
        rest = [max(0, number - 1) for number in rest]
    return rest, m


@settings(max_examples=150)
@given(eligible_batches(), st.sampled_from([(), ((0, 1),), ((0, 1), (1, 2, 3), (0, 1, 2))]))
def test_assignment_is_that_of_figure_3(batch, existing):
    rest, m = batch
    existing = [signature for signature in existing if max(signature) < len(rest)]
    matrix = np.array([[v in signature for v in range(len(rest))] for signature in existing])
    known = Signatures.of(matrix.reshape(-1, len(rest)).astype(bool))
    assigned, signatures = assign_counts(np.array(rest), m, known)
    assigned, signatures = signatures.table(assigned), signatures.table()
    expected = Counter()
    for signature, alpha in assign_by_the_book(rest, m):
        expected[signature] += alpha
    got = {}
    for row, signature in zip(assigned, signatures, strict=True):
        (alpha,) = set(row[signature]) or {0}
        assert not row[~signature].any()
        got[frozenset(np.flatnonzero(signature).tolist())] = alpha
    assert len(got) == len(signatures)
    assert {signature: alpha for signature, alpha in got.items() if alpha} == expected
    assert [frozenset(signature) for signature in existing] == list(got)[: len(existing)]


@settings(max_examples=100)
@example(([1, 1], 2), [{0, 1}])
@example(([2, 1, 1], 2), [{0, 1, 2}, {0, 1}])
@given(eligible_batches(), st.lists(st.sets(st.integers(0, 8), min_size=2), max_size=5, unique_by=frozenset))
def test_existing_buckets_take_all_they_can_such_that_the_others_stay_eligible(batch, existing):
    rest, m = batch
    existing = [signature for signature in existing if max(signature) < len(rest)]
    matrix = np.array([[v in signature for v in range(len(rest))] for signature in existing])
    matrix = matrix.reshape(-1, len(rest)).astype(bool)
    known = Signatures.of(matrix)
    assigned = known.table(assign_to_existing(np.array(rest), m, known))
    left = rest - assigned.sum(axis=0)
    assert (left >= 0).all()
    assert is_eligible(left, m)
    for row, signature in zip(assigned, matrix, strict=True):
        assert len(set(row[signature])) == 1
        assert not row[~signature].any()
        if signature.sum() < m:
            assert not row.any()
        else:  # not one group more
            assert (left - signature).min() < 0 or not is_eligible(left - signature, m)


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


def test_assignment_of_many_values_ends_with_everybody_assigned():
    rng = np.random.default_rng(1)
    for rest, m in (
        (rng.zipf(1.7, 1000).clip(0, 400), 10),
        (rng.integers(0, 90, 1000), 3),
        (np.full(300, 7), 299),
    ):
        assert is_eligible(rest, m)
        assigned, signatures = assign_counts(rest, m, Signatures.none(len(rest)))
        assigned, signatures = signatures.table(assigned), signatures.table()
        assert (assigned.sum(axis=0) == rest).all()
        assert (signatures.sum(axis=1) >= m).all()
        assert ((assigned > 0) == signatures).all()


# Balancing

SIGNATURES_OF_4 = [list(some) for size in (2, 3, 4) for some in combinations(range(4), size)]


def group_counts(tuples, m):
    """Whether tuples, by value, can be grouped into groups of at least m distinct values: by trying."""
    if not any(tuples):
        return True
    first = next(value for value, number in enumerate(tuples) if number)
    others = [value for value in range(first + 1, len(tuples)) if tuples[value]]
    for size in range(m - 1, len(others) + 1):
        for company in combinations(others, size):
            left = [number - (value == first or value in company) for value, number in enumerate(tuples)]
            if group_counts(left, m):
                return True
    return False


@pytest.mark.parametrize("m", [2, 3])
def test_tuples_are_m_eligible_if_and_only_if_they_can_be_grouped(m):
    for tuples in product(range(4), repeat=4):
        assert is_eligible(np.array(tuples), m) == group_counts(tuples, m)


def fewest(free, need, m):
    """The fewest counterfeits of all choices of who fills shortages and who is left."""
    best = None
    for moved in product(*(range(min(pair) + 1) for pair in zip(free, need, strict=True))):
        rest = [number - gone for number, gone in zip(free, moved, strict=True)]
        cost = sum(need) - sum(moved) + max(0, m * max(rest) - sum(rest))
        best = cost if best is None else min(best, cost)
    return best


@pytest.mark.parametrize("m", [2, 3])
def test_balancing_needs_the_fewest_counterfeits(m):
    rng = np.random.default_rng(m)
    for _ in range(250):
        free, need = rng.integers(0, 4, 4), rng.integers(0, 4, 4)
        batch = balance(free, need, m, RANDOM("plan"))
        rest = free - batch.moved
        assert (batch.moved >= 0).all()
        assert (batch.moved <= need).all()
        assert (rest >= 0).all()
        assert batch.added == 0 or not is_eligible(free, m)
        assert max(rest) * m <= rest.sum() + batch.added
        assert need.sum() - batch.moved.sum() + batch.added == fewest(free.tolist(), need.tolist(), m)


def every_plan(counts, m):
    """The fewest counterfeits of all plans: each person in any bucket with their value, old or new."""
    tables = as_tables(counts)
    present = tuple(tuple(row) for row in tables.bound)
    signatures = [frozenset(np.flatnonzero(row).tolist()) for row in tables.signatures]
    new = [frozenset(some) for size in range(m, 5) for some in combinations(range(4), size)]
    buckets = signatures + [signature for signature in new if signature not in signatures]
    states = {present + ((0,) * 4,) * (len(buckets) - len(signatures))}
    for value in np.repeat(np.arange(4), counts.free):
        states = {
            (*state[:row], tuple(n + (v == value) for v, n in enumerate(state[row])), *state[row + 1 :])
            for state in states
            for row, signature in enumerate(buckets)
            if value in signature and len(signature) >= m
        }
    return min(
        sum(max(row) * len(signature) - sum(row) for row, signature in zip(state, buckets, strict=True))
        for state in states
    )


@pytest.mark.parametrize("m", [2, 3])
def test_no_plan_at_all_has_fewer_counterfeits(m):
    rng = np.random.default_rng(10 * m)
    for number in range(60):
        signatures = [SIGNATURES_OF_4[i] for i in rng.choice(len(SIGNATURES_OF_4), 2, replace=False)]
        bound = [[int(rng.integers(3)) * (v in signature) for v in range(4)] for signature in signatures]
        counts = counts_of(
            signatures, bound, np.bincount(rng.integers(0, 4, rng.integers(0, 5)), minlength=4)
        )
        plan = as_tables(make_plan(counts, m, "counterfeit", draws(number)("plan")))
        assert is_balanced(plan, counts)
        assert plan.counterfeits.sum() == every_plan(counts, m)
        if is_eligible(counts.free, m):
            refusing = as_tables(make_plan(counts, m, "refuse", draws(number)("plan")))
            assert refusing.counterfeits.sum() == plan.counterfeits.sum()


@st.composite
def random_counts(draw):
    values = draw(st.integers(2, 6))
    number = st.integers(0, 12)
    subset = st.lists(st.integers(0, values - 1), min_size=2, max_size=values, unique=True).map(sorted)
    signatures = draw(st.lists(subset, max_size=4, unique_by=tuple))
    bound = [[draw(number) * (v in signature) for v in range(values)] for signature in signatures]
    classes = draw(st.lists(st.tuples(st.integers(0, values - 1), subset, st.integers(1, 5)), max_size=4))
    classes = [(value, forbidden, people) for value, forbidden, people in classes if value not in forbidden]
    return counts_of(
        signatures,
        bound,
        draw(st.lists(number, min_size=values, max_size=values)),
        separated_value=np.array([value for value, _, _ in classes], np.int64),
        forbidden=np.array([[v in taken for v in range(values)] for _, taken, _ in classes], bool).reshape(
            -1, values
        ),
        separated=np.array([people for *_, people in classes], np.int64),
    )


@pytest.mark.slow("makes many releases")
@settings(max_examples=300)
@given(random_counts(), st.integers(2, 5), st.sampled_from(["refuse", "counterfeit", "wait"]))
def test_a_plan_places_everybody_where_they_may_be_and_balances_every_bucket(counts, m, policy):
    too_few_are_left = bool(((~counts.forbidden).sum(axis=1) < m).any())
    try:
        plan = as_tables(make_plan(counts, m, policy, RANDOM("plan")))
    except NotEligible:
        assert policy != "wait" or too_few_are_left
        return
    assert not too_few_are_left
    assert is_balanced(plan, counts)
    assert (plan.moved.sum(axis=0) + plan.held_back == counts.free).all()
    sizes = plan.signatures.sum(axis=1)
    assert (sizes[plan.moved.any(axis=1)] >= m).all()
    placed = np.zeros_like(counts.separated)
    for group, bucket, people in zip(*plan.separated, strict=True):
        assert people > 0
        assert sizes[bucket] >= m
        assert plan.signatures[bucket, counts.separated_value[group]]
        assert not (plan.signatures[bucket] & counts.forbidden[group]).any()
        placed[group] += people
    assert (placed == counts.separated).all()
    assert len({tuple(signature) for signature in plan.signatures}) == len(plan.signatures)
    hosts_people = np.where(plan.signatures, plan.counterfeits, 1 << 40).min(axis=1) == 0
    empty = ~(plan.moved + plan.counterfeits).any(axis=1)
    assert (hosts_people | empty).all()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_people_with_a_changed_value_go_where_it_lacks_and_no_counterfeit_is_needed(order):
    """Two buckets lack the value 1, once and twice, and three people have it who may be in either."""
    signatures, bound = [[0, 1], [1, 2]], [[3, 2, 0, 0], [0, 1, 3, 0]]
    counts = counts_of(
        [signatures[n] for n in order],
        [bound[n] for n in order],
        [0] * 4,
        separated_value=[1],
        forbidden=[[False, False, False, True]],
        separated=[3],
    )
    plan = as_tables(make_plan(counts, 2, "refuse", RANDOM("plan")))
    assert is_balanced(plan, counts)
    assert not plan.counterfeits.any()
    assert dict(zip(plan.separated.bucket.tolist(), plan.separated.people.tolist(), strict=True)) == {
        order.index(0): 1,
        order.index(1): 2,
    }


def test_shortages_are_what_a_bucket_lacks_to_its_most_frequent_value():
    signatures = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], bool)
    present = np.array([[3, 1, 0], [0, 2, 1], [0, 0, 0]])
    counts = counted(signatures, present, np.zeros(3, int))
    lacking = shortages(counts.signatures, counts.bound)
    assert counts.signatures.table(lacking).tolist() == [[0, 2, 0], [2, 0, 1], [0, 0, 0]]


# Who can be told apart by where they are put


def test_people_fill_shortages_anywhere_and_not_in_the_first_buckets():
    # Three buckets lack the same value and one person has it: each bucket is as likely to receive them.
    counts = counts_of([[0, 1], [1, 2], [1, 3]], [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [0, 1, 0, 0])
    received = Counter(
        int(np.flatnonzero(as_tables(make_plan(counts, 2, "counterfeit", draws(n)("plan"))).moved[:, 1])[0])
        for n in range(300)
    )
    assert all(70 <= received[bucket] <= 130 for bucket in range(3))


def test_people_are_put_where_others_would_be_alone_with_counterfeits():
    """Two people for each group: half of the lots allow that, and it is done wherever lots allow it."""
    counts = counts_of([[1, 2, 4], [1, 2, 3]], [[0, 1, 0, 0, 0], [0, 0, 1, 0, 0]], [0, 2, 4, 1, 2])
    done = 0
    for n in range(30):
        plan = make_plan(counts, 3, "counterfeit", np.random.default_rng(n), least=2)
        people = plan.moved + np.pad(counts.bound, (0, len(plan.moved) - len(counts.bound)))
        done += not people_lacking(plan.signatures, people + plan.counterfeits, people, 2).any()
    assert done > 10


def test_the_company_of_one_person_is_any_other_value():
    counts = counts_of([], [], [0, 1, 0, 0, 0])
    company = Counter()
    for n in range(300):
        plan = as_tables(make_plan(counts, 3, "counterfeit", draws(n)("plan")))
        company.update(np.flatnonzero(plan.counterfeits[0]).tolist())
    assert set(company) == {0, 2, 3, 4}
    assert all(110 <= times <= 190 for times in company.values())


def tuples_of(free, m, number):
    """What is published of a batch: the values of every group, and how many counterfeits each bucket has."""
    plan = as_tables(make_plan(counts_of([], [], free), m, "counterfeit", draws(number)("plan")))
    tuples = plan.moved + plan.counterfeits
    return sorted(zip(tuples.tolist(), plan.counterfeits.sum(axis=1).tolist(), strict=True))


def test_a_value_in_excess_does_not_stand_out_from_its_company():
    # Four of a, and eight counterfeits: four of each of two other values, and any of the three was it.
    for number in range(20):
        ((tuples, counterfeits),) = tuples_of([4, 0, 0, 0, 0], 3, number)
        assert sorted(tuples) == [0, 0, 4, 4, 4]
        assert counterfeits == 8


@pytest.mark.parametrize(
    ("free", "m"), [([2, 1, 0, 0], 2), ([9, 1, 0, 0], 2), ([5, 2, 0, 0], 3), ([6, 4, 3, 0], 3)]
)
def test_a_value_in_excess_might_as_well_have_been_any_of_its_company(free, m):
    # The same tables, whichever of the batch's values was the frequent one.
    turned = [free[1], free[0], *free[2:]]
    assert {str(tuples_of(free, m, n)) for n in range(40)} == {
        str(tuples_of(turned, m, n)) for n in range(40)
    }


def test_a_new_signature_is_the_same_whichever_of_its_values_is_the_persons():
    # Values 2 to 9 are allowed, 2 and 3 are frequent: "mine and a frequent one" would give 9 away.
    signatures = set()
    for value in range(2, 10):
        counts = counts_of(
            [[0, 1]],
            [[1, 1] + [0] * 8],
            [0, 0, 3, 3, 1, 1, 1, 1, 1, 1],
            separated_value=[value],
            forbidden=[[True, True] + [False] * 8],
            separated=[1],
        )
        plan = as_tables(make_plan(counts, 2, "counterfeit", RANDOM("plan")))
        (bucket,) = plan.separated.bucket
        signature = frozenset(np.flatnonzero(plan.signatures[bucket]).tolist())
        assert value in signature
        signatures.add(signature)
    assert sum(len(signature) for signature in signatures) == 8
