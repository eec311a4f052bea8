"""A release as the UI shows it: counts that plot over releases, columns, where they come from, charts."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM
from republish.anonymize.contract import Product, Schema, View
from republish.anonymize.formats.format import RELEASE as RELEASE_COLUMN
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.people.rows import counted_in
from republish.anonymize.plot import OverReleases, Plot, ShareChart
from republish.anonymize.principles import principle_of
from republish.anonymize.utility.usefulness import usefulness
from republish.anonymize.utility.views import view_usefulness
from republish.orchestration.chain.publication import Publication
from republish.orchestration.chain.snapshot import Taken
from republish.orchestration.dagster.charts import picture
from republish.orchestration.dagster.figures import as_text, legible, named, plotted
from republish.orchestration.dagster.names import (
    AUDIT,
    COUNTERFEITS,
    PUBLICATION,
    RELEASE,
    SNAPSHOT,
    asset_key,
    key_of,
)
from republish.orchestration.engine import the_engine
from republish.orchestration.over_releases import over_releases, what_changed
from republish.orchestration.readers.datapackage.dated import undated
from republish.orchestration.readers.datapackage.words import several_columns
from republish.orchestration.series.release_record import CANDIDATE, ReleaseRecord, read_state, read_tables
from republish.orchestration.series.series import Series
from republish.orchestration.series.standing import not_released, not_released_in_words
from republish.orchestration.storage.manifest import COUNTED
from republish.orchestration.storage.parts import scan_parts, table_files
from republish.orchestration.storage.store import read_table

ERROR = "mean error of counts (%)"
COUNTERFEIT_SHARE = "counterfeits among published rows (%)"
PROMISED_AND_FOUND = "promised and found, over the releases"
MOVES = "what else moves, over the releases"
GROUPS_SHOWN = 50_000
"""The number of groups in charts of a release whose people are divided; up to twice as many."""
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


def draw_soon(contract: Product) -> None:
    """Begin to import what draws charts: it takes a while, and the snapshot waits for its verdict anyway."""
    if principle_of(contract).plots:
        threading.Thread(target=importlib.import_module, args=("matplotlib.figure",)).start()


def of_snapshot(series: Series, snapshot: Taken) -> dict[str, Any]:
    """People, and the columns that are read."""
    contract = series.contract
    columns = [
        _column(contract.identifier, TEXT_OR_NUMBER, "identifier; never published"),
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
    so_far = _records(series, release)
    shares = _counterfeits(so_far)
    stated = {
        COUNTERFEITS: {
            "counterfeits": counts.counterfeits,
            COUNTERFEIT_SHARE: legible(_counterfeit_share(committed)),
            **({f"{COUNTERFEIT_SHARE}, over the releases": picture(shares)} if shares.moves else {}),
        }
    }
    memory = principle_of(contract).memory
    kept = {name: figures[name] for name in memory.figures} if memory else {}
    remembered = {memory.name: named(kept, contract)} if memory else {}
    return {
        **remembered,
        RELEASE: {
            **plotted(figures, contract),
            **seconds,
            **_what_is_asked_first(series, release, committed, tables),
            "dagster/row_count": counts.tuples,
            **_published_columns(series),
            **{plot.name: picture(plot) for plot in _plots(series, release, committed, tables)},
        },
        **(stated if COUNTERFEITS in principle_of(contract).format(contract).tables(contract) else {}),
        AUDIT: {
            # They are texts: of most, Dagster would plot a straight line. What moves is drawn.
            **as_text(committed.attack, contract),
            **{name: picture(*charts) for name, charts in _over_releases(series, so_far).items() if charts},
            "checks": f"{len(committed.verdicts)}, {f'{failed} failed' if failed else 'all passed'}",
            "promises": "{}, {} broken".format(*findings),
        },
    }


def of_publication(series: Series, release: str, publication: Publication) -> dict[str, Any]:
    """The folder, what the chain of manifests is checked by, and a report of the release."""
    return {
        "report": dg.MetadataValue.md(_report(series, release, publication.manifest)),
        "folder": dg.MetadataValue.path(publication.folder),
        "release before": dg.MetadataValue.md(_release_before(series, release, publication.manifest)),
        "history.duckdb": dg.MetadataValue.md(_in_history(series, release)),
        "manifest sha256": publication.manifest_sha256,
        **named({one: publication.manifest[one] for one in ("tuples", "counterfeits")}, series.contract),
    }


def _release_before(series: Series, release: str, manifest: Mapping[str, Any]) -> str:
    """The release that this one was built on, as a link to it, and what the manifest says of it."""
    product, name, before = series.contract.product, series.contract.series, series.calendar.previous(release)
    if before is None and (former := series.contract.supersedes):
        name, before = former, max(series.other(former).releases, default=None)
    if before is None:
        return "None: this is the first of its series."
    path = "/".join(key_of(series.home, product, name, PUBLICATION).path)
    link = f"[{product}/{name}, {before}](/assets/{path}?view=partitions&partition={before})"
    return f"{link}, manifest SHA-256 {manifest['previous']}" if manifest.get("previous") else link


def _in_history(series: Series, release: str) -> str:
    """Where the history of releases is, and the condition that its rows of this one meet."""
    product, name = series.contract.product, series.contract.series
    asked = f"product = '{product}' AND series = '{name}' AND release = '{release}'"
    return f"{series.home.history}: a row of `releases`, and one of `buckets` for each, where\n\n`{asked}`"


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
    shown: dict[str, Any] = as_text({name: committed.attack.get(name) for name in asked}, contract)
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


def _some_groups(series: Series, release: str, committed: ReleaseRecord) -> dict[str, pl.DataFrame]:
    """The same, of about `GROUPS_SHOWN` whole groups of people who are divided, drawn by their numbers.

    Numbers are given in the order of what is published, so these groups are of everywhere in it.
    """
    folder, release_format = series.private(release), principle_of(series.contract).format(series.contract)
    groups, people = (committed.counts.groups, committed.counts.people) if committed.counts else (0, 0)
    drawn, named = partial(_drawn, max(1, groups // GROUPS_SHOWN)), {}
    for name in release_format.tables(series.contract):
        files = table_files(folder, f"{CANDIDATE}{name}")
        found = the_engine().run(drawn, files, people // max(1, len(files)), "chart")
        named[name] = undated(pl.concat(found), release)
    return release_format.internal(named, series.contract)


def _drawn(one_in: int, part: Path) -> pl.DataFrame:
    """The rows of some groups in a part of a table: one group in so many."""
    return scan_parts([part]).filter(pl.col("group_id") % one_in == 0).collect(engine="streaming")


def _is_kept(folder: Path, committed: ReleaseRecord) -> bool:
    return all((folder / name).exists() for name in committed.files)


def _records(series: Series, release: str) -> dict[str, ReleaseRecord]:
    """What is kept of the last releases up to this one, by their names."""
    last = series.calendar.until(release)[-RELEASES_SHOWN:]
    kept = {due: series.record(due) for due in last}
    return {due: record for due, record in kept.items() if record and record.counts}


def _over_releases(series: Series, so_far: Mapping[str, ReleaseRecord]) -> dict[str, list[OverReleases]]:
    """Charts of what the attacks found: of what is promised, and of what else moves."""
    release, last = list(so_far.items())[-1]
    number = series.calendar.number
    promises = [last.promises[number(due) - number(release) - 1] for due in so_far]
    figures = {due: record.attack for due, record in so_far.items()}
    declared = [(chart, part) for part in promises[-1] for chart in part.charts]
    promised = [
        over_releases(chart, figures, [one.part(type(part)) for one in promises], _changed(so_far))
        for chart, part in declared
    ]
    drawn = {curve.figure for chart, _ in declared for curve in chart.curves}
    others = [
        OverReleases(
            name, "", tuple(so_far), {name: tuple(legible(one.get(figure)) for one in figures.values())}
        )
        for figure in last.attack
        if figure not in drawn
        for name in named({figure: last.attack[figure]}, series.contract)
    ]
    return {
        PROMISED_AND_FOUND: [chart for chart in promised if chart.lines],
        MOVES: [chart for chart in others if chart.moves],
    }


def _counterfeits(so_far: Mapping[str, ReleaseRecord]) -> OverReleases:
    """The share of counterfeits over the releases."""
    lines = {"counterfeits": tuple(map(_counterfeit_share, so_far.values()))}
    return OverReleases(COUNTERFEIT_SHARE, "% of rows", tuple(so_far), lines, changed=_changed(so_far))


def _changed(so_far: Mapping[str, ReleaseRecord]) -> dict[int, str]:
    return what_changed([record.parameters for record in so_far.values()])


def _counterfeit_share(record: ReleaseRecord) -> float:
    """Counterfeits among the published rows of a release, in per cent."""
    assert record.counts is not None, "only releases are shown of which something is kept"
    return 100 * record.counts.counterfeits / max(1, record.counts.tuples)


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
