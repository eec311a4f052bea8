"""A release as the UI shows it: counts that plot over releases, columns, where they come from, charts."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM
from republish.anonymize.contract import Product, Schema, View
from republish.anonymize.formats.format import RELEASE as RELEASE_COLUMN
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.plot import Plot, ShareChart
from republish.anonymize.principles import principle_of
from republish.anonymize.utility.usefulness import usefulness
from republish.anonymize.utility.views import view_usefulness
from republish.orchestration.chain.publication import Publication
from republish.orchestration.chain.snapshot import Taken
from republish.orchestration.dagster.charts import picture
from republish.orchestration.dagster.figures import as_text, named
from republish.orchestration.dagster.names import AUDIT, COUNTERFEITS, RELEASE, SNAPSHOT, asset_key
from republish.orchestration.readers.datapackage.dated import undated
from republish.orchestration.readers.datapackage.words import several_columns
from republish.orchestration.series.release_record import CANDIDATE, ReleaseRecord, read_state, read_tables
from republish.orchestration.series.series import Series
from republish.orchestration.storage.manifest import COUNTED
from republish.orchestration.storage.parts import scan_parts, table_files
from republish.orchestration.storage.store import read_table

ERROR = "mean error of counts (%)"
GROUPS_SHOWN = 50_000
"""The number of groups in charts of a release whose people are divided; up to twice as many."""
RELEASES_SHOWN = 24
"""The number of releases in charts of the principle's memory."""


def draw_soon(contract: Product) -> None:
    """Begin to import what draws charts: it takes a while, and the snapshot waits for its verdict anyway."""
    if principle_of(contract).plots:
        threading.Thread(target=importlib.import_module, args=("matplotlib.figure",)).start()


def of_snapshot(series: Series, snapshot: Taken) -> dict[str, Any]:
    """People, and the columns that are read."""
    contract = series.contract
    columns = [
        dg.TableColumn(contract.identifier, description="identifier; never published"),
        *(
            dg.TableColumn(one.name, str(one.dtype), description=f"{contract.ROLE}, {one.kind}")
            for _, one in contract.attributes()
        ),
    ]
    for _, one in contract.sensitive_columns():
        columns.append(dg.TableColumn(one.name, description=f"sensitive, {one.semantics}"))
    counts = {"people": snapshot.people, "dagster/row_count": snapshot.people}
    divided = {"shards": str(contract.shards)} if contract.shards > 1 else {}
    return {**counts, **divided, **_column_schema(columns)}


def of_candidate(series: Series, release: str, committed: ReleaseRecord) -> dict[str, dict[str, Any]]:
    """The entries of each asset that a candidate consists of, by its name; none if nothing is kept of it."""
    figures, counts, contract = committed.figures, committed.counts, series.contract
    if counts is None:
        return {}
    seconds = {f"time: {part} (s)": spent for part, spent in committed.seconds.items()}
    failed = sum(not verdict.passed for verdict in committed.verdicts)
    findings = (committed.attack.get(name, 0) for name in ("promises", "broken_promises"))
    tables = _tables(series, release, committed)
    stated = {
        COUNTERFEITS: {
            "counterfeits": counts.counterfeits,
            "counterfeits among published tuples (%)": 100 * counts.counterfeits / max(1, counts.tuples),
        }
    }
    memory = principle_of(contract).memory
    remembered = {memory.name: named({name: figures[name] for name in memory.figures})} if memory else {}
    return {
        **remembered,
        RELEASE: {
            **named(figures),
            **seconds,
            **_what_is_asked_first(series, release, committed, tables),
            "dagster/row_count": counts.tuples,
            **_published_columns(series),
            **{plot.name: picture(plot) for plot in _plots(series, release, committed, tables)},
        },
        **(stated if COUNTERFEITS in principle_of(contract).format(contract).tables(contract) else {}),
        AUDIT: {
            **named(committed.attack),
            # They are texts, because a plot of them would be a straight line.
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
        **named({name: publication.manifest[name] for name in ("tuples", "counterfeits")}),
    }


def _report(series: Series, release: str, manifest: Mapping[str, Any]) -> str:
    """A release on half a page, in Markdown: its counts, its promises and what was found of each."""
    parameters = ", ".join(
        f"{name} {value}" for name, value in manifest["principle"].items() if name != "name"
    )
    counted = [f"{manifest[name]:,} {name.replace('_', ' ')}" for name in COUNTED]
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
    shown: dict[str, Any] = as_text(named({name: committed.attack.get(name) for name in asked}))
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
        return {**shown, ERROR: 100 * found.query_error}
    assert contract.sensitive is not None
    errors = {**found.errors_by_column, contract.sensitive.name: found.query_error}
    return {**shown, **{f"{ERROR}: {name}": 100 * error for name, error in errors.items()}}


def _tables(series: Series, release: str, committed: ReleaseRecord) -> dict[str, pl.DataFrame] | None:
    """The candidate's tables under our own names, without the column that says of which release they are.

    None if its files are not kept any more, or are of people who are divided: they may not fit into memory.
    """
    if series.contract.shards > 1 or not _is_kept(series.private(release), committed):
        return None
    candidate = read_tables(series.private(release), CANDIDATE, committed).items()
    named = {name: undated(table, release) for name, table in candidate}
    return principle_of(series.contract).format(series.contract).internal(named, series.contract)


def _some_groups(series: Series, release: str, committed: ReleaseRecord) -> dict[str, pl.DataFrame]:
    """The same, of about `GROUPS_SHOWN` whole groups of people who are divided, drawn by their numbers.

    Numbers are given in the order of what is published, so these groups are of everywhere in it.
    """
    folder, release_format = series.private(release), principle_of(series.contract).format(series.contract)
    groups = committed.counts.groups if committed.counts else 0
    is_shown = pl.col("group_id") % max(1, groups // GROUPS_SHOWN) == 0
    named = {
        name: undated(
            scan_parts(table_files(folder, f"{CANDIDATE}{name}"))
            .filter(is_shown)
            .collect(engine="streaming"),
            release,
        )
        for name in release_format.tables(series.contract)
    }
    return release_format.internal(named, series.contract)


def _is_kept(folder: Path, committed: ReleaseRecord) -> bool:
    return all((folder / name).exists() for name in committed.files)


def _plots(
    series: Series, release: str, committed: ReleaseRecord, tables: Mapping[str, pl.DataFrame] | None
) -> list[Plot | ShareChart]:
    """The format's charts of the release, and the principle's of what it remembers.

    Of people who are divided, the format's alone: shards remember for themselves.
    """
    contract = series.contract
    principle = principle_of(contract)
    release_format = principle.format(contract)
    if contract.shards > 1 and _is_kept(series.private(release), committed):
        return release_format.plots(_some_groups(series, release, committed), contract)
    if tables is None:
        return []
    charts = release_format.plots(tables, contract)
    if principle.plots is None:
        return charts
    last = series.due[: series.number(release)][-RELEASES_SHOWN:]
    kept = {due: series.record(due) for due in last}
    states = {
        due: read_state(series.private(due), record)
        for due, record in kept.items()
        if record and _is_kept(series.private(due), record)
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
        dg.TableColumn(RELEASE_COLUMN, "Date", description="the release: the same in every row"),
        *(
            dg.TableColumn(column.name, column.dtype, description=str(column.description))
            for column in columns.values()
        ),
    ]
    source, names = asset_key(series, SNAPSHOT), contract.column_names()
    origins = {
        column.name: [dg.TableColumnDep(source, names[column.origin])]
        for column in columns.values()
        if column.origin not in (None, IDENTIFIER)
    }
    return {**_column_schema(shown), "dagster/column_lineage": dg.TableColumnLineage(origins)}


def _column_schema(columns: list[dg.TableColumn]) -> dict[str, Any]:
    return {"dagster/column_schema": dg.TableSchema(columns=columns)}
