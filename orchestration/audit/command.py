"""`republish audit`: attack published folders, and say whether what was promised holds."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from republish.anonymize.errors import PublishedFolderError, SignatureError
from republish.anonymize.people.rows import has_several_rows
from republish.orchestration.audit import SECONDS
from republish.orchestration.audit.findings import Findings
from republish.orchestration.audit.read.folders import Reading, find_series, read_contract
from republish.orchestration.audit.read.foreign import load_mapping, states_promise
from republish.orchestration.audit.read.material import Material
from republish.orchestration.audit.read.own import own_home, why_no_groups
from republish.orchestration.audit.report.account import Line, account
from republish.orchestration.audit.report.document import audited_releases, signed_part, write_report
from republish.orchestration.audit.report.raw import About, raw
from republish.orchestration.audit.report.words import (
    CHANGED,
    combinations,
    in_words,
    reading,
    releases,
    verdict,
)
from republish.orchestration.audit.run import attack, steps
from republish.orchestration.audit.signature import load_private_key, nonce, sign_report
from republish.orchestration.snapshots.previous import read_previous
from republish.orchestration.storage.home import refuse_unwritable
from republish.orchestration.unforeseen import named
from republish.orchestration.written import filled

HOLDS, BROKEN = 0, 3


def audit(
    published: list[Path],
    truth: Path | None,
    contract: Path,
    *,
    private: Path | None = None,
    out: Path | None = None,
    mapping: Path | None = None,
    seconds: float = SECONDS,
    auditor: str | None = None,
    purpose: str | None = None,
    sign: Path | None = None,
    console: Console | None = None,
) -> int:
    """Attack published folders and report; returns 0 if every promise holds, and 3 otherwise.

    It returns 3, too, where releases keep what they promised, and never promised what the contract asks for.

    Parameters
    ----------
    published
        Release folders, series folders, or other tools' files; of several series too.
    truth
        Folder with `<release>.parquet` or `<release>.csv`. None for one's own releases: the snapshots are
        those that their home keeps, or else those of the contract's source; `private` is that of the home.
    contract
        YAML; what an audit doesn't need (product, series, source, releases) may be left out.
    private
        Folder in which the releases' `linkage.parquet` are found.
    out
        Where the report is to be written: `audit.html`, without paths and small counts, and `audit.json`
        with all figures.
    mapping
        YAML that maps the columns of other tools' releases.
    seconds
        Time for the equivalence attack on each series.
    auditor, purpose
        Who audits, and what for; both are printed in the report.
    sign
        An Ed25519 private key (PEM): the report and the manifests of all releases are signed.
    console
        Where to print; standard output by default.

    Raises
    ------
    HomeError
        If nothing may be written to `out`.
    ContractError, SnapshotError, PublishedFolderError
        If something can't be read, or is not what it says it is.
    SignatureError
        If the key can't be used, or there is no report to be signed. That is known before anything
        is attacked.
    """
    if sign is not None and out is None:
        raise SignatureError("--sign: there is nothing to sign without a report. Add --out FOLDER")
    key = None if sign is None else load_private_key(sign)
    if out is not None:
        refuse_unwritable(out)  # nobody waits for an attack of hours to learn it
    # A pipe has no width: 140 characters leave every promise on one line.
    console = console or Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 140)
    is_promised = mapping is not None and states_promise(mapping)
    declared_in = read_contract(contract, is_promised_elsewhere=is_promised)
    declared = declared_in.contract
    foreign = load_mapping(mapping, declared) if mapping else None
    reading = Reading()
    for file in (contract, *([mapping] if mapping else [])):
        reading.note(file)
    for folder in (one for one in (truth, private) if one is not None):
        if not folder.is_dir():
            raise PublishedFolderError(f"{folder}: is no folder")
    with named(published[0]):
        series, previous = find_series(published, foreign), read_previous(declared_in)
    home = own_home(published, declared.product) if truth is None and foreign is None else None
    if home is not None and private is None:
        private = home.private(declared.product, "")
        if (why := why_no_groups(home, series)) is not None:
            private = None
            console.print(f"Groups are not checked person by person: {why}.", soft_wrap=True)
    material = Material(
        declared_in, series, truth, private, foreign, reading, previous, home, measures=out is not None
    )
    with named(published[0]):
        findings = _attacked(material, seconds, console)
    lines = account(findings, material)
    _print(findings, lines, console)
    if out is not None:
        drawn = None if key is None else nonce(key, audited_releases(material))
        about = About(dt.datetime.now(dt.UTC).date().isoformat(), auditor, purpose, drawn)
        found = raw(findings, material, contract, about, lines)
        written = write_report(found, findings, out)
        if key is not None:
            written += sign_report(out, key, written, audited_releases(material), signed_part(found))
        console.print("Report: " + "\n        ".join(map(str, written)), soft_wrap=True)
    return HOLDS if findings.keeps_contract else BROKEN


def _attacked(material: Material, seconds: float, console: Console) -> Findings:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed}/{task.total} {task.description}"),
        TimeElapsedColumn(),
        TextColumn("about"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    total, log = steps(material), Console(stderr=True, markup=False, highlight=False, quiet=console.quiet)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total)
        for number, step in enumerate(attack(material, seconds), start=1):
            if isinstance(step, Findings):
                return step
            progress.update(task, description=step, completed=number - 1)
            if not console.is_terminal:
                log.print(f"attacking {step} ({number} of {total})", soft_wrap=True)
    raise AssertionError("the attack ends with its findings")


def _print(findings: Findings, lines: Sequence[Line], console: Console) -> None:
    for line in lines:
        console.print(filled(line.what, line.people), soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for heading in ("promise", "series"):
        table.add_column(heading)
    for heading in ("looked at", "broken", "found", "promised"):
        table.add_column(heading, justify="right")
    table.add_column("holds")
    rows = findings.promises()
    for row in rows.iter_rows(named=True):
        kept = "yes" if not row["undecided"] else f"not decided for {row['undecided']:,}"
        broken = Text.assemble(("NO", "red"), " ", ", ".join(row["broken_in"]))
        holds = kept if row["holds"] else broken
        found, required = ("-" if row[name] is None else f"{row[name]:.4g}" for name in ("found", "required"))
        by = f" by {releases(row['promised_in'])}" if row["promised_in"] else ""
        counts = f"{row['people']:,}", f"{row['broken']:,}"
        table.add_row(row["promise"], row["series"], *counts, found, f"{required}{by}", holds)
    console.print(table)
    console.print(reading(of_rows=has_several_rows(findings.contract)))
    if rows["promised_in"].is_not_null().any():
        console.print(CHANGED)
    if (sensitive := findings.contract.sensitive) is not None and sensitive.is_several:
        console.print(combinations([column.name for column in sensitive.columns]))
    for row in findings.missed.iter_rows(named=True):
        console.print(f"The contract asks for more: {row['series']}, {in_words(row)}.")
    console.print(
        f"{verdict(findings)} {len(findings.not_covered)} things were not covered; the report (--out) says"
        " which."
    )
