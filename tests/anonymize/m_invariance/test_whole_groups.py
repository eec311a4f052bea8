"""m-invariance against an adversary who knows the algorithm: whoever comes, comes in whole groups."""

import dataclasses
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from republish.anonymize.errors import ContractError, NotEligible
from republish.anonymize.m_invariance import M_INVARIANCE, whole_groups
from republish.anonymize.m_invariance.principle import M_INVARIANCE as PRINCIPLE
from republish.anonymize.principle.state import State
from republish.orchestration.chain.audit import Judged, attack_candidate, audit
from tests.attacks import attack_releases
from tests.papers.known_algorithm import Publisher, learn, tiny, tiny_contract
from tests.series import draws, entered, make_contract, publish, released, tables, under_pseudonyms

ARRIVALS, FREQUENCIES = "arrivals in whole groups", "guesses by frequencies"
VALUES = list("abcdefgh")
WEIGHTS = np.array([9, 8, 7, 6, 5, 4, 3, 2]) / 44


def in_mode(contract):
    """The contract against an adversary who knows the algorithm."""
    given_up = {"adversary": "knows_algorithm", "on_ineligible": "refuse"}
    return contract.model_copy(update={"principle": contract.principle.model_copy(update=given_up)})


def snapshots(seed, releases=5, people=400, changes=0):
    """People who leave, come, return and age; some change their value."""
    rng = np.random.default_rng(seed)
    everybody = pl.DataFrame(
        {
            "person": [f"p{i}" for i in range(4 * people)],
            "age": rng.integers(0, 90, 4 * people),
            "zipcode": 10_000 + rng.integers(0, 9, 4 * people),
            "value": rng.choice(VALUES, 4 * people, p=WEIGHTS),
        }
    )
    present, known = np.arange(people), people
    for _ in range(releases):
        yield everybody[np.sort(present)]
        gone = np.setdiff1d(np.arange(known), present)
        back = rng.choice(gone, min(len(gone), people // 20), replace=False)
        staying = rng.permutation(present)[people // 4 :]
        new = np.arange(known, known + people // 5)
        present, known = np.concatenate([staying, back, new]), known + len(new)
        values = everybody["value"].to_numpy().copy()
        changing = rng.choice(staying, changes, replace=False)
        values[changing] = rng.choice(VALUES, changes)
        everybody = everybody.with_columns(pl.col("age") + 1, pl.Series("value", values))


def whole(tables, **principle):
    """`(contract, people, candidate)` of each release."""
    own = {"m": 3, "effort": "fast", "adversary": "knows_algorithm"} | principle
    return released(make_contract(values=VALUES, **own), tables)


def broken(found):
    return set(found.findings.filter(~pl.col("holds"))["promise"])


def arrivals(made):
    """Release by release, who came for the first time, by bucket and value; counted in plain Python."""
    ever = set()
    for _, people, candidate in made:
        value = dict(people.select("pseudonym", "value").iter_rows())
        rows = candidate.linkage.select("pseudonym", "bucket_id").rows()
        signature = dict(candidate.buckets.select("bucket_id", "signature").iter_rows())
        came = Counter((bucket, value[person]) for person, bucket in rows if person not in ever)
        ever |= {person for person, _ in rows}
        yield {bucket: {came[bucket, one] for one in signature[bucket]} for bucket, _ in came}


@pytest.mark.slow("makes many releases")
@pytest.mark.parametrize("release_format", ["generalization", "anatomy"])
def test_each_bucket_receives_equally_many_people_of_each_of_its_values(release_format):
    """Also where some people's value changes, who are in buckets of their own."""
    made = list(whole(snapshots(1, changes=12), format=release_format))
    assert all(len(numbers) == 1 for came in arrivals(made) for numbers in came.values())
    for found in attack_releases(made):
        assert broken(found) == set()
        assert {ARRIVALS, FREQUENCIES} <= set(found.findings["promise"])
        assert found.figures["largest_by_frequencies"] == pytest.approx(1 / 3)


@pytest.mark.slow("takes more than a second")
@settings(max_examples=40)
@given(tables())
def test_any_series_keeps_it(table):
    series = publish(dataclasses.replace(table, contracts=[in_mode(one) for one in table.contracts]))
    made = [
        (one.contract, one.people, under_pseudonyms(one.candidate, one.contract))
        for one in series
        if one.candidate is not None
    ]
    for found in attack_releases(made):
        assert broken(found) == set()


def test_people_whose_value_changed_are_in_buckets_of_their_own():
    *_, (_, _, last) = made = list(whole(snapshots(2, changes=12)))
    apart = set(last.state.tables["apart"]["bucket_id"])
    first = {}
    for _, _, candidate in made:
        for person, bucket in candidate.linkage.select("pseudonym", "bucket_id").iter_rows():
            first.setdefault(person, bucket)
    assert apart
    assert apart.isdisjoint(first.values())
    assert last.figures.apart == last.linkage["bucket_id"].is_in(list(apart)).sum() > 0


@pytest.mark.slow("takes more than a second")
def test_the_paper_s_algorithm_is_convicted_by_the_same_attack():
    made = list(whole(snapshots(1), adversary="paper"))
    promises = [PRINCIPLE.promise(in_mode(made[0][0]).principle)] * len(made)
    first, *later = attack_releases(made, promises)
    assert broken(first) == set()
    assert all(broken(found) == {ARRIVALS, FREQUENCIES} for found in later)


@pytest.mark.slow("takes more than a second")
def test_a_planner_that_fills_one_shortage_by_value_is_convicted_by_the_check_of_the_chain(monkeypatch):
    plan_honestly = whole_groups.plan_whole_groups

    def plan_one_by_value(counts, *others):
        plan, apart = plan_honestly(counts, *others)
        signatures, moved, forged = plan.signatures, plan.moved.copy(), plan.counterfeits.copy()
        for short in np.flatnonzero((forged > 0) & (moved > 0)):
            same = (signatures.value == signatures.value[short]) & (moved > 0)
            same &= signatures.bucket != signatures.bucket[short]
            if same.any():
                giving = np.flatnonzero(same)[0]
                moved[short], forged[short] = moved[short] + 1, forged[short] - 1
                moved[giving], forged[giving] = moved[giving] - 1, forged[giving] + 1
                break
        plan = dataclasses.replace(plan, moved=moved, counterfeits=forged)
        return whole_groups.WholeGroups(plan, apart)

    def verdicts():
        knowledge, told, judged = None, [], []
        for contract, people, candidate in whole(snapshots(1, releases=2)):
            told.append(PRINCIPLE.promise(contract.principle))
            named = people.with_columns(identifier=pl.col("pseudonym").bin.encode("hex"))
            attacked, knowledge = attack_candidate(candidate, named, contract, told, knowledge)
            found = audit([Judged.of(attacked)], contract, told[-1])
            judged.append({one.promise: one for one in found.verdicts})
        return judged

    assert all(one.passed for judged in verdicts() for one in judged.values())
    monkeypatch.setattr("republish.anonymize.m_invariance.release.plan_whole_groups", plan_one_by_value)
    first, second = verdicts()
    assert all(one.passed for one in first.values())
    assert {name for name, one in second.items() if not one.passed} == {"whole_groups", "attack"}
    said = " ".join(second["attack"].broken)
    assert ARRIVALS in said
    assert FREQUENCIES in said


@pytest.mark.parametrize("policy", ["wait", "counterfeit"])
def test_what_would_break_it_is_refused_with_the_reason(policy):
    with pytest.raises(ContractError, match=f"{policy} is refused with adversary: knows_algorithm, because"):
        tiny_contract(3, "knows_algorithm", on_ineligible=policy)


def test_an_ineligible_batch_is_refused():
    first, second = snapshots(1, releases=2)
    new = ~second["person"].is_in(first["person"].implode())
    second = second.with_columns(value=pl.when(pl.Series(new)).then(pl.lit("a")).otherwise("value"))
    with pytest.raises(NotEligible, match="not 3-eligible"):
        list(whole([first, second]))


def test_a_value_that_only_changed_people_have_is_refused_unless_it_is_declared():
    first, second = snapshots(1, releases=2)
    stays = second.join(first.select("person"), on="person", how="semi")["person"][0]
    second = second.with_columns(
        value=pl.when(pl.col("person") == stays).then(pl.lit("new")).otherwise("value")
    )
    contract = in_mode(make_contract(m=3))
    state = M_INVARIANCE.release(entered(first, contract), contract, State.empty(), 1, draws(1)).state
    with pytest.raises(NotEligible, match="nobody else ever had their new value"):
        M_INVARIANCE.release(entered(second, contract), contract, state, 2, draws(2))
    declared = in_mode(make_contract(m=3, values=[*VALUES, "new"]))
    made = M_INVARIANCE.release(entered(second, declared), declared, state, 2, draws(2))
    assert made.figures.apart == 1


def test_a_series_keeps_the_adversary_that_it_began_with():
    paper = make_contract().principle
    knows = in_mode(make_contract()).principle
    for before, now in ((paper, knows), (knows, paper)):
        (change,) = M_INVARIANCE.parameter_changes(before, now)
        assert (change.name, change.verdict) == ("adversary", "new series")


def test_nothing_of_it_is_said_of_a_series_against_the_paper_s_adversary():
    ((contract, _, candidate),) = whole(snapshots(1, releases=1), adversary="paper")
    assert "adversary" not in contract.principle.model_dump(mode="json")
    assert "apart" not in candidate.figures.as_json().keys() | candidate.state.tables.keys()


@pytest.mark.slow("counts every world")
def test_every_table_and_key_teaches_nothing_and_the_paper_s_algorithm_much():
    keys, seed = 12, 2
    series = tiny(seed, 2, 2)
    knows, paper = (
        learn(Publisher(series, tiny_contract(2, adversary), seed), 2, keys, seed)
        for adversary in ("knows_algorithm", "paper")
    )
    assert knows.above == 0
    assert abs(knows.right - knows.chance) <= 3 * knows.error
    assert paper.right - paper.chance > 3 * paper.error
