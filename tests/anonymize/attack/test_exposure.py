"""What counterfeits that make a batch eligible give away to an adversary who knows the algorithm."""

import polars as pl
import pytest

from republish.anonymize.attack.exposure import exposed_by_counterfeits
from republish.anonymize.formats import GENERALIZATION
from republish.anonymize.m_invariance.release import release
from republish.anonymize.principle.state import State
from tests.series import draws, entered, make_contract


def batch(**people):
    """A snapshot with so many people of each value."""
    values = [value for value, number in people.items() for _ in range(number)]
    return pl.DataFrame(
        {"person": [f"p{n:04d}" for n in range(len(values))], "age": range(len(values)), "value": values}
    )


def published(snapshot, m, policy):
    declared = make_contract(
        [{"name": "age", "kind": "number", "domain": [0, 9999]}], values="abcdef", m=m, on_ineligible=policy
    )
    people = entered(snapshot, declared).drop("identifier")
    candidate = release(people, declared, State.empty(), 1, draws(1))
    tables = GENERALIZATION.internal(candidate.published, declared)
    return people, candidate, GENERALIZATION.read(tables, declared)


@pytest.mark.parametrize(("m", "people"), [(2, {"a": 60, "b": 30, "c": 10}), (3, {"c": 10, "b": 3, "a": 2})])
def test_people_beside_such_counterfeits_are_counted(m, people):
    """With m = 2 each of them has the frequent value for certain; with m = 3, in m - 1 people at most."""
    known, candidate, release_one = published(batch(**people), m, "counterfeit")
    assert candidate.figures.batch_counterfeits > 0
    frequent = max(people, key=people.get)
    forged = candidate.published["counterfeits"].select(
        group_id=pl.col("group_id").cast(pl.Int32), fake="count"
    )
    hosted = candidate.linkage.join(known, on="pseudonym").with_columns(pl.col("group_id").cast(pl.Int32))
    beside = hosted.join(forged, on="group_id")
    among = beside.group_by("group_id").agg(
        people=pl.len(), carriers=(pl.col("value") == frequent).sum(), fake=pl.col("fake").first()
    )
    # The truth: counterfeits never carry the frequent value, so a group's people have all of it.
    certain = among.filter(pl.col("carriers") * m > pl.col("people"))["people"].sum()
    assert certain > 0
    assert exposed_by_counterfeits(release_one, 1 / m) == certain
    if m == 2:
        assert certain == beside.height


def test_a_batch_that_needs_none_or_waits_exposes_nobody():
    _, eligible, one = published(batch(a=30, b=30, c=30), 3, "counterfeit")
    assert eligible.figures.batch_counterfeits == 0
    assert exposed_by_counterfeits(one, 1 / 3) == 0
    _, waiting, other = published(batch(a=60, b=30, c=10), 3, "wait")
    assert waiting.figures.held_back == 100
    assert exposed_by_counterfeits(other, 1 / 3) == 0


def test_of_several_values_that_may_be_the_frequent_one_the_worst_counts():
    """Counterfeits bring others up to it, and which of them comes first in the alphabet says nothing."""
    _, _, one = published(batch(a=10, b=3, c=2), 3, "counterfeit")
    _, _, renamed = published(batch(c=10, b=3, a=2), 3, "counterfeit")
    assert exposed_by_counterfeits(one, 1 / 3) == exposed_by_counterfeits(renamed, 1 / 3) > 0
