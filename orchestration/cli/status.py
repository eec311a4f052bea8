"""`republish status`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from republish.orchestration.cli.options import Debug, HomePath
from republish.orchestration.cli.terminal import out, raw


def status(
    of: Annotated[
        Path | None,
        typer.Argument(
            metavar="CONTRACT-or-HOME",
            help="A contract; or a home (that of --home), for all that it knows.",
        ),
    ] = None,
    home: HomePath = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON for programs: counts, and nobody in them.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 1 if a release is late.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Say of each series what its last release is, what was counted of it, and whether a release is late.

    Nothing is verified, made or changed, and Dagster is not asked: it takes no time to speak of.
    """
    from republish.orchestration.contracts.contract_file import load_contract
    from republish.orchestration.contracts.registry import knows_none, loaded_contracts
    from republish.orchestration.series.homes import default_home
    from republish.orchestration.series.lock import named
    from republish.orchestration.series.series import Series
    from republish.orchestration.series.standing import not_released_in_words, standing
    from republish.orchestration.storage.home import Home

    if of is None or of.is_dir():
        place = Home.named(of or home)
        files = [] if knows_none(place) else loaded_contracts(place)
    else:
        files = [load_contract(of)]
        place = Home.named(home, default_home(files[0]))
    found = [standing(Series(file, place)) for file in files]
    if as_json:
        raw(json.dumps({"series": found}, indent=2, ensure_ascii=False) + "\n")
    elif not files:
        where = of or place.path
        out.print(
            f"{where}: nothing was released from here yet; name a contract, or the home of its releases"
        )
    for one in () if as_json else found:
        last = one["last_release"]
        counted = {name: one.get(name) for name in ("rows", "people", "groups", "counterfeits")}
        counts = "".join(f", {count:,} {name}" for name, count in counted.items() if count is not None)
        number = "1 release" if one["releases"] == 1 else f"{one['releases']} releases"
        said = f"{number}, the last is {last}{counts}" if last else "no release yet"
        without = not_released_in_words(one.get("not_released", {}))
        late = f"; late: {named(one['late'])}" if one["late"] else ""
        gone = f"; the folders of {named(one['gone'])} are gone: put them back" if one["gone"] else ""
        out.print(f"{one['product']}/{one['series']}  {said}{without and f'; {without}'}{late}{gone}")
    if any(one["late"] for one in found) and not as_json:
        out.print(
            "Where no more releases will come, name the last one in the contract (releases: {…, last: …}), or"
            " take dates out."
        )
    if strict and any(one["late"] for one in found):
        raise typer.Exit(1)
