"""The evidence finds what is wrong with a candidate, and nothing wrong with a right one."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from anonymize.global_guarantee import GLOBAL_GUARANTEE
from anonymize.global_guarantee.evidence import Posting, breach_probability, post_again
from anonymize.global_guarantee.forecast import forecast
from anonymize.global_guarantee.strategy import spending
from anonymize.principle.state import State
from tests.anonymize.global_guarantee.guarantee_series import crowd, make_contract, publish

CONTRACT = make_contract(strategy="geometric", a=0.6, forget_after=3)
PEOPLE = crowd(seed=21, size=300, number_of_values=12, turnover=0.2).snapshots(4)


@pytest.fixture(scope="module")
def steps():
    return publish([CONTRACT] * 4, PEOPLE)


def evidence(step, candidate=None, contract=CONTRACT):
    return GLOBAL_GUARANTEE.evidence(candidate or step.candidate, step.people, step.before, contract, {})


def with_table(candidate, **tables):
    return replace(candidate, state=State({**candidate.state.tables, **tables}))


def test_every_check_has_evidence(steps):
    found = evidence(steps[-1])
    assert list(found) == [check.name for check in GLOBAL_GUARANTEE.checks]


def test_a_right_candidate(steps):
    for step in steps:
        found = evidence(step)
        breach = found["breach_probability"]
        assert breach["above"].sum() == 0
        assert (breach["largest"] <= breach["promised"]).all()
        row = found["ledger"].row(0, named=True)
        assert (row["wrong"], row["forgotten_early"], row["weakened"]) == (0, 0, 0)
        assert row["links"] == step.candidate.figures["links"]
        assert found["coverage"]["uncovered"].sum() == 0


def test_a_stricter_promise_would_have_been_broken(steps):
    strict = make_contract(l=9, strategy="minimum")
    assert evidence(steps[0], contract=strict)["breach_probability"]["above"].sum() > 0


@pytest.mark.parametrize("l", range(2, 60))
@pytest.mark.parametrize("releases", [1, 2, 3])
def test_a_budget_that_is_used_up_to_the_last_bit_keeps_the_promise_and_one_more_tuple_breaks_it(l, releases):
    """Shares 1/(kl - k + 1), … 1/(kl) of k releases: the product of what is left is 1 - 1/l."""
    shares = [1 / (releases * (l - 1) + number) for number in range(1, releases + 1)]

    def found(shares):
        spent = np.array([sum(spending(share) for share in shares)])
        posting = Posting(np.array([0]), spent, spent, np.array([True]), 0, np.array([l]))
        return breach_probability(posting).row(0, named=True)

    kept, broken = found(shares), found([*shares[:-1], shares[-1] * (1 + 1e-6)])
    assert (kept["above"], broken["above"]) == (0, 1)
    assert kept["largest"] <= kept["promised"] < broken["largest"]


def test_a_ledger_that_forgets_to_post(steps):
    step = steps[1]
    kept = step.before.tables
    assert evidence(step, with_table(step.candidate, **kept))["ledger"]["wrong"].item() > 0


@pytest.mark.parametrize("change", [0.001, -0.001])
def test_one_wrong_sum(steps, change):
    links = steps[1].candidate.state.tables["links"]
    wrong = links.with_columns(
        spent=pl.when(pl.int_range(pl.len()) == 7).then(pl.col("spent") + change).otherwise("spent")
    )
    assert evidence(steps[1], with_table(steps[1].candidate, links=wrong))["ledger"]["wrong"].item() == 1


def test_one_missing_link(steps):
    links = steps[1].candidate.state.tables["links"]
    fewer = links.filter(pl.int_range(pl.len()) != 7)
    assert evidence(steps[1], with_table(steps[1].candidate, links=fewer))["ledger"]["wrong"].item() == 1


def test_a_weakened_promise(steps):
    people = steps[1].candidate.state.tables["people"].with_columns(l=pl.lit(1, pl.Int32))
    found = evidence(steps[1], with_table(steps[1].candidate, people=people))["ledger"]
    assert found["weakened"].item() == people.height


def test_people_forgotten_too_early(steps):
    """The last person in the ledger is dropped with all their links."""
    tables = steps[1].candidate.state.tables
    last = tables["people"].height - 1
    fewer = with_table(
        steps[1].candidate,
        people=tables["people"].head(last),
        links=tables["links"].filter(pl.col("person") < last),
    )
    found = evidence(steps[2], replace(steps[2].candidate, state=steps[2].candidate.state))["ledger"]
    assert found["forgotten_early"].item() == 0
    assert evidence(steps[1], fewer)["ledger"]["wrong"].item() > 0


def posting(**changed):
    """Two people who were promised l = 2 and one who was promised l = 4, with a link of today each."""
    made = Posting(
        owner=np.array([0, 1, 2]),
        booked=np.zeros(3),
        spent=-np.log1p(-np.array([0.5, 0.25, 0.25])),
        is_of_today=np.ones(3, bool),
        missing=0,
        promised=np.array([2, 2, 4]),
    )
    return replace(made, **changed)


def test_the_largest_probability_of_those_promised_the_same_is_stated():
    rows = breach_probability(posting()).rows()
    assert [(l, people, links, above) for l, people, links, above, *_ in rows] == [(2, 2, 2, 0), (4, 1, 1, 0)]
    assert [largest for *_, largest, _ in rows] == pytest.approx([0.5, 0.25])


def test_a_probability_above_what_was_promised_is_counted():
    above = breach_probability(posting(spent=-np.log1p(-np.array([0.51, 0.25, 0.26]))))
    assert above["above"].to_list() == [1, 1]


def test_a_link_of_an_earlier_release_is_not_judged_by_this_one():
    """Its probability was judged by what was promised when it was made."""
    old = posting(spent=-np.log1p(-np.array([0.5, 0.25, 0.9])), is_of_today=np.array([True, True, False]))
    assert breach_probability(old)["l"].to_list() == [2]


def test_links_that_this_release_did_not_touch_are_of_earlier_ones(steps):
    """As many links are of today as people and values that a group of today links."""
    step = steps[-1]
    published = step.candidate.published["microdata"]
    values = published.group_by("group_id", pl.col("disease").alias("value")).len("tuples")
    linked = step.candidate.linkage.join(values, on="group_id").select("pseudonym", "value").unique()
    after = step.candidate.state.tables["links"].height
    found = post_again(values.cast({"tuples": pl.Int64}), step.candidate, step.before, 2)
    assert found.is_of_today.sum() == linked.height < after
    assert found.missing == 0


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
            no_more = step.candidate.figures["placed_no_more"]
            assert following.candidate.figures["held_back"] >= 0.9 * no_more

    def test_constant_ratio_is_told_the_plan(self):
        contract = make_contract(strategy="constant_ratio", releases=5)
        people = crowd(seed=23, size=1000, number_of_values=40, turnover=0).snapshots(1)
        (step,) = publish([contract], people)
        assert forecast(step.candidate.state, contract)["releases_left"].min() >= 4


def test_charts_are_drawn(steps):
    from matplotlib.figure import Figure

    (plot,) = GLOBAL_GUARANTEE.plots(CONTRACT, {f"2024-0{s.number}": s.candidate.state for s in steps})
    axes = Figure().add_subplot()
    plot.draw(axes)
    assert sum(bar.get_height() for bar in axes.patches) == 4 * 300
