"""The suites of Great Expectations in plain Python: whether a table of evidence meets every expectation.

Tests that are not about Great Expectations ask it only about evidence that is not met here: to ask it takes a
third of a release. `tests/orchestration/expectations/test_judge.py` says that both always agree.
"""

import json
from functools import cache

from republish.orchestration.expectations.verdict import ROWS, Verdict
from republish.orchestration.package_files import package_file

SUITES = package_file("data_contracts") / "expectations"


@cache
def suite(promise):
    """The type and the arguments of each expectation."""
    declared = json.loads((SUITES / f"{promise}.json").read_text())
    return [(one["type"], one["kwargs"]) for one in declared["expectations"]]


def passed(promise, table, parameters):
    """The verdict on evidence that meets every expectation; of other evidence None."""
    if not all(_is_met(table, parameters, kind, dict(of)) for kind, of in suite(promise)):
        return None
    return Verdict(promise, passed=True, figures={ROWS: table.height, "expectations": len(suite(promise))})


def _is_met(table, parameters, kind, of):
    if kind == "expect_table_row_count_to_be_between":
        least = of["min_value"]
        return table.height >= (parameters[least["$PARAMETER"]] if isinstance(least, dict) else least)
    if kind == "expect_column_values_to_be_between":
        return all(one >= of["min_value"] for one in table[of["column"]].drop_nulls())
    if kind == "expect_column_values_to_be_in_set":
        return all(one in of["value_set"] for one in table[of["column"]].drop_nulls())
    pairs = zip(table[of["column_A"]], table[of["column_B"]], strict=True)
    if of.get("ignore_row_if") != "neither":
        pairs = [pair for pair in pairs if pair != (None, None)]
    if kind == "expect_column_pair_values_to_be_equal":
        return all(a == b and a is not None for a, b in pairs)
    assert (kind, of["or_equal"]) == ("expect_column_pair_values_a_to_be_greater_than_b", True)
    return all(None not in (a, b) and a >= b for a, b in pairs)
