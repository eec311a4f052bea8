from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.buckets.assign import HELD_BACK, assign
from republish.anonymize.buckets.counts import Demand
from republish.anonymize.people.ranks import keyed_ranks
from tests.series import draws


def ranks(people, number=1):
    """A secret order of so many people."""
    return keyed_ranks(pl.Series([str(person) for person in range(people)]), draws(number)("assign"))


@st.composite
def queues_and_demand(draw):
    """People in up to five queues, and demand that the queues can meet."""
    queue = draw(st.lists(st.integers(0, 4), max_size=40))
    entries = []
    for number, people in Counter(queue).items():
        for bucket in draw(st.lists(st.integers(0, 6), max_size=4)):
            taken = sum(entry[2] for entry in entries if entry[0] == number)
            entries.append((number, bucket, draw(st.integers(0, people - taken))))
    columns = np.array(draw(st.permutations(entries)), np.int64).reshape(-1, 3).T
    return np.array(queue, np.int64), Demand(*columns)


@pytest.mark.slow("takes more than a second")
@settings(max_examples=150)
@given(queues_and_demand(), st.randoms(use_true_random=False))
def test_every_bucket_receives_what_it_asked_of_every_queue_and_the_order_of_rows_decides_nothing(
    case, shuffle
):
    """The rest wait."""
    queue, demand = case
    rank = ranks(len(queue))
    bucket = assign(queue, demand, 5, rank)
    received = Counter(zip(queue.tolist(), bucket.tolist(), strict=True))
    asked = Counter()
    for number, target, people in zip(*(column.tolist() for column in demand), strict=True):
        asked[number, target] += people
    assert Counter({pair: n for pair, n in received.items() if pair[1] != HELD_BACK}) == +asked
    order = list(range(len(queue)))
    shuffle.shuffle(order)
    order = np.array(order, np.int64)
    assert assign(queue[order], demand, 5, rank[order]).tolist() == bucket[order].tolist()


def test_anybody_in_a_queue_is_as_likely_to_be_taken():
    demand = Demand(np.array([0]), np.array([7]), np.array([1]))
    taken = Counter(int(assign(np.zeros(4, int), demand, 1, ranks(4, n)).argmax()) for n in range(400))
    assert all(65 <= taken[person] <= 135 for person in range(4))
