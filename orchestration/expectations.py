"""Great Expectations judges evidence: a suite per promise, in `data_contracts/expectations/`."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

SUITES = Path(__file__).parents[1] / "data_contracts" / "expectations"


@dataclass(frozen=True)
class Verdict:
    """What a suite found on one table of evidence."""

    promise: str
    """The suite's name."""
    passed: bool
    """Whether every expectation was met; one that could not be evaluated was not."""
    figures: dict[str, int | float]
    """Rows of evidence, expectations, and the sums of the evidence's counts."""
    broken: list[str] = field(default_factory=list)
    """Each expectation that failed, in words, with how many rows of evidence failed it."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def judge(evidence: Mapping[str, pl.DataFrame], parameters: Mapping[str, Any]) -> list[Verdict]:
    """A verdict for every table of evidence, by the suite of its name.

    Parameters
    ----------
    evidence
        Tables of counts by promise.
    parameters
        What the suites' `$PARAMETER`s stand for.
    """
    return [_verdict(promise, table, parameters) for promise, table in evidence.items()]


def import_early() -> None:
    """Begin to import Great Expectations beside other work: it takes seconds."""
    threading.Thread(target=_context, daemon=True).start()


_IMPORTING = threading.Lock()


def _context():
    with _IMPORTING:
        return _make_context()


@cache
def _make_context():
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations as gx  # noqa: PLC0415 - takes two seconds
    from great_expectations.data_context.types.base import ProgressBarsConfig  # noqa: PLC0415

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context


def _verdict(promise: str, table: pl.DataFrame, parameters: Mapping[str, Any]) -> Verdict:
    declared = json.loads((SUITES / f"{promise}.json").read_text())
    results = _validate(promise, table, declared, parameters)
    broken = [_words(result) for result in results if not _is_met(result)]
    # No result at all is a suite that did not run: never a promise kept.
    complete = len(results) == len(declared["expectations"]) > 0
    if not complete:
        broken.append(f"{len(results)} of {len(declared['expectations'])} expectations were evaluated")
    return Verdict(
        promise=promise,
        passed=not broken,
        figures={"rows_of_evidence": table.height, "expectations": len(results), **_sums(table)},
        broken=broken,
    )


def _validate(promise: str, table: pl.DataFrame, declared: Mapping, parameters: Mapping) -> list:
    context = _context()
    import great_expectations as gx  # noqa: PLC0415 - imported by now

    source = context.data_sources.add_or_update_pandas("evidence")
    batch = (
        source.add_dataframe_asset(promise)
        .add_batch_definition_whole_dataframe("whole")
        .get_batch({"dataframe": table.to_pandas()})
    )
    suite = gx.ExpectationSuite(name=promise, expectations=declared["expectations"])
    return batch.validate(suite, expectation_parameters=dict(parameters)).results


def _is_met(result) -> bool:
    return bool(result.success) and not _exception(result)


def _exception(result) -> str | None:
    """The message of an exception inside Great Expectations, which it keeps in one of two shapes."""
    info = result.exception_info or {}
    nested = [part for part in info.values() if isinstance(part, dict)] or [info]
    return next((part["exception_message"] for part in nested if part.get("raised_exception")), None)


def _words(result) -> str:
    config = result.expectation_config
    meaning = config.notes or config.type
    if message := _exception(result):
        return f"{meaning} Could not be evaluated: {message.splitlines()[0][:200]}"
    failed = (result.result or {}).get("unexpected_count")
    return f"{meaning} Not so in {failed} rows of evidence."


def _sums(table: pl.DataFrame) -> dict[str, int | float]:
    """The sum of every column of counts; identifiers of groups and buckets are not counts."""
    counts = [name for name, dtype in table.schema.items() if dtype.is_integer() and not name.endswith("_id")]
    sums = table.select(pl.col(counts).sum()).row(0, named=True) if counts else {}
    return {name: total or 0 for name, total in sums.items()}
