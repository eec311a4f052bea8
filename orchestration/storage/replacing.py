"""Many files of a folder replaced as one: all are the new ones or none is, whenever a process ends."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from republish.orchestration.storage.home import Home, if_free, only_one, private_folder, sync
from republish.orchestration.storage.log import note_once
from republish.orchestration.storage.store import read_json, write_json

_log = logging.getLogger(__name__)

STAGED = ".replacing"
"""In the folder: the new files, each at its place below."""
READY = "ready.json"
"""There, written last: from then on the files are replaced, by whoever comes next if need be."""
LOCK = ".replacing-lock"
"""In the folder: the lock of whoever writes new files, or puts them in place."""


@contextmanager
def replacing(home: Home, folder: Path, what: str) -> Iterator[Path]:
    """Where new files of a folder are to be written, until `replace_files` puts them in place.

    What a killed process left there is settled first. Files that are not put in place are removed at the end.

    `what` names the folder in a publisher's words.
    """
    staged = folder / STAGED
    with only_one(folder, what, name=LOCK):
        _settle(home, folder)
        try:
            yield private_folder(staged)
        finally:
            if not (staged / READY).exists():
                shutil.rmtree(staged, ignore_errors=True)


def replace_files(home: Home, folder: Path, removed: Iterable[Path], said: Mapping[str, Any]) -> None:
    """Put the new files in place, and remove whole folders; from here on it is done, also if it is killed.

    The home's log has a line on it from then on, and no line if it is killed before.

    It is called within `replacing`.
    """
    staged = folder / STAGED
    files = sorted(f"{file.relative_to(staged)}" for file in staged.rglob("*") if file.is_file())
    gone = [f"{one.relative_to(folder)}" for one in removed]
    line = {**said, "id": secrets.token_hex(8)}  # it may be killed once the line is there
    write_json(staged / READY, {"files": files, "removed": gone, "line": line})
    _finish(home, folder)


def settle_replacing(home: Home, folder: Path) -> None:
    """Finish what a killed process had begun to replace, or remove what it had not written to the end.

    A warning names what was found. What a live process writes is left to that.

    Raises HomeError if it can't be finished or removed.
    """
    staged = folder / STAGED
    if not staged.exists():
        return
    try:
        with if_free(folder, LOCK) as is_free:
            if is_free:
                _settle(home, folder)
            else:
                _log.warning("%s: another command takes people out of these files at this moment", staged)
    except PermissionError:
        _log.warning(
            "%s: was left by a command that was killed while it took people out, and this account may not"
            " change it. The next release, or republish forget, finishes or removes it",
            staged,
        )


def _settle(home: Home, folder: Path) -> None:
    staged = folder / STAGED
    if (staged / READY).exists():
        _finish(home, folder)
        _log.warning("%s: a command was killed while it took people out. It is finished now", folder)
    elif staged.exists():
        shutil.rmtree(staged)
        _log.warning(
            "%s: a command was killed before it had written all files without the people that it took out."
            " What it had written is removed, and nobody was taken out",
            folder,
        )


def _finish(home: Home, folder: Path) -> None:
    staged = folder / STAGED
    ready = read_json(staged / READY)
    if ready is None:
        return
    note_once(home, ready["line"])
    for name in ready["files"]:
        with suppress(FileNotFoundError):  # it was put in its place before
            os.replace(staged / name, folder / name)  # noqa: PTH105 - over the old one
            sync((folder / name).parent)
    for name in ready["removed"]:
        shutil.rmtree(folder / name, ignore_errors=True)
    shutil.rmtree(staged, ignore_errors=True)
