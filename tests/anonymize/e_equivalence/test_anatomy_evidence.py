"""The evidence on Anatomy releases: a release that was tampered with is caught by name."""

import polars as pl
import pytest

from anonymize.anatomy_evidence import anatomy_evidence
from anonymize.contract import parse_contract
from anonymize.e_equivalence import plan
from anonymize.errors import ContractError
from orchestration.expectations import judge
from orchestration.principles import PRINCIPLES
from tests.anonymize.e_equivalence.equivalence_series import Life, contract, publish


@pytest.fixture(scope="module")
def last():
    return publish(Life(1, people=40, releases=4).snapshots(), contract(e=3))[-1]


def broken(one, **tables):
    """The promises that GX finds broken where published tables are replaced."""
    candidate = one.candidate
    evidence = anatomy_evidence(
        {**candidate.published, **tables}, candidate.linkage, one.people, one.before, one.contract
    )
    parameters = PRINCIPLES["e_equivalence"].parameters(one.contract, candidate.figures)
    return {verdict.promise for verdict in judge(evidence, parameters) if not verdict.passed}


def test_an_honest_release_keeps_every_promise(last):
    assert broken(last) == set()


def test_values_that_are_not_equally_frequent(last):
    sensitive = last.candidate.published["sensitive"]
    more = sensitive.with_columns(count=pl.col("count") + (pl.int_range(pl.len()) == 0))
    assert "balance" in broken(last, sensitive=more)


def test_a_signature_that_lost_a_value(last):
    sensitive = last.candidate.published["sensitive"]
    assert {"signature_invariance", "balance"} <= broken(last, sensitive=sensitive[1:])


def test_quasi_identifiers_that_are_nobodys(last):
    rows = last.candidate.published["quasi_identifiers"].with_columns(age=pl.col("age") + 1)
    assert broken(last, quasi_identifiers=rows) == {"coverage"}


def test_counterfeits_that_are_not_stated(last):
    none = last.candidate.published["counterfeits"].clear()
    assert "counterfeits" in broken(last, counterfeits=none)


def test_cuts_that_are_too_small(monkeypatch):
    monkeypatch.setattr(plan, "smallest_safe_cut", lambda _: 0)
    series = publish(Life(1, people=40, releases=4).snapshots(), contract(e=3))
    assert any(broken(one) == {"cuts"} for one in series)


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
    with pytest.raises(ContractError) as refusal:
        parse_contract({**declared, **change})
    assert words in str(refusal.value)
