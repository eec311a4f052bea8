"""`republish backup` and `republish restore`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from republish.orchestration.cli.options import Debug, HomePath
from republish.orchestration.cli.terminal import out

if TYPE_CHECKING:
    from republish.orchestration.series.backup import Backup


def backup(
    of: Annotated[
        Path, typer.Argument(metavar="CONTRACT-OR-HOME", help="The home's folder, or a contract of it.")
    ],
    into: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The backup, …/name.tar; or a folder, in which it is named by the time.",
        ),
    ],
    without_key: Annotated[
        bool,
        typer.Option(
            "--without-key", help="Leave secret.key out: you keep it elsewhere. Without it nothing goes on."
        ),
    ] = False,
    home: HomePath = None,
    debug: Debug = False,
) -> None:
    """Back up a home into one file: key, private and published releases, history, log, and Dagster's tables.

    It can be made at any time. While a step of a release is made, it waits for the end of that step; releases
    wait until it is done. The file has your people in it: only you can read it, and it belongs where the
    snapshots may lie. A key from REPUBLISH_KEY is not in it.
    """
    from republish.anonymize.errors import HomeError
    from republish.orchestration.contracts.contract_file import load_contract
    from republish.orchestration.series.backup import back_up
    from republish.orchestration.series.homes import default_home
    from republish.orchestration.storage.home import Home, is_home

    place = Home.named(of if of.is_dir() else home, None if of.is_dir() else default_home(load_contract(of)))
    if not is_home(place.path):
        raise HomeError(
            f"{place.path}: is no home: it has neither a key nor a history. Name the home's folder"
        )
    made = back_up(place, into, with_key=not without_key)
    _say(made)
    key = "with the key" if made.has_key else "without the key"
    out.print(f"{made.path}  {made.path.stat().st_size / 1e6:,.1f} MB, {key}")


def restore(
    file: Annotated[Path, typer.Argument(metavar="BACKUP", help="What republish backup wrote.")],
    home: Annotated[
        Path,
        typer.Option("--home", metavar="DIR", help="The folder that becomes the home; it must not exist."),
    ],
    published: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Copies of all that is out, as product/series/release: later releases are made once more,"
            " and must become what they were.",
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            "--log",
            metavar="FILE",
            help="A later copy of the home's log.jsonl: it says when people were forgotten after the backup,"
            " and how many.",
        ),
    ] = None,
    nothing_later: Annotated[
        bool,
        typer.Option(
            "--nothing-later",
            help="Nothing was published after the backup, and nobody forgotten: you know that.",
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    """Restore a home from a backup, on this machine or another one, and go on with its series.

    All of it is checked before anything is in its place, and a home that is there is never overwritten. If it
    is killed, run it again.

    A series has to know its last releases. If some were published after the backup, their snapshots, contract
    and version of republish make them again, byte for byte, and republish release goes on after them. What
    else was done after the backup is lost: whoever was forgotten since is in the home again. Releases wait
    until they are forgotten again (republish forget). A later copy of the home's log says how many they were,
    and when.
    """
    from republish.anonymize.errors import HomeError
    from republish.orchestration.series.backup import restore as restored

    if published is not None and nothing_later:
        raise HomeError("--published and --nothing-later exclude each other: give one of them")
    found = restored(file, home, published, log, nothing_later=nothing_later)
    _say(found)
    out.print(f"{found.path}  restored as it was on {found.at}")
    if found.forgettings is None and not nothing_later:
        out.print(
            f"People who were forgotten after {found.at} are in this home again, and new releases wait."
            " Forget them again, and say when that is done: republish forget CONTRACT --that-is-all. (--log"
            " FILE, a later copy of the home's log, would have said how many they are, and when)"
        )
    for line in found.forgettings or ():
        how = "--again" if line["again"] else "--never-again"
        out.print(
            f"{line['series']}  {line['people']:,} people were forgotten ({how}) at {line['at']}, and are in"
            " this home again. Forget them again once the releases published until then are made again"
        )


def _say(backup: Backup) -> None:
    for name in sorted({*backup.releases, *backup.since}):
        dates, later = backup.releases.get(name, ()), backup.since.get(name)
        last = f"{len(dates)} releases, the last is {dates[-1]}" if dates else "no release"
        out.print(f"{name}  {last}" + (f"; {later} more are out, and are made again" if later else ""))
