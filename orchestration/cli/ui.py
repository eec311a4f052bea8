"""`republish ui`."""

from __future__ import annotations

import os
import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from republish.orchestration.cli.options import Debug, HomePath
from republish.orchestration.cli.terminal import out


class Part(StrEnum):
    """A process of Dagster's."""

    webserver = "webserver"
    daemon = "daemon"


def _origins(given: list[str] | None) -> list[str]:
    """Addresses as browsers name them in `Origin`."""
    addresses = [address.lower().rstrip("/") for address in given or []]
    if any(not re.fullmatch(r"https://[a-z0-9.-]+(:\d{1,5})?", address) for address in addresses):
        raise typer.BadParameter("is an address as in https://dagster.example.org, without a path")
    return [address.removesuffix(":443") for address in addresses]


def ui(
    contract: Annotated[
        Path | None,
        typer.Argument(metavar="CONTRACT", help="A contract: all series of its home are shown."),
    ] = None,
    home: HomePath = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port on 127.0.0.1.")] = 3000,
    only: Annotated[
        Part | None,
        typer.Option(
            "--only",
            help="One of its two processes, each for a service of its own: the pages or the schedules.",
        ),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Let nobody begin, change or end anything from the pages.")
    ] = False,
    address: Annotated[
        list[str] | None,
        typer.Option(
            "--address",
            metavar="https://…",
            envvar="REPUBLISH_UI_ADDRESS",
            callback=_origins,
            help="Where a proxy shows the pages. May be repeated; other hosts than this machine are refused.",
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Open Dagster in the browser: lineage, checks, plots.

    Schedules and backfills are there, too. The server listens on 127.0.0.1 only, and lets in who has the
    token of the address that it prints; Ctrl-C ends it.
    """
    from republish.orchestration.contracts.contract_file import load_contract
    from republish.orchestration.dagster.instance import dagster_instance, end_dead_runs, prepare_dagster_home
    from republish.orchestration.package_files import package_file
    from republish.orchestration.ports import refuse_taken
    from republish.orchestration.series.homes import default_home
    from republish.orchestration.storage.home import Home

    place = Home.at(home, default_home(load_contract(contract)) if contract else None)
    if only is not Part.daemon:
        refuse_taken(port)
    prepare_dagster_home(place)
    if only is not Part.webserver:
        from republish.orchestration.dagster.daemon import daemon_command, only_daemon

        with only_daemon(place):
            pass  # else this one would say it after the pages are there
        with dagster_instance(place) as instance:
            end_dead_runs(place, instance)
    os.chdir(place.dagster)
    workspace = package_file("workspace.yaml")
    if only is Part.daemon:
        out.print(f"Dagster's daemon, of {place.path}. Ctrl-C ends it.")
        os.execv(sys.executable, daemon_command(place, workspace))  # noqa: S606 - our own
        return
    from republish.orchestration.dagster.webserver import TOKEN, pages, serve, token_of

    token, file, server = token_of(place), place.dagster / TOKEN, f"http://127.0.0.1:{port}"
    if out.is_terminal:
        said = f"Dagster on {server}/?token={token}, of {place.path}"
        out.print(f"{said}. Begin at Lineage there. Ctrl-C ends it.")
    else:  # a journal, say, that others may read
        out.print(f"Dagster on {server}, of {place.path}. Its token is in {file}. Ctrl-C ends it.")
    with pages(place, workspace, address or (), read_only=read_only) as app:
        serve(app, port, () if only else daemon_command(place, workspace, os.getpid()))
