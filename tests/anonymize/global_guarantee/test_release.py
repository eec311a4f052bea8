"""What is true of every series under the global guarantee, by code that shares nothing with it."""

import dataclasses
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.attack.breach import breach_probability, by_promise, link_probabilities
from republish.anonymize.errors import NotEligible, SnapshotError
from republish.anonymize.global_guarantee import GLOBAL_GUARANTEE
from republish.anonymize.principle.state import State
from tests.anonymize.global_guarantee.guarantee_series import (
    AGE,
    STRATEGIES,
    TOWN,
    WEIGHT,
    crowd,
    draws,
    escapes,
    make_contract,
    people_of,
    publish,
    series,
    values_by_group,
)
from tests.attacks import attack_releases
from tests.findings import BREACH


def no_release_takes_anybody_above_what_they_were_promised(steps):
    strictest, before = {}, {}
    for step, never in zip(steps, escapes(steps), strict=True):
        if step.candidate is None:
            continue
        l = step.contract.principle.l
        for person in step.candidate.linkage["pseudonym"]:
            strictest[person] = max(l, strictest.get(person, 2))
        for (person, value), escaped in never.items():
            if escaped != before.get((person, value)):
                assert 1 - escaped <= Fraction(1, strictest[person]) + Fraction(1, 10**9)
        before = never


def a_release_has_the_people_placed_within_their_intervals_and_nobody_else(step):
    truth = {row[0]: row[1:] for row in step.people.rows()}
    rows = defaultdict(list)
    for group_id, *row in step.candidate.published["microdata"].rows():
        rows[group_id].append(row)
    hosted = defaultdict(list)
    for person, group_id in step.candidate.linkage.rows():
        hosted[group_id].append(person)
    assert set(rows) == set(hosted)
    for group_id, people in hosted.items():
        assert Counter(truth[person][2] for person in people) == Counter(row[4] for row in rows[group_id])
        ((low, high, first, last),) = {tuple(row[:4]) for row in rows[group_id]}
        towns = [TOWN["order"].index(truth[person][1]) for person in people]
        assert (min(truth[p][0] for p in people), max(truth[p][0] for p in people)) == (low, high)
        assert (TOWN["order"][min(towns)], TOWN["order"][max(towns)]) == (first, last)
    figures = step.candidate.figures
    assert figures.people == figures.tuples == sum(map(len, hosted.values()))
    assert figures.people + figures.held_back == step.people.height
    assert (figures.groups, figures.counterfeits) == (len(hosted), 0)
    assert step.candidate.published["counterfeits"].is_empty()
    assert step.candidate.published["microdata"].rows() == sorted(
        step.candidate.published["microdata"].rows(),
        key=lambda row: (row[0], *row[1:3], *(TOWN["order"].index(t) for t in row[3:5]), row[5]),
    )


def other_values_of_the_people_held_back_would_change_nothing(step, rng):
    """Nothing that is published, nor who is held back, says anything of the values of people held back."""
    is_held_back = ~step.people["pseudonym"].is_in(step.candidate.linkage["pseudonym"].implode())
    others = pl.Series([f"d{v:02}" for v in rng.integers(0, 25, step.people.height)])
    changed = step.people.with_columns(value=pl.when(is_held_back).then(others).otherwise("value"))
    again = GLOBAL_GUARANTEE.release(changed, step.contract, step.before, step.number, draws(step.number))
    assert again.published["microdata"].equals(step.candidate.published["microdata"])
    assert again.linkage.equals(step.candidate.linkage)
    assert all(again.state.tables[name].equals(table) for name, table in step.candidate.state.tables.items())


def the_order_in_which_rows_arrive_decides_nothing(steps, drawn, seed):
    shuffled = publish(drawn[0], [people.sample(fraction=1, shuffle=True, seed=seed) for people in drawn[1]])
    for step, other in zip(steps, shuffled, strict=True):
        assert (step.candidate is None) == (other.candidate is None)
        if step.candidate:
            assert step.candidate.published["microdata"].equals(other.candidate.published["microdata"])
            assert step.candidate.linkage.equals(other.candidate.linkage)


@pytest.mark.slow("takes more than a second")
@settings(max_examples=30)
@given(series(), st.integers(0, 2**32))
def test_every_promise_holds_in_every_release_of_any_series(drawn, seed):
    steps, rng = publish(*drawn), np.random.default_rng(seed)
    no_release_takes_anybody_above_what_they_were_promised(steps)
    for step in steps:
        if step.candidate is not None:
            a_release_has_the_people_placed_within_their_intervals_and_nobody_else(step)
            if step.candidate.figures.people:
                other_values_of_the_people_held_back_would_change_nothing(step, rng)
    the_order_in_which_rows_arrive_decides_nothing(steps, drawn, seed)


def test_that_a_release_waits_follows_from_values_of_people_who_are_then_held_back():
    contract = make_contract(strategy="minimum", on_ineligible="wait")
    for values, held_back in (("aaab", 4), ("abab", 0)):
        people = people_of(range(4), values, qi_0=[20, 30, 40, 50], qi_1=["Oslo"] * 4)
        (step,) = publish([contract], [people])
        assert step.candidate.figures.held_back == held_back


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s["strategy"])
@pytest.mark.parametrize("l", [2, 3])
def test_the_bound_holds_over_twice_as_many_releases_as_planned(strategy, l):
    """Half of the values change per release; once budgets are used up, people are held back."""
    releases = 8
    snapshots = crowd(seed=l, size=1500, number_of_values=40, changing=0.5, turnover=0.05).snapshots(releases)
    contract = make_contract(l=l, on_ineligible="wait", **strategy)
    steps = publish([contract] * releases, snapshots)
    state = None
    for step in steps:
        hosts = step.candidate.linkage.rename({"pseudonym": "person"})
        state = breach_probability(link_probabilities(hosts, values_by_group(step)), state)
        assert by_promise(state.with_columns(most=pl.lit(1 / l)))["above"].sum() == 0
    assert state["breach"].max() > 0.5 / l
    placed = [step.candidate.figures.people for step in steps]
    assert placed[0] == 1500
    assert placed[-1] < 1500
    if strategy["strategy"] == "constant_ratio":
        assert placed[: strategy["releases"]] == [1500] * strategy["releases"]


def test_people_who_return_find_their_ledger_as_they_left_it():
    contract = make_contract(strategy="constant_ratio", releases=2)
    together = crowd(seed=3, size=300, number_of_values=30, turnover=0, changing=0.5).snapshots(4)
    others = crowd(seed=4, size=300, number_of_values=30, turnover=0, changing=0.5).snapshots(1)[0]
    others = others.with_columns(pseudonym=pl.col("pseudonym").bin.slice(1) + pl.lit(b"x"))
    gap = [together[0], others, others, *together[1:]]
    steps = publish([contract] * 6, gap)
    bounds = list(escapes(steps)[-1].values())
    assert min(bounds) >= Fraction(1, 2) - Fraction(1, 10**9)
    returned = steps[3].candidate.figures
    assert returned.new == 0
    assert returned.people > 0


def test_a_ledger_that_says_nothing_of_rows_is_one_of_people_with_one_row_each():
    """Older versions noted how many rows people have only where somebody may have several."""
    contract = make_contract(strategy="minimum")
    people = crowd(seed=5, size=200, number_of_values=10, turnover=0.2, changing=0.5).snapshots(2)
    first, now = publish([contract] * 2, people)
    tables = first.candidate.state.tables
    older = State({**tables, "people": tables["people"].drop("rows")})
    then = GLOBAL_GUARANTEE.release(people[1], contract, older, 2, draws(2))
    assert then.published["microdata"].equals(now.candidate.published["microdata"])
    assert then.state.tables["people"].equals(now.candidate.state.tables["people"])


def test_forgetting_gives_a_whole_budget_back_and_no_more_than_that():
    contract = make_contract(strategy="minimum", forget_after=2)
    people = crowd(seed=5, size=200, number_of_values=10, turnover=0, changing=0.5).snapshots(2)
    nobody = people[0].clear()
    steps = publish([contract] * 4, [people[0], nobody, nobody, people[1]])
    assert [step.candidate.figures.forgotten for step in steps] == [0, 0, 200, 0]
    assert steps[2].candidate.state.tables["people"].is_empty()
    assert steps[2].candidate.state.tables["links"].is_empty()
    assert steps[3].candidate.figures.new == 200
    largest = 1 - min(escapes(steps)[-1].values())
    assert Fraction(1, 2) < largest <= 1 - Fraction(1, 4)


def attacked_with_promise(contract, steps):
    """What the attack on each release finds of the breach probability, given what the contract promises."""
    for found in attack_releases((contract, step.people, step.candidate) for step in steps):
        yield found.findings.row(by_predicate=pl.col("promise") == BREACH, named=True)


@pytest.mark.slow("takes more than a second")
def test_the_attack_forgets_whom_the_contract_forgets_and_nobody_else():
    contract = make_contract(strategy="minimum", forget_after=2)
    people = crowd(seed=5, size=200, number_of_values=10, turnover=0, changing=0.5).snapshots(2)
    nobody = people[0].clear()
    steps = publish([contract] * 4, [people[0], nobody, nobody, people[1]])
    assert steps[3].candidate.figures.people > 0
    assert all(row["holds"] for row in attacked_with_promise(contract, steps))
    keeps_all = make_contract(strategy="minimum")
    rows = list(attacked_with_promise(keeps_all, steps))
    assert [row["holds"] for row in rows] == [True, True, True, False]
    absent_once = [steps[0], steps[1], dataclasses.replace(steps[3], number=3)]
    assert [row["holds"] for row in attacked_with_promise(contract, absent_once)] == [True, True, False]


def test_people_held_back_all_the_time_are_not_forgotten():
    contract = make_contract(strategy="minimum", forget_after=2, on_ineligible="wait")
    people = people_of(range(4), ["a", "a", "b", "b"], qi_0=[1, 2, 3, 4], qi_1=["Oslo"] * 4)
    steps = publish([contract] * 6, [people] * 6)
    assert [step.candidate.figures.people for step in steps] == [4, 0, 0, 0, 0, 0]
    assert steps[-1].candidate.figures.remembered == 4


@pytest.mark.slow("takes more than a second")
def test_a_raised_l_binds_every_later_release_and_a_lowered_one_weakens_no_promise():
    people = crowd(seed=6, size=400, number_of_values=20, turnover=0, changing=0.3).snapshots(4)
    raised = [make_contract(l=l, strategy="geometric", a=0.7) for l in (2, 3, 3, 3)]
    steps = publish(raised, people)
    after = escapes(steps)
    for before, now in pairwise(after):
        assert all(1 - now[k] <= Fraction(1, 3) + Fraction(1, 10**9) for k in now if now[k] != before.get(k))
    lowered = [make_contract(l=l, strategy="constant_ratio", releases=4) for l in (3, 2, 2, 2)]
    assert 1 - min(escapes(publish(lowered, people))[-1].values()) <= Fraction(1, 3) + Fraction(1, 10**9)
    assert all(step.candidate.figures.people for step in publish(lowered, people))


class TestSmallAndStrangeTables:
    contract = make_contract(strategy="minimum")

    def first(self, people, contract=None):
        return GLOBAL_GUARANTEE.release(people, contract or self.contract, State.empty(), 1, draws(1))

    def test_no_people(self):
        none = people_of([1], ["a"], qi_0=[1], qi_1=["Oslo"]).clear()
        candidate = self.first(none)
        assert candidate.published["microdata"].is_empty()
        assert candidate.published["microdata"].columns == [
            "group_id", "age_low", "age_high", "town_low", "town_high", "disease",
        ]  # fmt: skip
        assert candidate.figures.people == candidate.figures.groups == 0

    def test_one_person(self):
        with pytest.raises(
            NotEligible, match=r"1 of 1 people, and a group may have 50\.0% of one value at most"
        ):
            self.first(people_of([1], ["a"], qi_0=[1], qi_1=["Oslo"]))

    def test_all_values_equal(self):
        people = people_of(range(50), ["a"] * 50, qi_0=range(50), qi_1=["Oslo"] * 50)
        with pytest.raises(NotEligible, match="50 of 50 people"):
            self.first(people)
        waits = self.first(people, make_contract(strategy="minimum", on_ineligible="wait"))
        assert waits.figures.held_back == 50
        assert waits.figures.largest_group == 0
        assert waits.state.tables["people"].is_empty()

    def test_identical_quasi_identifiers_are_one_group(self):
        people = people_of(range(40), ["a", "b", "c", "d"] * 10, qi_0=[7] * 40, qi_1=["Oslo"] * 40)
        assert self.first(people).figures.groups == 1

    def test_two_people_with_two_values(self):
        people = people_of(range(2), ["a", "b"], qi_0=[1, 90], qi_1=["Oslo", "Bari"])
        assert self.first(people).published["microdata"].rows() == [
            (1, 1, 90, "Oslo", "Bari", "a"),
            (1, 1, 90, "Oslo", "Bari", "b"),
        ]

    def test_a_plan_that_is_too_long_says_how_long_it_may_be(self):
        people = people_of(
            range(100), [f"d{n % 10}" for n in range(100)], qi_0=range(100), qi_1=["Oslo"] * 100
        )
        with pytest.raises(NotEligible, match=r"at most 6 with this table"):
            self.first(people, make_contract(strategy="constant_ratio", releases=20))
        assert self.first(people, make_contract(strategy="constant_ratio", releases=6)).figures.people == 100

    def test_minimum_widths(self):
        wide = make_contract([AGE | {"min_width": 20}, TOWN], strategy="minimum")
        people = people_of(range(40), ["a", "b"] * 20, qi_0=range(40), qi_1=["Oslo"] * 40)
        rows = self.first(people, wide).published["microdata"]
        assert (rows["age_high"] - rows["age_low"]).min() >= 19
        assert rows["group_id"].n_unique() > 1

    def test_fractions(self):
        people = people_of(range(40), ["a", "b"] * 20, qi_0=[1.5 + n / 3 for n in range(40)])
        rows = self.first(people, make_contract([WEIGHT], strategy="minimum")).published["microdata"]
        assert rows["group_id"].n_unique() > 10


class TestSnapshotsThatCantBeUsed:
    people = people_of(range(4), ["a", "b", "c", "d"], qi_0=[1, 2, 3, 4], qi_1=["Oslo"] * 4)

    def test_null(self):
        people = self.people.with_columns(value=pl.when(pl.col("qi_0") > 3).then("value"))
        with pytest.raises(SnapshotError, match="3 people have no disease"):
            GLOBAL_GUARANTEE.release(people, make_contract(strategy="minimum"), State.empty(), 1, draws(1))

    def test_not_declared(self):
        contract = make_contract(values=["a", "b"], strategy="minimum")
        with pytest.raises(SnapshotError, match="2 people have a disease that is not listed"):
            GLOBAL_GUARANTEE.release(self.people, contract, State.empty(), 1, draws(1))

    def test_another_type_than_before(self):
        contract = make_contract(strategy="minimum")
        state = GLOBAL_GUARANTEE.release(self.people, contract, State.empty(), 1, draws(1)).state
        numbers = self.people.with_columns(value=pl.lit(1, pl.Int64))
        with pytest.raises(SnapshotError, match="Int64, and String in the releases before"):
            GLOBAL_GUARANTEE.release(numbers, contract, state, 2, draws(2))

    def test_nothing_is_modified(self):
        contract = make_contract(strategy="minimum")
        state = GLOBAL_GUARANTEE.release(self.people, contract, State.empty(), 1, draws(1)).state
        kept = {name: table.clone() for name, table in state.tables.items()}
        people = self.people.clone()
        with pytest.raises(NotEligible):
            GLOBAL_GUARANTEE.release(
                self.people.with_columns(value=pl.lit("a")), contract, state, 2, draws(2)
            )
        assert all(state.tables[name].equals(table) for name, table in kept.items())
        assert self.people.equals(people)
