"""How the figures of a whole are made from those of the shards that its people are divided into."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.attack.figures import (
    CandidateFigures,
    LinkageFigures,
    MinimumPeopleFigures,
)
from republish.anonymize.figures import Figures, FromCounts, MeanBy, Total, combined, reached
from republish.anonymize.global_guarantee.forecast import releases_of_most

NOBODY = CandidateFigures(people_ever=0, vulnerable=0, changed=0, misled=0)


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        (int, "Strange.buckets does not declare how the figures of several shards are one"),
        (Annotated[float, MeanBy("groups")], "Strange.buckets is combined by groups, which Strange has not"),
        (Annotated[int, FromCounts("by_size", max)], "is combined by by_size, which Strange has not"),
    ],
)
def test_a_figure_of_which_nobody_declared_how_it_is_combined_is_refused_when_it_is_written(declared, why):
    """It was a mean by groups: 16 buckets of two shards were 6.0."""
    with pytest.raises(TypeError, match=why):
        type("Strange", (Figures,), {"__annotations__": {"buckets": declared}})


@settings(max_examples=50)
@given(st.lists(st.lists(st.integers(1, 9), max_size=30), min_size=1, max_size=4))
def test_medians_and_means_of_a_whole_are_those_of_all_its_people(shards):
    everybody = sorted(number for shard in shards for number in shard)
    parts = [
        replace(
            NOBODY,
            by_candidates=(counts := Counter(shard)),
            median_candidates=reached(counts, 0.5),
            mean_candidates=sum(shard) / len(shard) if shard else None,
        )
        for shard in shards
    ]
    whole = CandidateFigures.of_all(parts)
    middle = everybody[(len(everybody) - 1) // 2] if everybody else None
    assert whole.median_candidates == middle
    assert whole.mean_candidates == (pytest.approx(sum(everybody) / len(everybody)) if everybody else None)


def test_what_serves_to_combine_is_not_stated():
    stated = replace(NOBODY, by_candidates={2: 10}, median_candidates=2).as_json()
    assert stated["median_candidates"] == 2
    assert not [name for name in stated if name.startswith("by_")]


def test_means_of_shards_are_weighted_by_what_they_are_means_of():
    company = [
        MinimumPeopleFigures(2, 90, 0.5),
        MinimumPeopleFigures(3, 10, 1.0),
        MinimumPeopleFigures(None, 0, None),
    ]
    assert MinimumPeopleFigures.of_all(company) == MinimumPeopleFigures(2, 100, 0.55)
    rows = [LinkageFigures(marketer_risk=0.5, rows=30), LinkageFigures(marketer_risk=0.1, rows=10)]
    assert LinkageFigures.of_all(rows).marketer_risk == pytest.approx(0.4)


def test_each_class_is_combined_by_itself():
    @dataclass(frozen=True)
    class Rows(Figures):
        __annotations__ = {"rows": Total}

    whole = combined([[Rows(3), MinimumPeopleFigures(2, 1, 1.0)], [Rows(4)]])
    assert whole == (Rows(7), MinimumPeopleFigures(2, 1, 1.0))


@given(st.dictionaries(st.integers(0, 20), st.integers(1, 30), min_size=1))
def test_at_least_half_of_the_people_can_be_placed_so_often_and_not_once_more(left):
    def placed(releases):
        return sum(people for number, people in left.items() if number >= releases)

    most = releases_of_most(left)
    assert 2 * placed(most) >= placed(0) > 2 * placed(most + 1)
