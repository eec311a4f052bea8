"""Many files of a folder replaced as one: all are the new ones or none is, whenever a process ends."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from republish.orchestration.storage.home import Home, private_folder, sync
from republish.orchestration.storage.log import note_once
from republish.orchestration.storage.store import read_json, write_json

STAGED = ".replacing"
"""In the folder: the new files, each at its place below."""
READY = "ready.json"
"""There, written last: from then on the files are replaced, by whoever comes next if need be."""


def begin_replacing(folder: Path) -> Path:
    """Where the new files are to be written; what an earlier attempt left there is gone."""
    shutil.rmtree(folder / STAGED, ignore_errors=True)
    return private_folder(folder / STAGED)


def replace_files(home: Home, folder: Path, removed: Iterable[Path], said: Mapping[str, Any]) -> None:
    """Put the new files in place, and remove whole folders; from here on it is done, also if it is killed.

    The home's log has a line on it from then on, and no line if it is killed before.

    `begin_replacing` was called for the folder.
    """
    staged = folder / STAGED
    files = sorted(f"{file.relative_to(staged)}" for file in staged.rglob("*") if file.is_file())
    gone = [f"{one.relative_to(folder)}" for one in removed]
    line = {**said, "id": secrets.token_hex(8)}  # it may be killed once the line is there
    write_json(staged / READY, {"files": files, "removed": gone, "line": line})
    finish_replacing(home, folder)


def finish_replacing(home: Home, folder: Path) -> None:
    """Finish what a process that was killed had begun to replace, if there is anything."""
    staged = folder / STAGED
    ready = read_json(staged / READY)
    if ready is None:
        return
    if "line" in ready:  # before version 0.5 the line came first
        note_once(home, ready["line"])
    for name in ready["files"]:
        with suppress(FileNotFoundError):  # it is in its place; maybe another process put it there just now
            os.replace(staged / name, folder / name)  # noqa: PTH105 - over the old one
            sync((folder / name).parent)
    for name in ready["removed"]:
        shutil.rmtree(folder / name, ignore_errors=True)
    shutil.rmtree(staged, ignore_errors=True)
