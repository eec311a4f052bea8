"""Run a suite of Great Expectations on a table of evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, cast

import great_expectations as gx
import polars as pl
from great_expectations.core import ExpectationValidationResult
from great_expectations.core.batch_definition import BatchDefinition
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

from republish.orchestration.expectations.verdict import ROWS, Verdict
from republish.orchestration.package_files import package_file

SUITES = package_file("data_contracts") / "expectations"

_context = gx.get_context(mode="ephemeral")
_context.variables.progress_bars = ProgressBarsConfig(globally=False)
_source = _context.data_sources.add_pandas("evidence")


def verdict(promise: str, table: pl.DataFrame, parameters: Mapping[str, Any]) -> Verdict:
    """What the suite `data_contracts/expectations/<promise>.json` finds on a table of evidence.

    Parameters
    ----------
    promise
        The suite's name.
    table
        Its evidence, counts only.
    parameters
        What the suite's `$PARAMETER`s stand for.
    """
    declared = json.loads((SUITES / f"{promise}.json").read_text())
    suite = gx.ExpectationSuite(name=promise, expectations=declared["expectations"])
    # To count the rows that fail takes a third longer. It is of use only where some do.
    results = _validate(promise, table, suite, parameters, "BOOLEAN_ONLY")
    if not all(map(_is_met, results)):
        results = _validate(promise, table, suite, parameters, "BASIC")
    broken = [_words(result) for result in results if not _is_met(result)]
    # No result at all is a suite that did not run: never a promise kept.
    if not len(results) == len(declared["expectations"]) > 0:
        broken.append(f"{len(results)} of {len(declared['expectations'])} expectations were evaluated")
    return Verdict(
        promise=promise,
        passed=not broken,
        figures={ROWS: table.height, "expectations": len(results)},
        broken=broken,
    )


def _validate(
    promise: str,
    table: pl.DataFrame,
    suite: gx.ExpectationSuite,
    parameters: Mapping[str, Any],
    detail: Literal["BOOLEAN_ONLY", "BASIC"],
) -> list[ExpectationValidationResult]:
    batch = _whole(promise).get_batch({"dataframe": table.to_pandas()})
    found = batch.validate(suite, expectation_parameters=dict(parameters), result_format=detail)
    return list(found.results)


@cache
def _whole(promise: str) -> BatchDefinition[Any]:
    """How Great Expectations reads the evidence of a promise: whole.

    Declared once for each promise, because every declaration writes the whole context out.
    """
    return _source.add_dataframe_asset(promise).add_batch_definition_whole_dataframe("whole")


def _is_met(result: ExpectationValidationResult) -> bool:
    return bool(result.success) and not _exception(result)


def _exception(result: ExpectationValidationResult) -> str | None:
    """The message of an exception inside Great Expectations, which it keeps in one of two shapes."""
    info = result.exception_info or {}
    nested = [part for part in info.values() if isinstance(part, dict)] or [info]
    return next((part["exception_message"] for part in nested if part.get("raised_exception")), None)


def _words(result: ExpectationValidationResult) -> str:
    config = cast(ExpectationConfiguration, result.expectation_config)
    meaning = config.notes or config.type
    if message := _exception(result):
        return f"{meaning} Could not be evaluated: {message.splitlines()[0][:200]}"
    found = result.result or {}
    if config.type.startswith("expect_table_"):
        return f"{meaning} The evidence has {found.get('observed_value')} rows."
    failed = found.get("unexpected_count")
    return f"{meaning} Not so." if failed is None else f"{meaning} Not so in {failed} rows of evidence."
