"""A release as the UI shows it: counts that plot over releases, columns, where they come from, charts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM
from republish.anonymize.contract import Schema, View
from republish.anonymize.contract.identifier import columns_of_identifier
from republish.anonymize.formats.format import RELEASE as RELEASE_COLUMN
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.people.rows import counted_in
from republish.anonymize.plot import Chart, OverReleases
from republish.anonymize.principles import principle_of
from republish.anonymize.utility.usefulness import usefulness
from republish.anonymize.utility.views import view_usefulness
from republish.orchestration.chain.publication import Publication
from republish.orchestration.chain.snapshot import Taken
from republish.orchestration.dagster.charts import picture
from republish.orchestration.dagster.figures import legible, named
from republish.orchestration.dagster.names import (
    AUDIT,
    COUNTERFEITS,
    RELEASE,
    SNAPSHOT,
    asset_key,
)
from republish.orchestration.over_releases import over_releases, what_changed
from republish.orchestration.readers.datapackage.dated import undated
from republish.orchestration.readers.datapackage.words import several_columns
from republish.orchestration.series.release_record import CANDIDATE, ReleaseRecord, read_state, read_tables
from republish.orchestration.series.series import Series
from republish.orchestration.series.standing import not_released, not_released_in_words
from republish.orchestration.storage.manifest import COUNTED
from republish.orchestration.storage.store import read_table

ERROR = "mean error of counts (%)"
COUNTERFEIT_SHARE = "counterfeits among published rows (%)"
PROMISED_AND_FOUND = "promised and found, over the releases"
RELEASES_SHOWN = 24
"""The number of releases in charts over releases, this one the last."""

TEXT_OR_NUMBER = "String or Int64"
"""What a contract calls a column whose values it does not declare."""
TYPES = {
    TEXT_OR_NUMBER: "text or whole number",
    "String": "text",
    "Int64": "whole number",
    "Float64": "number",
    "Date": "date",
}
"""What the UI calls the type of a column."""


def of_snapshot(series: Series, snapshot: Taken) -> dict[str, Any]:
    """People, and the columns that are read."""
    contract = series.contract
    columns = [
        *(
            _column(name, TEXT_OR_NUMBER, "identifier; never published")
            for name in columns_of_identifier(contract.identifier)
        ),
        *(_column(one.name, one.dtype, f"{contract.ROLE}, {one.kind}") for _, one in contract.attributes()),
        *(
            _column(one.name, one.dtype, f"sensitive, {one.semantics}")
            for _, one in contract.sensitive_columns()
        ),
    ]
    counts = {counted_in(contract): snapshot.people, "dagster/row_count": snapshot.people}
    divided = {"shards": str(contract.shards)} if contract.shards > 1 else {}
    return {**counts, **divided, **_column_schema(columns)}


def of_candidate(series: Series, release: str, committed: ReleaseRecord) -> dict[str, dict[str, Any]]:
    """The entries of each asset that a candidate consists of, by its name; none if nothing is kept of it."""
    figures, counts, contract = committed.figures, committed.counts, series.contract
    if counts is None:
        return {}
    seconds = {f"time: {part} (s)": round(spent, 1) for part, spent in committed.seconds.items()}
    failed = sum(not verdict.passed for verdict in committed.verdicts)
    findings = (committed.attack.get(name, 0) for name in ("promises", "broken_promises"))
    tables = _tables(series, release, committed)
    share = legible(100 * counts.counterfeits / max(1, counts.tuples))
    stated = {COUNTERFEITS: {"counterfeits": counts.counterfeits, COUNTERFEIT_SHARE: share}}
    charts = _over_releases(series, release)
    memory = principle_of(contract).memory
    kept = {name: figures[name] for name in memory.figures} if memory else {}
    remembered = {memory.name: named(kept, contract)} if memory else {}
    return {
        **remembered,
        RELEASE: {
            **named(figures, contract),
            **seconds,
            **_what_is_asked_first(series, release, committed, tables),
            "dagster/row_count": counts.tuples,
            **_published_columns(series),
            **{plot.name: picture(plot) for plot in _plots(series, release, tables)},
        },
        **(stated if COUNTERFEITS in principle_of(contract).format(contract).tables(contract) else {}),
        AUDIT: {
            **named(committed.attack, contract),
            **({PROMISED_AND_FOUND: picture(*charts)} if charts else {}),
            "checks": f"{len(committed.verdicts)}, {f'{failed} failed' if failed else 'all passed'}",
            "promises": "{}, {} broken".format(*findings),
        },
    }


def of_publication(series: Series, release: str, publication: Publication) -> dict[str, Any]:
    """The folder, what the chain of manifests is checked by, and a report of the release."""
    return {
        "report": dg.MetadataValue.md(_report(series, release, publication.manifest)),
        "folder": dg.MetadataValue.path(publication.folder),
        "manifest sha256": publication.manifest_sha256,
        **named({one: publication.manifest[one] for one in ("tuples", "counterfeits")}, series.contract),
    }


def _report(series: Series, release: str, manifest: Mapping[str, Any]) -> str:
    """A release on half a page, in Markdown: its counts, its promises and what was found of each."""
    parameters = ", ".join(
        f"{name} {value}" for name, value in manifest["principle"].items() if name != "name"
    )
    figures = named({one: manifest[one] for one in COUNTED}, series.contract)
    counted = [f"{figure:,} {name}" for name, figure in figures.items()]
    without = not_released_in_words(not_released(series, series.calendar.until(release)))
    committed = series.record(release)
    verdicts = committed.verdicts if committed else ()
    made = f"{manifest['principle']['name']} ({parameters}), release {manifest['n']}"
    checks = [
        f"- **{one.promise}** {'holds' if one.passed else 'is broken'}. {one.found}" for one in verdicts
    ]
    sensitive = series.contract.sensitive
    plots = f"*mean width of …*, *{ERROR}*, *counterfeits*"
    lines = [
        f"**{series.name}, {release}**: {made}. {', '.join(counted)}.",
        "",
        *([f"{without[0].upper()}{without[1:]}.", ""] if without else []),
        *several_columns([column.name for column in sensitive.columns] if sensitive else []),
        "",
        *checks,
        "",
        f"How releases change: the plots of {asset_key(series, RELEASE).to_user_string()}, {plots}.",
    ]
    return "\n".join(lines)


def _what_is_asked_first(
    series: Series, release: str, committed: ReleaseRecord, tables: Mapping[str, pl.DataFrame] | None
) -> dict[str, Any]:
    """Candidate values that an adversary is left with, and the error of counts, to plot over releases."""
    contract = series.contract
    asked = ("smallest_candidates", "smallest_candidates_by_host")
    shown = named({name: committed.attack.get(name) for name in asked}, contract)
    release_format = principle_of(contract).format(contract)
    snapshot = series.private(release) / "snapshot.parquet"
    counts = committed.counts
    if tables is None or counts is None or not counts.groups or not snapshot.exists():
        return shown
    people = read_table(snapshot)
    if isinstance(contract, View):
        main, *_ = release_format.tables(contract)
        found = view_usefulness(tables[main], contract, people, counts.held_back)
    elif isinstance(contract, Schema):
        known = knowledge_table(people.rename({PSEUDONYM: "person"}), contract)
        found = usefulness(release_format, tables, release_format.read(tables, contract), contract, known)
    if not found.errors_by_column:
        return {**shown, ERROR: legible(100 * found.query_error)}
    assert contract.sensitive is not None
    errors = {**found.errors_by_column, contract.sensitive.name: found.query_error}
    return {**shown, **{f"{ERROR}: {name}": legible(100 * error) for name, error in errors.items()}}


def _tables(series: Series, release: str, committed: ReleaseRecord) -> dict[str, pl.DataFrame] | None:
    """The candidate's tables under our own names, without the column that says of which release they are.

    None if its files are not kept any more, or are of people who are divided: they may not fit into memory.
    """
    if series.contract.shards > 1 or not _is_kept(series.private(release), committed):
        return None
    candidate = read_tables(series.private(release), CANDIDATE, committed).items()
    named = {name: undated(table, release) for name, table in candidate}
    return principle_of(series.contract).format(series.contract).internal(named, series.contract)


def _is_kept(folder: Path, committed: ReleaseRecord) -> bool:
    return all((folder / name).exists() for name in committed.files)


def _records(series: Series, release: str) -> dict[str, ReleaseRecord]:
    """What is kept of the last releases up to this one, by their names."""
    last = series.calendar.until(release)[-RELEASES_SHOWN:]
    kept = {due: series.record(due) for due in last}
    return {due: record for due, record in kept.items() if record and record.counts}


def _over_releases(series: Series, release: str) -> list[OverReleases]:
    """Charts of what is promised, and of what the attacks found of it, over the last releases."""
    so_far = _records(series, release)
    number, last = series.calendar.number, so_far[release]
    promises = [last.promises[number(due) - number(release) - 1] for due in so_far]
    figures = {due: record.attack for due, record in so_far.items()}
    changed = what_changed([record.parameters for record in so_far.values()])
    charts = (
        over_releases(chart, figures, [one.part(type(part)) for one in promises], changed)
        for part in promises[-1]
        for chart in part.charts
    )
    return [chart for chart in charts if chart.lines]


def _plots(series: Series, release: str, tables: Mapping[str, pl.DataFrame] | None) -> list[Chart]:
    """The format's charts of the release, and the principle's of what it remembers."""
    if tables is None:
        return []
    contract = series.contract
    principle = principle_of(contract)
    charts = principle.format(contract).plots(tables, contract)
    if principle.plots is None:
        return charts
    states = {
        due: read_state(series.private(due), record)
        for due, record in _records(series, release).items()
        if _is_kept(series.private(due), record)
    }
    return [*charts, *principle.plots(contract, states)]


def _published_columns(series: Series) -> dict[str, Any]:
    """The columns of the published tables, and the snapshot's columns they are from."""
    contract = series.contract
    tables = principle_of(contract).format(contract).columns(contract)
    columns = {
        column.name: column for name, table in tables.items() if name != COUNTERFEITS for column in table
    }
    shown = [
        _column(RELEASE_COLUMN, "Date", "the release: the same in every row"),
        *(_column(column.name, column.dtype, str(column.description)) for column in columns.values()),
    ]
    source, names = asset_key(series, SNAPSHOT), contract.column_names()
    origins = {
        column.name: [dg.TableColumnDep(source, names[column.origin])]
        for column in columns.values()
        if column.origin not in (None, IDENTIFIER)
    }
    return {**_column_schema(shown), "dagster/column_lineage": dg.TableColumnLineage(origins)}


def _column(name: str, dtype: object, says: str) -> dg.TableColumn:
    """A column, with its type in a reader's words."""
    return dg.TableColumn(name, TYPES.get(str(dtype), str(dtype)), description=says)


def _column_schema(columns: list[dg.TableColumn]) -> dict[str, Any]:
    return {"dagster/column_schema": dg.TableSchema(columns=columns)}
