"""`republish person`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from republish.orchestration.cli.options import ContractPath, Debug, HomePath
from republish.orchestration.cli.terminal import out


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
            help="A file with the person's identifier on its only line (of two columns 12,3). Default:"
            " standard input.",
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

    from republish.anonymize.errors import PersonError
    from republish.orchestration.contracts.contract_file import load_contract
    from republish.orchestration.rights.find import find
    from republish.orchestration.rights.pages import write_sheet
    from republish.orchestration.series.homes import series_at
    from republish.orchestration.storage.leftovers import settle
    from republish.orchestration.storage.log import note

    file = load_contract(contract)
    series = series_at(file, home)
    asked = read_identifiers(identifier, file.contract.identifier)
    if len(asked) > 1:
        raise PersonError(f"{len(asked)} identifiers are given: a sheet is about one person")
    settle(series.home, file.contract.product)
    found = find(series, asked[0])
    today = dt.datetime.now(dt.UTC).date().isoformat()
    note(series.home, "person", series.name, file.sha256)
    page, content = write_sheet(folder, found, file.contract, today)
    for one in found.series:
        unknown = f", {len(one.unknown)} more unknown" if one.unknown else ""
        out.print(
            f"{one.series}  in {len(one.names_published)} of {len(one.names)} releases{unknown};"
            f" {len(one.held)} files have rows of theirs"
        )
    if not found.series:
        out.print(f"{series.name}: no release is published in {series.home.path}")
    if found.elsewhere:
        out.print(f"also in releases of {', '.join(found.elsewhere)}")
    out.print(f"{page} is for the person, {content} for you")


def read_identifiers(file: Path | None, identifier: str) -> list[str]:
    """Identifiers, one on each line of a file or of standard input; a terminal asks for one, and hides it.

    `identifier` is the contract's: of several columns, each line has their values as a CSV file does.

    Raises PersonError if there is none.
    """
    from republish.anonymize.contract.identifier import columns_of_identifier, given
    from republish.anonymize.errors import PersonError
    from republish.orchestration.cli.terminal import ask

    if file is None and sys.stdin.isatty():
        columns = columns_of_identifier(identifier)
        which = f", {','.join(columns)}" if len(columns) > 1 else ""
        text = ask(f"Identifier{which} (not shown)", is_hidden=True)
    else:
        content = sys.stdin.buffer.read() if file is None else file.read_bytes()
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise PersonError(
                f"{file or 'standard input'}: line {line} is no text in UTF-8. Write the list in UTF-8"
                " (`iconv -f latin1 -t utf-8`, say)"
            ) from None
    try:
        asked = given([line.strip() for line in text.splitlines() if line.strip()], identifier)
    except ValueError as error:
        raise PersonError(f"{file or 'standard input'}: {error}") from None
    if not asked:
        raise PersonError("no identifier is given: write one on a line of standard input, or of a file")
    return list(dict.fromkeys(asked))
