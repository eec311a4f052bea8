"""`republish tidy`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

import typer

from orchestration.cli.options import Debug, HomePath
from orchestration.cli.terminal import out


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
    """Delete old runs from the home's Dagster, with their logs: nothing else does, and each takes 0.3 MB.

    Without --delete it says which runs these are and how large their logs.

    The pages of assets stay as they are: lineage, plots, reports, and what the checks of every release found.
    So do runs of the last releases, runs that are not over, and runs of releases that are not published.
    Nothing that republish has published or builds on is touched. What a backup that was killed left in the
    home is deleted, too.
    """
    from orchestration.dagster import tidy as dagster
    from orchestration.storage.home import RELEASING, Home, only_one
    from orchestration.storage.log import note
    from orchestration.storage.store import clear_staged

    place = Home.named(home)
    if not (found := dagster.old_runs(place, keep)):
        out.print(f"{place.dagster}: no run is older than the last {keep} releases of its series")
    with ExitStack() as held:
        for old in found:
            if delete:
                folder, name = place.private(old.product, old.series), f"series {old.product}/{old.series}"
                held.enter_context(only_one(folder, name, name=RELEASING))
            size = dagster.size_of_logs(place, old) / 1e6
            runs = (
                f"{len(old.runs):,} {'run' if len(old.runs) == 1 else 'runs'} of releases before {old.before}"
            )
            out.print(f"{old.product}/{old.series}  {runs}, {size:,.1f} MB of logs")
        if not delete:
            if found:
                out.print("nothing was deleted: run again with --delete")
            return
        clear_staged(place)
        before = dagster.size_of_dagster(place)
        if found:
            note(place, "tidy", runs=sum(len(old.runs) for old in found))
        for old in found:
            dagster.delete_runs(place, old)
        dagster.give_back(place)
        if found and not dagster.is_in_home(place):
            out.print("deleted; the database gives their room to runs that come")
        elif found:
            now = dagster.size_of_dagster(place)
            out.print(f"deleted; {place.dagster} has {now / 1e6:,.1f} MB, it had {before / 1e6:,.1f} MB")
