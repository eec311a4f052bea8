"""The evidence on Anatomy releases: a release that was tampered with is caught by name."""

from dataclasses import replace

import polars as pl
import pytest

from anonymize.e_equivalence import E_EQUIVALENCE, plan
from anonymize.e_equivalence.parameters import smallest_safe_cut
from anonymize.errors import ContractError
from anonymize.principle.state import State
from anonymize.principles import parse_contract
from orchestration.expectations import judge
from tests.anonymize.e_equivalence.equivalence_series import Life, attack_each, contract, publish


@pytest.fixture(scope="module")
def last():
    return released(Life(1, people=40, releases=4).snapshots(), contract(e=3))[-1]


def released(snapshots, declared):
    """Each release, with what the attack counted of it."""
    made = publish(snapshots, declared)
    return list(zip(made, attack_each(made), strict=True))


def broken(last, **changed):
    """The promises that GX finds broken where published tables, or parts of the candidate, are replaced."""
    one, attacked = last
    tables = {name: changed.pop(name) for name in one.candidate.published if name in changed}
    candidate = replace(one.candidate, published={**one.candidate.published, **tables}, **changed)
    evidence = E_EQUIVALENCE.evidence(candidate, one.people, one.before, one.contract, attacked.tables)
    parameters = E_EQUIVALENCE.suite_parameters(one.contract, candidate.figures)
    parameters |= {"fewest_groups": 1, "fewest_remembered": 1, "fewest_cuts": 1}
    return {verdict.promise for verdict in judge(evidence, parameters) if not verdict.passed}


def test_an_honest_release_keeps_every_promise(last):
    assert broken(last) == set()


def test_values_that_are_not_equally_frequent(last):
    sensitive = last[0].candidate.published["sensitive"]
    more = sensitive.with_columns(count=pl.col("count") + (pl.int_range(pl.len()) == 0))
    assert "balance" in broken(last, sensitive=more)


def test_a_signature_that_lost_a_value(last):
    sensitive = last[0].candidate.published["sensitive"]
    assert {"signature_invariance", "balance"} <= broken(last, sensitive=sensitive[1:])


def test_quasi_identifiers_that_are_nobodys(last):
    rows = last[0].candidate.published["quasi_identifiers"].with_columns(age=pl.col("age") + 1)
    assert broken(last, quasi_identifiers=rows) == {"coverage"}


def test_counterfeits_that_are_not_stated(last):
    none = last[0].candidate.published["counterfeits"].clear()
    assert "counterfeits" in broken(last, counterfeits=none)


def test_cuts_that_are_too_small(monkeypatch):
    monkeypatch.setattr(plan, "smallest_safe_cut", lambda _: 0)
    series = released(Life(1, people=40, releases=4).snapshots(), contract(e=3))
    assert any(broken(one) == {"cuts"} for one in series)


def test_a_remembered_cut_that_is_larger_than_the_real_one():
    series = released(Life(1, people=40, releases=8, churn=0.05).snapshots(), contract(e=3))
    exact = [one for one in series if (one[1].tables["cuts"]["entered"] < smallest_safe_cut(3)).any()]
    assert exact
    for last in exact:
        state = last[0].candidate.state
        larger = state.tables["cuts"].with_columns(pl.col("min_cut") + 1000)
        assert broken(last) == set()
        assert broken(last, state=State({**state.tables, "cuts": larger})) == {"cuts"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"principle": {"name": "e_equivalence", "m": 2, "e": 1}}, "e (1) must be at least 2"),
        ({"principle": {"name": "e_equivalence", "m": 2}}, "principle.e: is missing"),
        ({"principle": {"name": "e_equivalence", "m": 1, "e": 2}}, "m (1) must be at least 2"),
        ({"principle": {"name": "e_equivalence", "m": 2, "e": 2, "k": 3}}, "principle.k: is unknown"),
        (
            {"quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 99], "min_width": 5}]},
            "min_width of age can't be kept",
        ),
    ],
)
def test_contracts_that_promise_what_cannot_be_kept(change, words):
    declared = contract().model_dump(mode="json")
    declared["source"] = {"path": declared["source"]["path"]}
    declared["principle"]["on_ineligible"] = "wait"
    with pytest.raises(ContractError) as refusal:
        parse_contract({**declared, **change})
    assert words in str(refusal.value)
