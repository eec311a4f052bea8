"""`republish audit`: attack published folders, and say whether what was promised holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from anonymize.errors import PublishedFolderError
from orchestration.audit.findings import Findings, Material, attack, steps
from orchestration.audit.foreign import load_mapping
from orchestration.audit.reading import Reading, find_series, read_contract
from orchestration.audit.report import describe, write_report
from orchestration.snapshots.previous import read_previous

HOLDS, BROKEN = 0, 3
SECONDS = 60.0
"""Time for the equivalence attack on each series, unless told otherwise."""


def audit_command(
    published: Annotated[
        list[Path],
        typer.Argument(
            metavar="PUBLISHED…",
            help="Release or series folders, or another tool's .csv and .parquet files. Several series of the"
            " same people are attacked together.",
        ),
    ],
    truth: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="The true tables: <release>.parquet or <release>.csv for every release."
        ),
    ],
    contract: Annotated[
        Path,
        typer.Option(
            metavar="CONTRACT", help="The YAML file that says what the columns are and what is promised."
        ),
    ],
    private: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The publisher's private folder. With it, groups are checked person by person.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write audit.html and audit.json there.")
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(metavar="YAML", help="Which column is what, for releases that republish didn't make."),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(help="Time for the search who is known to have the same value as whom, per series."),
    ] = SECONDS,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001
) -> None:
    """Attack published releases with full background knowledge, and report what holds.

    Exit codes: 0 every promise holds, 3 a promise is broken, 2 the input is wrong.
    """
    code = audit(published, truth, contract, private=private, out=out, mapping=mapping, seconds=seconds)
    raise typer.Exit(code)


def audit(
    published: list[Path],
    truth: Path,
    contract: Path,
    *,
    private: Path | None = None,
    out: Path | None = None,
    mapping: Path | None = None,
    seconds: float = SECONDS,
    console: Console | None = None,
) -> int:
    """Attack published folders and report; returns 0 if every promise holds and 3 if one is broken.

    Parameters
    ----------
    published
        Release folders, series folders, or other tools' files; of several series too.
    truth
        Folder with `<release>.parquet` or `<release>.csv`.
    contract
        YAML; what an audit doesn't need (product, series, source, releases) may be left out.
    private
        Folder in which the releases' `linkage.parquet` are found.
    out
        Where `audit.html` and `audit.json` are to be written.
    mapping
        YAML that maps the columns of other tools' releases.
    seconds
        Time for the equivalence attack on each series.
    console
        Where to print; standard output by default.

    Raises
    ------
    ContractError, SnapshotError, PublishedFolderError
        If something can't be read, or is not what it says it is.
    """
    # In a pipe every promise is one line, whatever the width that is assumed of a pipe.
    console = console or Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    declared_in = read_contract(contract)
    declared = declared_in.contract
    foreign = load_mapping(mapping, declared) if mapping else None
    reading = Reading()
    for file in (contract, *([mapping] if mapping else [])):
        reading.note(file)
    for folder in (truth, *([private] if private else [])):
        if not folder.is_dir():
            raise PublishedFolderError(f"{folder}: is no folder")
    series, previous = find_series(published, foreign), read_previous(declared_in)
    material = Material(declared_in, series, truth, private, foreign, reading, previous)
    findings = _attacked(material, seconds, console)
    _print(findings, console)
    if out is not None:
        html, data = write_report(describe(findings, material, contract), findings, out)
        console.print(f"Report: {html}\n        {data}", soft_wrap=True)
    return HOLDS if findings.holds else BROKEN


def _attacked(material: Material, seconds: float, console: Console) -> Findings:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed}/{task.total} {task.description}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=steps(material))
        for step in attack(material, seconds):
            if isinstance(step, Findings):
                return step
            progress.update(task, description=step, advance=1)
    raise AssertionError("the attack ends with its findings")


def _print(findings: Findings, console: Console) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("promise", "series"):
        table.add_column(heading)
    for heading in ("looked at", "broken", "found", "promised"):
        table.add_column(heading, justify="right")
    table.add_column("holds")
    for row in findings.promises().iter_rows(named=True):
        kept = "yes" if not row["undecided"] else f"not decided for {row['undecided']:,}"
        holds = kept if row["holds"] else "[red]NO[/red] " + ", ".join(row["broken_in"])
        figures = ["-" if row[name] is None else f"{row[name]:.4g}" for name in ("found", "required")]
        table.add_row(
            row["promise"], row["series"], f"{row['people']:,}", f"{row['broken']:,}", *figures, holds
        )
    console.print(table)
    broken = (~findings.promises()["holds"]).sum()
    undecided = int((findings.promises()["undecided"] > 0).sum())
    kept = (
        "Every promise holds."
        if not undecided
        else f"No promise is broken; {undecided} could not be decided."
    )
    verdict = f"{broken} of {len(findings.promises())} promises are broken." if broken else kept
    console.print(
        f"{verdict} {len(findings.not_covered)} things were not covered; the report (--out) says which."
    )
