"""`republish ui`."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import Annotated

import typer

from orchestration.cli.options import Debug, HomePath
from orchestration.cli.terminal import out


class Part(StrEnum):
    """A process of Dagster's."""

    webserver = "webserver"
    daemon = "daemon"


def ui(
    home: HomePath = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port on 127.0.0.1.")] = 3000,
    only: Annotated[
        Part | None,
        typer.Option(
            "--only",
            help="One of its two processes, each for a service of its own: the pages or the schedules.",
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Open Dagster in the browser: lineage, checks, plots.

    Schedules and backfills are there, too. The server listens on 127.0.0.1 only; Ctrl-C ends it.
    """
    from orchestration.dagster.instance import dagster_instance, end_dead_runs, prepare_dagster_home
    from orchestration.package_files import package_file
    from orchestration.ports import refuse_taken
    from orchestration.storage.home import Home

    place = Home.at(home)
    if only is not Part.daemon:
        refuse_taken(port)
    prepare_dagster_home(place)
    if only is not Part.webserver:
        with dagster_instance(place) as instance:
            end_dead_runs(place, instance)
    if only is Part.daemon:
        out.print(f"Dagster's daemon, of {place.path}. Ctrl-C ends it.")
    else:
        out.print(f"Dagster on http://127.0.0.1:{port}, of {place.path}. Ctrl-C ends it.")
    # Dagster advises to use another command of its own, which is nobody's concern here.
    quiet = ["-W", "ignore:Function `dev_command` is superseded"]
    server = ["--host", "127.0.0.1", "--port", str(port)]
    command = {
        None: ["dagster", "dev", *server],
        Part.webserver: ["dagster_webserver", *server],
        Part.daemon: ["dagster._daemon", "run"],
    }[only]
    workspace = ["--workspace", str(package_file("workspace.yaml"))]
    os.chdir(place.dagster)
    os.execv(sys.executable, [sys.executable, *quiet, "-m", *command, *workspace])  # noqa: S606 - our own
