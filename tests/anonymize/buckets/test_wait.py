"""`wait`: a batch that is not eligible is held back as a whole, until it is together with later people."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.buckets.counts import is_eligible
from republish.anonymize.buckets.plan import make_plan
from republish.anonymize.m_invariance.release import release
from republish.anonymize.principle.state import State
from tests.anonymize.buckets.test_plan import counts_of
from tests.series import draws, entered, make_contract


def crowd(first=0, **people):
    """A snapshot with so many people of each value, numbered from `first` on."""
    values = [value for value, number in people.items() for _ in range(number)]
    names = [f"p{first + n:04d}" for n in range(len(values))]
    ages = [(37 * n) % 90 for n in range(len(values))]
    return pl.DataFrame({"person": names, "age": ages, "value": values})


def series(*snapshots, m=3, policy="wait"):
    """Each release's candidate, made on the one before."""
    declared = make_contract(["age"], values="abcdefghi", m=m, on_ineligible=policy)
    state, made = State.empty(), []
    for number, snapshot in enumerate(snapshots, start=1):
        people = entered(snapshot, declared).drop("identifier")
        made.append(release(people, declared, state, number, draws(number)))
        state = made[-1].state
    return made


def held_back(made):
    return [candidate.figures.held_back for candidate in made]


def test_an_eligible_batch_does_not_wait():
    (only,) = series(crowd(a=4, b=4, c=4))
    assert (only.figures.held_back, only.figures.people, only.figures.counterfeits) == (0, 12, 0)


def test_all_new_people_wait_and_not_only_those_with_the_frequent_value():
    (only,) = series(crowd(a=9, b=2, c=2))
    assert only.figures.held_back == 13
    assert only.linkage.is_empty()
    assert only.published["microdata"].is_empty()


def test_people_who_were_published_before_never_wait():
    first = crowd(a=4, b=4, c=4)
    made = series(first, pl.concat([first, crowd(first=100, a=9)]))
    assert held_back(made) == [0, 9]
    assert made[1].figures.people == 12


def test_a_batch_that_waits_grows_until_it_is_eligible_and_is_released_whole():
    """9 people with `a` wait, and so do those who join them, until no value has more than 1/m of all."""
    growing = [crowd(a=9)]
    for first, more in ((100, {"b": 5, "a": 1}), (200, {"c": 9}), (300, {"b": 5, "d": 1})):
        growing.append(pl.concat([growing[-1], crowd(first=first, **more)]))
    made = series(*growing)
    assert held_back(made) == [9, 15, 24, 0]
    assert made[3].figures.people == 30
    assert made[3].figures.counterfeits == 0


def test_a_batch_waits_for_ever_where_later_people_are_like_it():
    growing = [crowd(a=3, b=1)]
    for first in range(100, 600, 100):
        growing.append(pl.concat([growing[-1], crowd(first=first, a=3, b=1)]))
    assert held_back(series(*growing)) == [4, 8, 12, 16, 20, 24]


def test_shortages_are_filled_with_counterfeits_while_people_wait():
    first = crowd(a=4, b=4, c=4)
    later = pl.concat([first.filter(pl.col("person") != "p0000"), crowd(first=100, a=9)])
    made = series(first, later)
    assert held_back(made) == [0, 9]
    assert made[1].figures.counterfeits == 1
    assert made[1].figures.batch_counterfeits == 0


@given(
    st.lists(st.integers(0, 12), min_size=3, max_size=6),
    st.integers(2, 4),
    st.integers(0, 99),
    st.lists(st.integers(0, 3), min_size=6, max_size=6),
)
def test_whether_people_wait_depends_on_how_many_have_which_value_and_on_nothing_else(free, m, number, bound):
    values = len(free)
    signatures = [[True] * values] if values >= m else []
    counts = counts_of(signatures, [bound[:values]] if signatures else [], free)
    plan = make_plan(counts, m, "wait", draws(number)("plan"))
    everybody, nobody = np.array(free), np.zeros(values, int)
    assert plan.held_back.tolist() == (nobody if is_eligible(everybody, m) else everybody).tolist()
    assert plan.batch_counterfeits == 0


@pytest.mark.parametrize("seed", range(3))
def test_which_of_the_people_has_which_quasi_identifiers_decides_nothing(seed):
    people = crowd(a=9, b=2, c=2)
    shuffled = people.with_columns(pl.col("age").shuffle(seed), pl.col("person").shuffle(seed + 9))
    assert held_back(series(shuffled)) == held_back(series(people)) == [13]
