"""`republish verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from republish.orchestration.cli.options import Debug, Limit, PublishedPath
from republish.orchestration.cli.terminal import out


def verify(
    published: PublishedPath,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="A signed audit of it: the folder that republish audit --sign wrote."
        ),
    ] = None,
    public_key: Annotated[
        Path | None,
        typer.Option("--public-key", metavar="KEY", help="The auditor's Ed25519 public key (PEM)."),
    ] = None,
    log: Annotated[
        bool,
        typer.Option("--log", help="Check the log of a home: PUBLISHED is the home's folder."),
    ] = False,
    limit: Limit = None,
    debug: Debug = False,
) -> None:
    """Check that published folders are as they were published.

    Every file is compared with its manifest, and the manifests with one another. The private folder is
    not needed: everybody who receives a release can check it. With --report and --public-key, a signed audit
    is checked too: its signature, its files, and that these are the releases that were audited. Releases of a
    series that were published since are named.
    """
    if log:
        from republish.orchestration.storage.home import Home
        from republish.orchestration.storage.log import LOG, verify_log

        found = verify_log(Home(published))
        out.print(f"{published / LOG}: {len(found.lines):,} lines, an unbroken chain")
        if found.unsealed:
            out.print(
                f"lines 1 to {found.unsealed:,} have no seal: an older version of republish wrote them, or"
                " somebody without the home's key who took all seals away. A copy elsewhere tells which"
            )
        if not found.has_key and len(found.lines) > found.unsealed:
            out.print(
                f"the seals of {len(found.lines) - found.unsealed:,} lines were not checked, for that takes"
                " the home's key: whoever may write the file could have written them anew"
            )
        if found.torn:
            out.print(
                f"the last line is torn ({found.torn:,} bytes), and not counted. The next command that notes"
                " anything sets it aside"
            )
        return
    if (report is None) != (public_key is None):
        from republish.anonymize.errors import SignatureError

        raise SignatureError("--report and --public-key belong together: give both, or neither")
    from republish.orchestration.storage.in_stores import fetched

    with fetched([published]) as (folder,):
        # Another tool's files have no manifests that vouch for them.
        if report is None or (folder.is_dir() and any(folder.glob("**/manifest.json"))):
            _verify_folder(folder)
        if report is not None and public_key is not None:
            _verify_signature(folder, report, public_key)


def _verify_folder(published: Path) -> None:
    from republish.orchestration.storage.hidden import check_tables
    from republish.orchestration.storage.manifest import is_release, verify_release, verify_series
    from republish.orchestration.unforeseen import named

    one = is_release(published)
    with named(published):
        manifests = [verify_release(published)] if one else verify_series(published)
    for stated in manifests:
        folder = published if one else published / stated["release"]
        with named(folder):
            is_compared = check_tables(folder, stated)
        apart = (
            "" if is_compared else "; bytes between rows not compared: another version of polars wrote them"
        )
        out.print(f"{stated['release']}  {len(stated['files'])} files as in the manifest{apart}")
    if not one:
        releases = "1 release" if len(manifests) == 1 else f"{len(manifests)} releases"
        out.print(f"{releases}, an unbroken chain")


def _verify_signature(published: Path, report: Path, public_key: Path) -> None:
    from republish.anonymize.errors import as_data
    from republish.orchestration.audit.signature import load_public_key, verify_releases, verify_report
    from republish.orchestration.unforeseen import named

    with named(report):
        statement, found = verify_report(report, load_public_key(public_key))
        releases, since = verify_releases(published, statement)
    count = "1 release" if len(releases) == 1 else f"{len(releases)} releases"
    for line in (
        f"{', '.join(found)}: as signed under the key with SHA-256 {statement.key}",
        f"{count} as audited on {statement.date} by {statement.auditor or 'nobody named'}",
        f"The audit's verdict: {statement.verdict}",
        *([f"published since, and not audited: {', '.join(since)}"] if since else []),
    ):
        out.print(as_data(line))
