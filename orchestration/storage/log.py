"""The log of a home: who did what to it and when, in lines that follow one another and name nobody else.

Each line has the digest of the line before: a line that was changed, taken out or put in breaks the chain.
Lines cut off at the end leave no trace in it; a copy elsewhere shows them.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import pwd
import socket
from pathlib import Path
from typing import Any

from anonymize.errors import HomeError
from orchestration.storage.home import Home, for_the_group, only_one

LOG = "log.jsonl"
"""In the home, for its owner alone, or for its group to read."""


def note(
    home: Home, what: str, series: str | None = None, contract_sha256: str | None = None, **more: Any
) -> None:
    """Add a line, and have it on disk: who (user and host) did what, to which series, by which contract.

    Parameters
    ----------
    home
        The publisher's folder.
    what
        The command, or what was done.
    series, contract_sha256
        Product and series, and the digest of the contract; None where it is about the whole home.
    more
        What else is to be said: releases and counts, never a person.
    """
    file = home.path / LOG
    with only_one(home.path, "the log", name=".log-lock"):
        lines = file.read_bytes().splitlines() if file.exists() else []
        line = {
            "at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            **_who(),
            "host": socket.gethostname(),
            "what": what,
            "series": series,
            "contract_sha256": contract_sha256,
            **more,
            "before": _digest(lines[-1]) if lines else None,
        }
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        for_the_group(file)
        with os.fdopen(descriptor, "ab") as stream:
            stream.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())


def verify_log(home: Home) -> int:
    """Check that the lines of a home's log follow one another; returns their number.

    Raises
    ------
    HomeError
        Naming the first line that was changed, or that does not follow the one before.
    """
    return len(_chained(home.path / LOG))


def lines_since(home: Home, later: Path) -> list[dict[str, Any]]:
    """What a later copy of a home's log has after the lines that are in the home.

    Raises
    ------
    HomeError
        If the copy is not there, was changed, or does not begin with the home's lines.
    """
    if not later.is_file():
        raise HomeError(f"{later}: is not there. Name a copy of the home's {LOG}")
    mine, theirs = _chained(home.path / LOG), _chained(later)
    if theirs[: len(mine)] != mine:
        raise HomeError(
            f"{later}: does not begin with the log that the home has: it is older, or another home's. Name a"
            " later copy"
        )
    return [json.loads(line) for line in theirs[len(mine) :]]


def _chained(file: Path) -> list[bytes]:
    """The lines of a log, each of which follows the one before."""
    before = None
    lines = file.read_bytes().splitlines() if file.exists() else []
    for number, line in enumerate(lines, start=1):
        try:
            stated = json.loads(line)["before"]
        except (ValueError, KeyError, TypeError):
            raise HomeError(f"{file}: line {number} is no line of the log. {_WAY_OUT}") from None
        if stated != before:
            raise HomeError(
                f"{file}: line {number} does not follow line {number - 1}: one was changed or taken out."
                f" {_WAY_OUT}"
            )
        before = _digest(line)
    return lines


_WAY_OUT = "Compare it with a copy, and keep both"


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _who() -> dict[str, str]:
    """The account, whatever the environment says of it, and who became it by sudo."""
    number = os.getuid()
    try:
        user = pwd.getpwuid(number).pw_name
    except KeyError:  # a number without a name, in a container
        user = f"{number}"
    by_sudo = os.environ.get("SUDO_USER")
    return {"user": user, **({"sudo_user": by_sudo} if by_sudo else {})}
