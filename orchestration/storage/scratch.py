"""Temporary folders with people in them. If a process is killed, the next one deletes the folder it left."""

import atexit
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from republish.orchestration.storage.home import if_free, only_one

PREFIX, FILES, LOCK = "republish-", "files", ".lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder for its owner alone. Folders that killed processes left are deleted first.

    Its files come after its lock and go before it, so that who clears up finds them locked or not at all. An
    empty folder that another process has just locked is that one's to delete.
    """
    clear_scratch()
    with (
        TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as place,
        only_one(Path(place), "a folder of temporary files", name=LOCK),
    ):
        folder = Path(place, FILES)
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


@cache
def spill_folder() -> Path:
    """A temporary folder of this process alone, for what a database writes where memory ends.

    It is deleted when the process ends; one that was killed leaves it to the next (`clear_scratch`).
    """
    ends = ExitStack()
    folder = ends.enter_context(scratch_folder())
    atexit.register(ends.close)  # it runs before what was registered earlier: that would delete the folder
    return folder


def clear_scratch() -> None:
    """Delete the temporary folders that killed processes of this user left."""
    for files in Path(gettempdir()).glob(f"{PREFIX}*/{FILES}"):
        with suppress(FileNotFoundError, FileExistsError):  # its process deletes it at this moment
            _delete_if_left(files.parent)


def _delete_if_left(place: Path) -> None:
    """Delete a folder of this user's that no process holds."""
    if place.is_symlink() or place.stat().st_uid != os.getuid():
        return
    with if_free(place, LOCK) as is_free:
        if is_free:
            shutil.rmtree(place, ignore_errors=True)
