"""Folders for a while, with people in them: what a killed process leaves of them does not stay."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from orchestration.storage.home import if_free, only_one

PREFIX = "republish-"
LOCK = ".lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for its owner alone, deleted in the end; what killed processes left is deleted first."""
    for lock in Path(gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        _delete_if_left(lock.parent)
    with (
        TemporaryDirectory(prefix=PREFIX) as place,
        only_one(Path(place), "a folder of temporary files", name=LOCK),
    ):
        folder = Path(place, "files")
        folder.mkdir(mode=0o700)
        yield folder


def _delete_if_left(place: Path) -> None:
    """Delete a folder of this user's that no process holds."""
    if place.is_symlink() or place.stat().st_uid != os.getuid():
        return
    with if_free(place, LOCK) as is_free:
        if is_free:
            shutil.rmtree(place, ignore_errors=True)
