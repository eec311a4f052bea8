"""What is counted of Anatomy releases: a release that was tampered with is caught by name."""

from dataclasses import replace

import polars as pl
import pytest

from republish.anonymize.e_equivalence import plan
from republish.anonymize.errors import ContractError
from republish.anonymize.principles import parse_contract
from republish.orchestration.expectations import judge
from tests.anonymize.e_equivalence.equivalence_series import Life, attack_each, contract, publish


def broken(found):
    """The checks that are not met by what an attack found."""
    fewest = {"fewest_groups": 1, "fewest_remembered": 1, "fewest_cuts": 1}
    return {verdict.promise for verdict in judge(found.tables, fewest) if not verdict.passed}


@pytest.mark.slow("audits several releases")
def test_a_release_that_was_tampered_with_is_caught_by_name():
    """Unequal values, a signature without a value, nobody's row, counterfeits that are not stated."""
    *before, last = publish(Life(1, people=40, releases=3).snapshots(), contract(e=3))
    tables = last.candidate.published
    sensitive = tables["sensitive"]
    more = sensitive.with_columns(count=pl.col("count") + (pl.int_range(pl.len()) == 0))
    older = tables["quasi_identifiers"].with_columns(age=pl.col("age") + 1)
    for published, caught in (
        ({}, set()),
        ({"sensitive": more}, {"balance"}),
        ({"sensitive": sensitive[1:]}, {"balance", "signature_invariance"}),
        ({"quasi_identifiers": older}, {"coverage"}),
        ({"counterfeits": tables["counterfeits"].clear()}, {"counterfeits"}),
    ):
        candidate = replace(last.candidate, published={**tables, **published})
        *_, attacked = attack_each([*before, replace(last, candidate=candidate)])
        found = broken(attacked)
        assert found == caught if set(published) <= {"quasi_identifiers"} else caught <= found


@pytest.mark.slow("audits several releases")
def test_cuts_that_are_too_small(monkeypatch):
    monkeypatch.setattr(plan, "smallest_safe_cut", lambda _: 0)
    made = publish(Life(1, people=40, releases=4).snapshots(), contract(e=3))
    assert any(broken(found) == {"cuts"} for found in attack_each(made))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"principle": {"name": "e_equivalence", "m": 2, "e": 1}}, "e (1) must be at least 2"),
        ({"principle": {"name": "e_equivalence", "m": 2}}, "principle.e: is missing"),
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
