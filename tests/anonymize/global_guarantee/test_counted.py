"""What the attack counts of releases under the global guarantee convicts a maker whose ledger is wrong."""

from functools import reduce

import polars as pl
import pytest

from republish.anonymize.attack.breach import breach_probability, by_promise
from republish.anonymize.global_guarantee import GLOBAL_GUARANTEE
from republish.anonymize.principle.state import State
from tests import findings as fi
from tests.anonymize.global_guarantee.guarantee_series import crowd, draws, make_contract, publish
from tests.attacks import attack_releases

CONTRACT = make_contract(strategy="minimum", on_ineligible="wait")
PEOPLE = crowd(seed=21, size=600, number_of_values=20, turnover=0, changing=1.0).snapshots(4)


def attacked(steps):
    return list(attack_releases((step.contract, step.people, step.candidate) for step in steps))


def made_on(change, contracts=(CONTRACT,) * 4):
    """A series of a maker whose ledger is changed after each release."""
    state, made = State.empty(), []
    for number, (contract, people) in enumerate(zip(contracts, PEOPLE, strict=True), start=1):
        candidate = GLOBAL_GUARANTEE.release(people, contract, state, number, draws(number))
        made.append((contract, people, candidate))
        state = State(change(dict(candidate.state.tables)))
    return list(attack_releases(made))


def convicted(found):
    return any(fi.BREACH in set(one.findings.filter(~pl.col("holds"))["promise"]) for one in found)


def test_right_releases():
    contract = make_contract(strategy="geometric", a=0.6, forget_after=3)
    people = crowd(seed=21, size=300, number_of_values=12, turnover=0.2).snapshots(4)
    for step, found in zip(steps := publish([contract] * 4, people), attacked(steps), strict=True):
        assert found.holds
        counted = found.tables["breach_probability"]
        assert counted["above"].sum() == 0
        assert (counted["largest"] <= counted["promised"]).all()
        assert found.tables["coverage"]["uncovered"].sum() == 0
        published = step.candidate.published["microdata"]
        values = published.select("group_id", pl.col("disease").alias("value")).unique()
        linked = step.candidate.linkage.join(values, on="group_id").select("pseudonym", "value").unique()
        assert counted["links"].sum() == linked.height


def test_a_promise_that_is_kept_is_not_condemned_for_people_who_are_held_back_and_covered_by_chance():
    contract = make_contract(strategy="minimum", on_ineligible="wait")
    steps = publish([contract] * 3, crowd(seed=1, size=300, number_of_values=12, changing=1.0).snapshots(3))
    made = [(step.contract, step.people, step.candidate) for step in steps]
    breaches = [
        one.findings.row(by_predicate=pl.col("promise") == fi.BREACH, named=True)
        for linked in (True, False)
        for one in attack_releases(made, linked=linked)
    ]
    assert all(row["holds"] for row in breaches)
    assert [row["undecided"] for row in breaches[:3]] == [0, 0, 0]
    held_back = [step.candidate.figures.held_back for step in steps]
    assert held_back[0] == 0 < held_back[1]
    assert 0 == breaches[3]["undecided"] < breaches[4]["undecided"] <= held_back[1]


def test_breaches_where_nobody_is_held_back_are_convicted_without_the_linkage():
    contract = make_contract(strategy="minimum", on_ineligible="wait")
    people = crowd(seed=1, size=300, number_of_values=12, changing=1.0).snapshots(1)
    steps = publish([contract], people) * 2
    made = [(step.contract, step.people, step.candidate) for step in steps]
    assert [step.candidate.figures.held_back for step in steps] == [0, 0]
    assert convicted(list(attack_releases(made, linked=False)))


def test_a_ledger_that_is_kept_is_not_convicted():
    assert not convicted(made_on(lambda tables: tables))


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize(
    "change",
    [
        lambda _: {},
        lambda tables: tables | {"links": tables["links"].with_columns(spent=pl.col("spent") * 0.5)},
        lambda tables: tables | {"links": tables["links"].clear()},
    ],
    ids=["forgets everybody", "posts half", "forgets to post"],
)
def test_a_ledger_that_is_wrong_is_convicted_by_what_is_published_on_it(change):
    assert convicted(made_on(change))


@pytest.mark.slow("takes more than a second")
def test_a_promise_that_is_weakened_when_l_is_lowered_is_convicted():
    def weaken(tables):
        return tables | {"people": tables["people"].with_columns(l=pl.lit(1, pl.Int32))}

    lowered = [make_contract(l=l, strategy="minimum", on_ineligible="wait") for l in (4, 2, 2, 2)]
    assert not convicted(made_on(lambda tables: tables, lowered))
    assert convicted(made_on(weaken, lowered))


def test_a_stricter_promise_would_have_been_broken():
    steps = publish([CONTRACT] * 2, PEOPLE[:2])
    strict = GLOBAL_GUARANTEE.promise(make_contract(l=9, strategy="minimum").principle)
    made = ((step.contract, step.people, step.candidate) for step in steps)
    assert convicted(attack_releases(made, [strict] * 2))


def test_people_are_judged_by_the_strictest_promise_of_the_releases_that_they_were_in():
    """l is raised after the first release: all that the second links is judged by the larger l."""
    steps = publish([make_contract(strategy="minimum")] * 2, [PEOPLE[0], PEOPLE[1]])
    weak, strict = (
        GLOBAL_GUARANTEE.promise(make_contract(l=l, strategy="minimum").principle) for l in (2, 3)
    )
    made = [(step.contract, step.people, step.candidate) for step in steps]
    first, second = attack_releases(made, [weak, strict])
    assert first.holds
    assert not second.holds
    assert second.tables["breach_probability"]["promised"].to_list() == [1 / 3]


@pytest.mark.parametrize("l", range(2, 60))
@pytest.mark.parametrize("releases", [1, 2, 3])
def test_a_budget_that_is_used_up_to_the_last_bit_keeps_the_promise_and_one_more_tuple_breaks_it(l, releases):
    """Shares 1/(kl - k + 1), … 1/(kl) of k releases: the product of what is left is 1 - 1/l."""
    shares = [1 / (releases * (l - 1) + number) for number in range(1, releases + 1)]

    def found(shares):
        links = (pl.DataFrame({"person": [1], "value": ["flu"], "probability": [share]}) for share in shares)
        state = reduce(lambda state, link: breach_probability(link, state), links, None)
        return by_promise(state.with_columns(most=pl.lit(1 / l))).row(0, named=True)

    kept, broken = found(shares), found([*shares[:-1], shares[-1] * (1 + 1e-6)])
    assert (kept["above"], broken["above"]) == (0, 1)
    assert kept["largest"] <= kept["promised"] < broken["largest"]
