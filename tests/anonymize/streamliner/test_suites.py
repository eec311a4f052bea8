"""The suites that judge the streamliner's evidence say what they mean."""

import json
from pathlib import Path

import polars as pl
import pytest

from anonymize.principle.state import State
from anonymize.streamliner import STREAMLINER
from orchestration.chain.audit import fewest_rows
from tests.anonymize.streamliner.streamliner_tables import make_contract, people, run

SUITES = Path(__file__).parents[3] / "data_contracts" / "expectations"


@pytest.mark.parametrize("check", [check.name for check in STREAMLINER.checks])
def test_each_check_has_a_suite_whose_columns_are_in_its_evidence(check):
    table = people([1, 2, 3, 4], [1, 1, 1, 1], ["a", "b", "a", "b"])
    contract = make_contract()
    candidate = run(table, contract)
    evidence = STREAMLINER.evidence(candidate, table, State.empty(), contract, {})[check]
    suite = json.loads((SUITES / f"{check}.json").read_text())
    assert suite["name"] == check
    known = STREAMLINER.suite_parameters(contract, candidate.figures) | fewest_rows(
        candidate.linkage, None, 1
    )
    for expectation in suite["expectations"]:
        wanted = expectation["kwargs"]
        assert wanted.get("column", evidence.columns[0]) in evidence.columns
        assert wanted.get("row_condition", evidence.columns[0]).split()[0] in evidence.columns
        named = [part["$PARAMETER"] for part in wanted.values() if isinstance(part, dict)]
        assert set(named) <= set(known)


def test_evidence_holds_counts_only():
    table = people([1, 2, 3, 4], [1, 1, 1, 1], ["a", "b", "a", "b"])
    contract = make_contract()
    found = STREAMLINER.evidence(run(table, contract), table, State.empty(), contract, {})
    for name in ("l_diversity", "l_candidates", "counterfeits", "signature_invariance"):
        assert all(dtype in (pl.Int64, pl.Int32, pl.UInt32) for dtype in found[name].dtypes)
