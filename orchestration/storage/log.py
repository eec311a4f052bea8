"""The log of a home: who did what to it and when, in lines that follow one another and name nobody else.

Each line has the digest of the line before: a line that was changed, taken out or put in breaks the chain.
Each has a seal, too, so that nobody without the home's key can write the chain anew. Lines of older versions
have none. Lines cut off at the end leave no trace in it; a copy elsewhere shows them.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import pwd
import socket
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from republish.anonymize.errors import HomeError
from republish.anonymize.people.randomness import derive_key
from republish.orchestration.storage.home import KEY_VARIABLE, Home, for_the_group, only_one, with_room
from republish.orchestration.storage.sealed import SEAL, sealed, unsealed
from republish.orchestration.storage.store import write_bytes

LOG = "log.jsonl"
"""In the home, for its owner alone, or for its group to read."""
TORN = f"{LOG}.torn"
"""The beginning of the names of files beside it with torn lines in them; the log names each."""


@dataclass(frozen=True)
class Log:
    """A log whose lines follow one another."""

    lines: list[bytes]
    unsealed: int
    """How many lines an older version wrote, without a seal: all of them at the beginning."""
    torn: int
    """Bytes at the end that are the beginning of a line, and not counted."""
    has_key: bool
    """Whether seals were checked."""


def note(
    home: Home, what: str, series: str | None = None, contract_sha256: str | None = None, **more: Any
) -> None:
    """Add a line, and have it on disk: who (user and host) did what, to which series, by which contract.

    Parameters
    ----------
    what
        The command, or what was done.
    series, contract_sha256
        Product and series, and the digest of the contract; None where it is about the whole home.
    more
        What else is to be said: releases and counts, never a person.
    """
    with _locked(home):
        _add(home, {"what": what, "series": series, "contract_sha256": contract_sha256, **more})


def note_once(home: Home, said: Mapping[str, Any], **more: Any) -> None:
    """Add a line, unless there is one that says the same, and maybe more.

    `said` is what no two lines are to say.
    """
    with _locked(home):
        lines, _ = _read(home.path / LOG)
        if not any(said.items() <= (_parsed(line) or {}).items() for line in reversed(lines)):
            _add(home, {**said, **more})


def verify_log(home: Home) -> Log:
    """Check that the lines of a home's log follow one another and, if the key is there, their seals.

    Raises
    ------
    HomeError
        Naming the first line that was changed, or that does not follow the one before.
    """
    return _checked(home.path / LOG, _key_if_any(home))


def lines_since(home: Home, later: Path) -> list[dict[str, Any]]:
    """Lines of a later copy of a home's log after those that are in the home.

    Raises HomeError if the copy is not there, was changed, or does not begin with the home's lines.
    """
    if not later.is_file():
        raise HomeError(f"{later}: is not there. Name a copy of the home's {LOG}")
    key = _key(home)
    mine, theirs = (_checked(file, key).lines for file in (home.path / LOG, later))
    if theirs[: len(mine)] != mine:
        raise HomeError(
            f"{later}: does not begin with the log that the home has: it is older, or another home's. Name a"
            " later copy"
        )
    return [json.loads(line) for line in theirs[len(mine) :]]


def _locked(home: Home) -> AbstractContextManager[None]:
    return only_one(home.path, "the log", name=".log-lock")


def _add(home: Home, said: Mapping[str, Any]) -> None:
    """Add a line to the log, whose lock the caller has.

    What is left there of the line of a command that was killed is set aside, with a line on it.
    """
    file, key = home.path / LOG, _key(home)
    lines, torn = _read(file)
    before, added = lines[-1] if lines else None, b""
    if torn:
        aside = file.with_name(f"{TORN}-{_digest(torn)[:12]}")
        write_bytes(aside, torn)
        told = {"what": "torn line set aside", "series": None, "file": aside.name, "sha256": _digest(torn)}
        before = _line(told, before, key)
        added = before + b"\n"
    added += _line(said, before, key) + b"\n"
    whole = b"".join(line + b"\n" for line in lines)
    if file.exists() and file.stat().st_size != len(whole):  # all of it or nothing
        write_bytes(file, whole + added)
        return
    with with_room(file):
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        for_the_group(file)
        with os.fdopen(descriptor, "ab") as stream:
            stream.write(added)
            stream.flush()
            os.fsync(stream.fileno())


def _line(said: Mapping[str, Any], before: bytes | None, key: bytes) -> bytes:
    line = {
        "at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        **_who(),
        "host": socket.gethostname(),
        **said,
        "before": None if before is None else _digest(before),
    }
    return json.dumps(sealed(line, key), ensure_ascii=False).encode()


def _read(file: Path) -> tuple[list[bytes], bytes]:
    """The lines of a log, and the beginning of a line after them."""
    *lines, last = file.read_bytes().split(b"\n") if file.exists() else [b""]
    return ([*lines, last], b"") if _parsed(last) else (lines, last)


def _checked(file: Path, key: bytes | None) -> Log:
    """A log of which each line follows the one before and, from the first one that is sealed, has a seal."""
    before, without = None, 0
    lines, torn = _read(file)
    for number, line in enumerate(lines, start=1):
        stated = _parsed(line)
        if stated is None or "before" not in stated:
            raise HomeError(f"{file}: line {number} is no line of the log. {_WAY_OUT}")
        if stated["before"] != before:
            raise HomeError(
                f"{file}: line {number} does not follow line {number - 1}: one was changed or taken out."
                f" {_WAY_OUT}"
            )
        if SEAL not in stated and without < number - 1:
            raise HomeError(
                f"{file}: line {number} has no seal, and lines before it have: somebody without the home's"
                f" key wrote it, or an older version of republish. {_WAY_OUT}"
            )
        if SEAL in stated and key is not None and unsealed(stated, key) is None:
            raise HomeError(
                f"{file}: line {number} is not sealed with the home's key: somebody wrote it who has another"
                f" one, or this is not its key. {_WAY_OUT}"
            )
        without += SEAL not in stated
        before = _digest(line)
    return Log(lines, without, len(torn), has_key=key is not None)


_WAY_OUT = "Compare it with a copy, and keep both"


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _key(home: Home) -> bytes:
    return derive_key(home.key(), "log")


def _key_if_any(home: Home) -> bytes | None:
    """The key of the seals; None if the home's key is not here, or not for this account."""
    try:
        is_here = os.environ.get(KEY_VARIABLE) or (home.path / "secret.key").exists()
        return _key(home) if is_here else None
    except HomeError:
        return None


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
