"""What can be said before the next release, and what is shown of the ledger."""

from itertools import pairwise

import polars as pl
import pytest

from republish.anonymize.global_guarantee import GLOBAL_GUARANTEE, plots
from republish.anonymize.global_guarantee.forecast import HORIZON, forecast
from republish.anonymize.principle.state import State
from tests.anonymize.global_guarantee.guarantee_series import crowd, make_contract, publish

CONTRACT = make_contract(strategy="geometric", a=0.6, forget_after=3)


class TestForecast:
    def test_nothing_published(self):
        assert forecast(State.empty(), CONTRACT).is_empty()

    @pytest.mark.parametrize("strategy", [{"strategy": "minimum"}, {"strategy": "geometric", "a": 0.5}])
    def test_people_who_are_told_they_can_be_placed_no_more_are_held_back(self, strategy):
        """On tables that stay as they are, nobody of whom it says 0 is placed in the next release."""
        contract = make_contract(on_ineligible="wait", **strategy)
        people = crowd(seed=22, size=1500, number_of_values=20, turnover=0, changing=1.0).snapshots(4)
        made = publish([contract] * 4, people)
        for step, following in pairwise(made):
            table = forecast(step.candidate.state, contract)
            assert table["people"].sum() == 1500
            no_more = step.candidate.figures.placed_no_more
            assert following.candidate.figures.held_back >= 0.9 * no_more

    def test_constant_ratio_is_told_the_plan(self):
        contract = make_contract(strategy="constant_ratio", releases=5)
        people = crowd(seed=23, size=1000, number_of_values=40, turnover=0).snapshots(1)
        (step,) = publish([contract], people)
        assert forecast(step.candidate.state, contract)["releases_left"].min() >= 4


def test_charts_are_drawn():
    steps = publish([CONTRACT] * 4, crowd(seed=21, size=300, number_of_values=12, turnover=0.2).snapshots(4))
    (plot,) = GLOBAL_GUARANTEE.plots(CONTRACT, {f"2024-0{s.number}": s.candidate.state for s in steps})
    assert [sum(counts) for counts in zip(*plot.lines.values(), strict=True)] == [300] * 4


def test_the_chart_counts_everybody_whatever_is_left_to_them(monkeypatch):
    """One person each for whom it is 0, 1, … more releases, up to as many as are told apart."""
    table = pl.DataFrame({"releases_left": range(HORIZON + 1), "people": [1] * (HORIZON + 1)})
    monkeypatch.setattr(plots, "forecast", lambda *_: table)
    (plot,) = plots.plots(CONTRACT, {"2024-01": State.empty()})
    assert plot.lines == {
        "0": (1,),
        "1": (1,),
        "2 to 3": (2,),
        "4 to 7": (4,),
        "8 or more": (HORIZON - 7,),
    }
