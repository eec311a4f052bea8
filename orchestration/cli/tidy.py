"""`republish tidy`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

import typer

from republish.orchestration.cli.options import Debug, HomePath
from republish.orchestration.cli.terminal import out


def tidy(
    home: HomePath = None,
    keep: Annotated[
        int, typer.Option("--keep", min=1, help="How many releases of each series keep their runs.")
    ] = 24,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete them. Without it, nothing is deleted.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Delete old runs from the home's Dagster, with their logs: nothing else does, and a release adds 0.5 MB.

    Without --delete it says which runs these are.

    Of the releases that these runs made, Dagster then shows only what their checks found. Runs of the last
    releases stay, and so do runs that are not over and runs of releases that are not published. Nothing that
    republish has published or builds on is touched. What killed commands left of people in the home is
    deleted, too.
    """
    from republish.orchestration.dagster.tidy import delete_runs, old_runs
    from republish.orchestration.storage.home import RELEASING, Home, only_one
    from republish.orchestration.storage.leftovers import settle
    from republish.orchestration.storage.log import note

    place = Home.named(home)
    if not (found := old_runs(place, keep)):
        out.print(f"{place.dagster}: no run is older than the last {keep} releases of its series")
    with ExitStack() as held:
        for old in found:
            if delete:
                folder, name = place.private(old.product, old.series), f"series {old.product}/{old.series}"
                held.enter_context(only_one(folder, name, name=RELEASING))
            runs = f"{len(old.runs):,} {'run' if len(old.runs) == 1 else 'runs'}"
            out.print(f"{old.product}/{old.series}  {runs} of releases before {old.before}")
        if delete:
            settle(place)
            if found:
                note(place, "tidy", runs=sum(len(old.runs) for old in found))
            for old in found:
                delete_runs(place, old)
        if found:
            out.print("deleted" if delete else "nothing was deleted: run again with --delete")
