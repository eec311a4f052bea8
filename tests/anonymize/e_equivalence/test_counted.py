"""What is counted of Anatomy releases: a release that was tampered with is caught by name."""

from dataclasses import replace

import polars as pl
import pytest

from republish.anonymize.e_equivalence import plan
from republish.anonymize.errors import ContractError
from republish.anonymize.principles import parse_contract
from republish.orchestration.expectations import judge
from tests.anonymize.e_equivalence.equivalence_series import Life, attack_each, contract, publish


@pytest.fixture(scope="module")
def made():
    return publish(Life(1, people=40, releases=4).snapshots(), contract(e=3))


def broken(made, **published):
    """The checks that GX finds broken where published tables of the last release are replaced."""
    *before, last = made
    candidate = replace(last.candidate, published={**last.candidate.published, **published})
    *_, attacked = attack_each([*before, replace(last, candidate=candidate)])
    fewest = {"fewest_groups": 1, "fewest_remembered": 1, "fewest_cuts": 1}
    return {verdict.promise for verdict in judge(attacked.tables, fewest) if not verdict.passed}


@pytest.mark.slow("takes more than a second")
def test_an_honest_release_keeps_every_promise(made):
    assert broken(made) == set()


@pytest.mark.slow("takes more than a second")
def test_values_that_are_not_equally_frequent(made):
    sensitive = made[-1].candidate.published["sensitive"]
    more = sensitive.with_columns(count=pl.col("count") + (pl.int_range(pl.len()) == 0))
    assert "balance" in broken(made, sensitive=more)


def test_a_signature_that_lost_a_value(made):
    sensitive = made[-1].candidate.published["sensitive"]
    assert {"signature_invariance", "balance"} <= broken(made, sensitive=sensitive[1:])


def test_quasi_identifiers_that_are_nobodys(made):
    rows = made[-1].candidate.published["quasi_identifiers"].with_columns(age=pl.col("age") + 1)
    assert broken(made, quasi_identifiers=rows) == {"coverage"}


def test_counterfeits_that_are_not_stated(made):
    none = made[-1].candidate.published["counterfeits"].clear()
    assert "counterfeits" in broken(made, counterfeits=none)


def test_cuts_that_are_too_small(monkeypatch):
    monkeypatch.setattr(plan, "smallest_safe_cut", lambda _: 0)
    made = publish(Life(1, people=40, releases=4).snapshots(), contract(e=3))
    assert any(broken(made[: number + 1]) == {"cuts"} for number in range(len(made)))


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
