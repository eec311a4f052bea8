"""`republish person`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from orchestration.cli.options import ContractPath, Debug, HomePath
from orchestration.cli.terminal import out


def person(
    contract: ContractPath,
    folder: Annotated[
        Path,
        typer.Option("--out", metavar="FOLDER", help="Write person.html and person.json there."),
    ],
    identifier: Annotated[
        Path | None,
        typer.Option(
            "--identifier",
            metavar="FILE",
            help="A file with the person's identifier on its only line. Default: standard input.",
        ),
    ] = None,
    home: HomePath = None,
    debug: Debug = False,
) -> None:
    """Find everything that is held of one person, and what the releases say of them.

    Writes a sheet for the person, which prints on A4, and a record for you. They have the person's data: give
    the sheet to nobody else. Nothing is published, and what is held stays as it is. The home's log notes that
    somebody was looked for, and not whom.
    """
    import datetime as dt

    from anonymize.errors import PersonError
    from orchestration.contracts.contract_file import load_contract
    from orchestration.rights.find import find
    from orchestration.rights.sheet import RECORD, SHEET, write_sheet
    from orchestration.series.homes import default_home, refuse_other_home
    from orchestration.series.series import Series
    from orchestration.storage.home import Home
    from orchestration.storage.log import note

    file = load_contract(contract)
    series = Series(file, Home.named(home, default_home(file)))
    refuse_other_home(series)
    if identifier is not None:
        asked = identifier.read_text(encoding="utf-8")
    elif sys.stdin.isatty():
        asked = typer.prompt("Identifier (not shown)", hide_input=True)
    else:
        asked = sys.stdin.read()
    if not (asked := asked.strip()) or "\n" in asked:
        raise PersonError(
            "one identifier on one line is needed, on standard input or in the file that --identifier names"
        )
    found = find(series, asked)
    write_sheet(folder, found, file.contract, dt.datetime.now(dt.UTC).date().isoformat())
    note(series.home, "person", series.name, file.sha256)
    for one in found.series:
        unknown = f", {len(one.unknown)} more unknown" if one.unknown else ""
        out.print(
            f"{one.series}  in {len(one.published)} of {len(one.releases)} releases{unknown};"
            f" {len(one.held)} files have rows of theirs"
        )
    if not found.series:
        out.print(f"{series.name}: no release is published in {series.home.path}")
    if found.elsewhere:
        out.print(f"also in releases of {', '.join(found.elsewhere)}")
    out.print(f"{folder / SHEET} is for the person, {folder / RECORD} for you")
