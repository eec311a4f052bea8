"""Dagster's pages of a home, behind the gate, with or without Dagster's daemon beside them.

The app is Dagster's own, and begins as it does by the command `dagster-webserver`. The command itself takes
nothing to stand in front of it. As a server behind another one, it would have a port that every page can ask.
"""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path

import uvicorn
from dagster_webserver.app import create_app_from_workspace_process_context

# What the command itself begins with; no other module of Dagster's that is public has these.
from dagster_webserver.cli import (  # type: ignore[attr-defined]
    WorkspaceOpts,
    WorkspaceProcessContext,
    workspace_opts_to_load_target,
)

from republish.anonymize.errors import HomeError
from republish.orchestration.dagster.daemon import LAST_STEPS
from republish.orchestration.dagster.gate import Gate
from republish.orchestration.dagster.instance import instance_of, usable_tables
from republish.orchestration.storage.home import Home, make_secret

TOKEN = "pages.token"  # noqa: S105 - the name of a file
"""In DAGSTER_HOME: what lets a browser in. Where it is deleted, the next start makes another one."""
ON_A_SERVER = (15_000, 3600, 20)
"""Where Dagster's tables are in PostgreSQL: milliseconds for a statement, seconds for a connection, and how
many connections there may be beyond those that are kept. Dagster's own command has the same."""
LAST_REQUESTS = 10
"""Seconds that requests have to be answered in when the server ends."""


def token_of(home: Home) -> str:
    """The token that lets a browser in; made at first use.

    It outlasts the server: a service that begins again leaves its readers where they are, and no journal has
    to have it. Whoever reads the home, where it lies, reads all that the pages show.

    Raises
    ------
    HomeError
        If the file has none.
    """
    file = home.dagster / TOKEN
    make_secret(file, "the token of the pages", lock=".token-lock")
    token = file.read_text(encoding="ascii", errors="replace").strip()
    if not (token.isascii() and token.isalnum() and len(token) >= 32):
        raise HomeError(f"{file}: is no token. Delete it, and the next start makes another one")
    return token


@contextmanager
def pages(
    home: Home, workspace: Path, addresses: Collection[str] = (), *, read_only: bool = False
) -> Iterator[Gate]:
    """Dagster's pages of a home, as an app.

    Parameters
    ----------
    home
        The publisher's folder, whose DAGSTER_HOME is prepared.
    workspace
        What Dagster loads.
    addresses
        Origins under which a proxy shows the pages.
    read_only
        Let nobody change anything.
    """
    token, loads = token_of(home), workspace_opts_to_load_target(WorkspaceOpts(workspace=[str(workspace)]))
    with usable_tables(home.dagster), instance_of(home.dagster) as instance:
        instance.optimize_for_webserver(*ON_A_SERVER)
        with WorkspaceProcessContext(instance, loads, version("dagster-webserver"), read_only) as context:
            app = create_app_from_workspace_process_context(context)
            yield Gate(app, token, f"in {home.dagster / TOKEN}", frozenset(addresses), read_only)


def serve(app: Gate, port: int, daemon: Sequence[str] = ()) -> None:
    """Serve pages on 127.0.0.1, with the daemon that a command begins, until Ctrl-C.

    Raises
    ------
    HomeError
        If the daemon ends by itself.
    """
    settings = uvicorn.Config(
        app, host="127.0.0.1", port=port, log_level="warning", timeout_graceful_shutdown=LAST_REQUESTS
    )
    server = uvicorn.Server(settings)
    # Else these would end this process, and leave the daemon. While it serves, uvicorn answers SIGTERM, by a
    # handler that raises nothing: where Python ignores exceptions, what SIGHUP raises would be lost.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    with suppress(KeyboardInterrupt), _beside(server, daemon):
        server.run()
        raise HomeError(
            "Dagster's daemon ended, and so did the pages. If it said why, above, mend that; then begin again"
        )


@contextmanager
def _beside(server: uvicorn.Server, daemon: Sequence[str]) -> Iterator[None]:
    """Have a daemon as long as a server, and a server as long as its daemon."""
    if not daemon:
        yield
        return
    # In a session of its own: Ctrl-C reaches it once, from here, when the last page was answered.
    process = subprocess.Popen(daemon, start_new_session=True)

    def end_with_it() -> None:
        process.wait()
        server.should_exit = True

    threading.Thread(target=end_with_it, daemon=True).start()
    try:
        yield
    finally:
        process.terminate()  # the daemon answers as to Ctrl-C; where it still imports, it ends at once
        try:
            process.wait(LAST_STEPS)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            process.kill()
