"""`republish forget`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from republish.orchestration.cli.options import ContractPath, Debug, HomePath
from republish.orchestration.cli.terminal import out

if TYPE_CHECKING:
    from republish.orchestration.rights.forget import Forgetting


def forget(
    contract: ContractPath,
    identifiers: Annotated[
        Path | None,
        typer.Option(
            "--identifiers",
            metavar="FILE",
            help="A file with an identifier on each line (of two columns 12,3). Default: standard input.",
        ),
    ] = None,
    by_rule: Annotated[
        bool,
        typer.Option(
            "--by-rule",
            help="Forget whom the contract's retention is about. Each release does so, too.",
        ),
    ] = False,
    again: Annotated[
        bool | None,
        typer.Option(
            "--again/--never-again",
            help="Whether they may be published again, or are left out of every later snapshot. Default: they"
            " may; --by-rule does what retention.never_again says.",
        ),
    ] = None,
    that_is_all: Annotated[
        bool,
        typer.Option(
            "--that-is-all",
            help="Say, in a restored home, that whoever was forgotten after the backup is forgotten again.",
        ),
    ] = False,
    delete: Annotated[
        bool, typer.Option("--delete", help="Forget them. Without it, nothing is changed.")
    ] = False,
    home: HomePath = None,
    debug: Debug = False,
) -> None:
    """Take people out of all that is kept of them, in all series of the product.

    Without --delete it says what would be deleted. What is published can't be recalled, and stays; whoever is
    still in the source comes back with its next snapshot, unless it is --never-again. A later audit with the
    private folder can't include them. All of it is done, or nothing; the home's log notes how many they were.
    """
    import polars as pl

    from republish.anonymize.spelling import identifier_forms
    from republish.orchestration.cli.person import read_identifiers
    from republish.orchestration.contracts.contract_file import load_contract
    from republish.orchestration.rights.forget import forget as forgotten
    from republish.orchestration.rights.forget import what_is_kept
    from republish.orchestration.rights.retention import absent, forget_absent, would_be_forgotten
    from republish.orchestration.series.homes import series_at
    from republish.orchestration.series.pending_erasures import all_forgotten_again
    from republish.orchestration.storage.leftovers import settle
    from republish.orchestration.storage.log import note

    file = load_contract(contract)
    series = series_at(file, home)
    if that_is_all:
        if identifiers is not None or by_rule or again is not None or delete:
            raise typer.BadParameter("--that-is-all stands alone")
        settled = all_forgotten_again(series.home, file.contract.product)
        if settled:
            note(series.home, "all forgotten again", series.name, file.sha256)
        out.print("releases go on" if settled else "nobody is to be forgotten again")
        return
    settle(series.home, file.contract.product)
    given = 0
    if by_rule:
        if identifiers is not None or again is not None:
            raise typer.BadParameter("goes with neither --identifiers nor --again or --never-again")
        whom = absent(series)
        again = not (file.contract.retention and file.contract.retention.never_again)
        found = forget_absent(series) if delete else would_be_forgotten(series)
        if whom.unknown:
            out.print(
                f"{whom.unknown:,} people left before this home noted when: a list can name them, no rule can"
            )
        if not whom.persons.len():
            out.print("nobody is to be forgotten by the contract's rule")
            return
    else:
        again = again is not False
        asked = read_identifiers(identifiers, file.contract.identifier)
        given = identifier_forms(pl.Series(asked)).n_unique()
        found = forgotten(series, asked, again=again) if delete else what_is_kept(series, asked)
    _say(found, given)
    if not delete:
        out.print("nothing was changed: run again with --delete")
        return
    out.print("forgotten" if again else "forgotten, and left out of every later snapshot")


def _say(found: Sequence[Forgetting], given: int) -> None:
    """Say what is kept of people in each series, and of how many of the identifiers given nothing is."""
    for one in found:
        out.print(f"{one.series}  {one.people:,} people in {one.rows:,} rows of {one.files:,} files")
    if (unknown := given - sum(one.people for one in found)) > 0:
        least = "at least " if len(found) > 1 else ""  # somebody in several series counts in each
        out.print(
            f"nothing is kept of {least}{unknown:,} of the {given:,} identifiers: either these were forgotten"
            " before, or the source writes them in another way"
        )
