"""`republish ui`."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from orchestration.cli.options import Debug, HomePath
from orchestration.cli.terminal import out


def ui(
    home: HomePath = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port on 127.0.0.1.")] = 3000,
    debug: Debug = False,
) -> None:
    """Open Dagster in the browser: lineage, checks, plots.

    Schedules and backfills are there, too. The server listens on 127.0.0.1 only; Ctrl-C ends it.
    """
    from orchestration.dagster.instance import prepare_dagster_home
    from orchestration.package_files import package_file
    from orchestration.ports import refuse_taken
    from orchestration.storage.home import Home

    place = Home.at(home)
    refuse_taken(port)
    prepare_dagster_home(place)
    out.print(f"Dagster on http://127.0.0.1:{port}, of {place.path}. Ctrl-C ends it.")
    # Dagster advises to use another command of its own, which is nobody's concern here.
    quiet = ["-W", "ignore:Function `dev_command` is superseded"]
    command = ["dagster", "dev", "--workspace", str(package_file("workspace.yaml")), "--host", "127.0.0.1"]
    os.chdir(place.dagster)
    os.execv(sys.executable, [sys.executable, *quiet, "-m", *command, "--port", str(port)])  # noqa: S606 - our own
