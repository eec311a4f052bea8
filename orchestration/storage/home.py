"""The publisher's folder: what is in it, who may read it, and one process at a time in a series."""

from __future__ import annotations

import errno
import logging
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from republish.anonymize.errors import HomeError

_log = logging.getLogger(__name__)

KEY_VARIABLE = "REPUBLISH_KEY"
HOME_VARIABLE = "REPUBLISH_HOME"
SHORTEST_KEY = 16
RELEASING = ".releasing"
"""The lock of a series that a command makes releases of, in its private folder."""
PATIENCE = 3600
"""Seconds a run waits for another one on the same series, or for a backup, which may take minutes."""
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
"""What the system says where a disk is full, or may only be read."""
SHARED = 0o2050
"""The mode of a home whose group may read what is in it: setgid, readable and searchable for the group."""
_shared: set[Path] = set()
"""The homes of this process that are shared. No folder above one decides: a shared project folder is none."""


@dataclass(frozen=True)
class Home:
    """The folder that holds a publisher's key, history, private and published releases."""

    path: Path
    """Its place; only its owner may enter."""
    is_rehearsal: bool = False
    """Whether it is deleted soon, and its releases with it: it is no home that a series is begun in."""

    def __post_init__(self) -> None:
        """Note whether its group may read it, for all that is written in it."""
        is_shared = self.path.is_dir() and self.path.stat().st_mode & SHARED == SHARED
        (_shared.add if is_shared else _shared.discard)(self.path)

    def __reduce__(self) -> tuple[type[Home], tuple[Path, bool]]:
        """A process that it is sent to makes it anew, and so notes that, too."""
        return type(self), (self.path, self.is_rehearsal)

    @classmethod
    def at(cls, path: Path | None = None, default: Path | None = None) -> Home:
        """The home at a path, or at REPUBLISH_HOME, or at a default, or at ./var; made if it isn't there.

        Raises HomeError if the folder can't be made or written.
        """
        home = cls.named(path, default)
        path = home.path
        if "?" in str(path):
            raise HomeError(
                f"{path}: DuckDB opens nothing in a path with a question mark. Name another folder by --home"
            )
        if escape := re.search("%[0-9A-Fa-f]{2}", str(path)):
            raise HomeError(
                f"{path}: Dagster would put its tables into another folder, for it reads {escape[0]} as one"
                " letter. Name another folder by --home; a home that is there can be moved"
            )
        try:
            private_folder(path)
        except OSError as error:
            raise HomeError(f"{path}: {error.strerror}. Name another folder by --home") from None
        if not path.is_dir():
            raise HomeError(f"{path}: is no folder. Name another one by --home")
        if not os.access(path, os.W_OK | os.X_OK):
            raise HomeError(f"{path}: may not be written. Name another folder by --home")
        return home

    @classmethod
    def named(cls, path: Path | None = None, default: Path | None = None) -> Home:
        """The home that `at` would give; nothing is made."""
        return cls(Path(path or os.environ.get(HOME_VARIABLE) or default or "var").absolute())

    @property
    def history(self) -> Path:
        """The history of all releases."""
        return self.path / "history.duckdb"

    @property
    def dagster(self) -> Path:
        """DAGSTER_HOME."""
        return self.path / "dagster"

    def private(self, product: str, series: str) -> Path:
        """The folder of a series that never leaves the publisher."""
        return self.path / "private" / product / series

    def published(self, product: str = "", series: str = "") -> Path:
        """The folder of a series that everybody may have; or that of a product, or of all products."""
        return self.path / "published" / product / series

    def catalogues(self, product: str, series: str) -> Path:
        """The folder of a series' records for catalogues, which are written anew with each release."""
        return self.path / "catalogues" / product / series

    def key(self) -> bytes:
        """The secret key: REPUBLISH_KEY, or the file `secret.key`, made at first use.

        Raises HomeError if the key is too short, or gone from a home that has published with it.
        """
        if given := os.environ.get(KEY_VARIABLE):
            return _checked(given, KEY_VARIABLE)
        file = self.path / "secret.key"
        if not file.exists():
            if any(self.path.glob("private/*/*/series.json")) or any(self.path.glob("published/*/*/*")):
                raise HomeError(
                    f"{file} is missing, and series here were begun with it. Put it back, or set"
                    f" {KEY_VARIABLE}"
                )
            make_secret(file, "the secret key", lock=".key-lock")
        try:
            return _checked(file.read_text(encoding="utf-8"), str(file))
        except PermissionError:
            raise HomeError(
                f"{file}: this account may not read it. Run this as the account that makes the releases"
            ) from None
        except (OSError, UnicodeDecodeError):
            raise HomeError(f"{file}: can't be read. Put it back as it was, or set {KEY_VARIABLE}") from None


def is_home(path: Path) -> bool:
    """Whether a folder is a publisher's: with a key or, where that is given otherwise, with a history."""
    # Of a folder that may not be entered, `Path.is_file` would raise an error.
    return any(os.path.isfile(path / name) for name in ("secret.key", "history.duckdb"))  # noqa: PTH113


def _checked(key: str, where: str) -> bytes:
    key = key.strip()
    if len(key) < SHORTEST_KEY:
        raise HomeError(f"{where}: the secret key needs at least {SHORTEST_KEY} characters")
    return key.encode()


def make_secret(file: Path, what: str, lock: str) -> None:
    """Create a file of random digits for its owner, whole or not at all; of two processes, the first does."""
    with only_one(file.parent, what, name=lock):
        if file.exists():
            return
        partial = file.with_name(f".{file.name}.partial")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(secrets.token_hex(32) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        partial.rename(file)
        # What is signed with a key is of no use without it: it must outlast a power cut.
        sync(file.parent)


def only_for_the_owner() -> None:
    """Whatever this process, or one it starts, makes from now on is for its owner alone."""
    os.umask(0o077)


@contextmanager
def with_room(path: Path, way_out: str = "Make room there, and run again") -> Iterator[None]:
    """Raise HomeError that names a place where it turns out to be full, or may only be read.

    What the system says of it names no file, or the one that was read.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise HomeError(no_room(path, error.errno, way_out)) from None


def no_room(path: Path, error: int, way_out: str = "Make room there, and run again") -> str:
    """What is said of a place that is full, or may only be read, by the system's number (`NO_ROOM`)."""
    if error == errno.EROFS:
        way_out = "Mount it so that it can be written to"
    return f"{path}: can't be written: {os.strerror(error)}. {way_out}"


def refuse_unwritable(folder: Path) -> None:
    """Raise HomeError if nothing may be written to a folder, or it can't be made. Nothing is made here."""
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        raise HomeError(f"{there}: may not be written. Name another folder by --out")


def sync(path: Path) -> None:
    """Have a file's content, or the names in a folder, on disk before going on."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def private_folder(path: Path) -> Path:
    """Make a folder and those above that are missing for its owner; in a shared home, for its group, too."""
    for folder in [*reversed(path.parents), path]:
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
            for_the_group(folder)
    return path


def for_the_group(path: Path) -> None:
    """Let the group read a file or folder of the owner's, if it lies in a home that is shared."""
    if any(path.is_relative_to(home) for home in _shared):
        path.chmod(0o2750 if path.is_dir() else 0o640)


def public_folder(path: Path, home: Path) -> Path:
    """Make a folder below a home, and those between, such that a copy of them can be read by anybody.

    The home itself stays as it is: as long as it is its owner's alone, so is what is in it.
    """
    for folder in reversed([path, *path.parents]):
        if folder.is_relative_to(home) and folder != home:
            if not folder.exists():
                folder.mkdir(mode=0o755, exist_ok=True)
            if folder.stat().st_mode & 0o055 != 0o055:
                folder.chmod(0o755)  # whatever the umask, and if an older version made it
    return path


@contextmanager
def only_one(
    folder: Path, what: str, *, name: str = ".lock", patience: float | None = None
) -> Iterator[None]:
    """Hold a folder's lock; whoever comes second says so, waits, and is turned away in the end.

    The lock is the operating system's: it ends with the process that holds it, however it ends.

    Parameters
    ----------
    folder
        Where the lock lies; made if it isn't there.
    what
        What is worked on, in a publisher's words.
    patience
        Seconds to wait; without it, `PATIENCE`.

    Raises
    ------
    HomeError
        If another process still holds the lock.
    """
    patience = PATIENCE if patience is None else patience
    try:
        with ExitStack() as held:
            with with_room(folder):
                lock = FileLock(private_folder(folder) / name, mode=0o600)
                held.enter_context(_acquired(lock, what, patience))
            yield
    except Timeout:
        raise HomeError(
            f"another run is working on {what}, and {patience:.0f} s were not enough for it. Try again when"
            " it has ended"
        ) from None


@contextmanager
def if_free(folder: Path, name: str) -> Iterator[bool]:
    """Hold a lock in a folder unless another process does; yields whether it is held here."""
    lock = FileLock(folder / name, mode=0o600)
    try:
        with with_room(folder):
            lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def _acquired(lock: FileLock, what: str, patience: float) -> AbstractContextManager[object]:
    try:
        return lock.acquire(timeout=0)
    except Timeout:
        _log.warning("another run is working on %s: waiting for it to end", what)
        return lock.acquire(timeout=patience)
