"""The publisher's folder: what is in it, who may read it, and one process at a time in a series."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from anonymize.errors import HomeError

KEY_VARIABLE = "REPUBLISH_KEY"
HOME_VARIABLE = "REPUBLISH_HOME"
SHORTEST_KEY = 16
PATIENCE = 120
"""Seconds a run waits for another one on the same series."""


@dataclass(frozen=True)
class Home:
    """The folder that holds a publisher's key, history, private and published releases."""

    path: Path
    """Its place; only its owner may enter."""

    @classmethod
    def at(cls, path: Path | None = None) -> Home:
        """The home at a path, or at REPUBLISH_HOME, or at ./var; made if it isn't there.

        Raises
        ------
        HomeError
            If the folder can't be made or written.
        """
        path = Path(path or os.environ.get(HOME_VARIABLE) or "var").absolute()
        try:
            private_folder(path)
        except OSError as error:
            raise HomeError(f"{path}: {error.strerror}. Name another folder by --home") from None
        if not os.access(path, os.W_OK | os.X_OK):
            raise HomeError(f"{path}: may not be written. Name another folder by --home")
        return cls(path)

    @property
    def history(self) -> Path:
        return self.path / "history.duckdb"

    @property
    def dagster(self) -> Path:
        return self.path / "dagster"

    def private(self, product: str, series: str) -> Path:
        """What never leaves the publisher, of one series."""
        return self.path / "private" / product / series

    def published(self, product: str, series: str) -> Path:
        """What everybody may have, of one series."""
        return self.path / "published" / product / series

    def key(self) -> bytes:
        """The secret key: REPUBLISH_KEY, or the file `secret.key`, made at first use.

        Raises
        ------
        HomeError
            If the key is too short, or gone from a home that has published with it.
        """
        if given := os.environ.get(KEY_VARIABLE):
            return _checked(given, KEY_VARIABLE)
        file = self.path / "secret.key"
        if not file.exists():
            if any(self.path.glob("private/*/*/series.json")):
                raise HomeError(
                    f"{file} is missing, and series here were begun with it. Put it back, or set {KEY_VARIABLE}"
                )
            _write_once(file, secrets.token_hex(32) + "\n")
        return _checked(file.read_text(), str(file))


def _checked(key: str, where: str) -> bytes:
    key = key.strip()
    if len(key) < SHORTEST_KEY:
        raise HomeError(f"{where}: the secret key needs at least {SHORTEST_KEY} characters")
    return key.encode()


def _write_once(file: Path, text: str) -> None:
    """Create a file only its owner may read, whole or not at all; whoever comes second leaves it as it is."""
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    try:
        os.link(partial, file)
    except FileExistsError:
        pass
    finally:
        partial.unlink()


def private_folder(path: Path) -> Path:
    """Make a folder, and those above it that are missing, for its owner alone."""
    for folder in [*reversed(path.parents), path]:
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
    return path


@contextmanager
def only_one(folder: Path, what: str, *, name: str = ".lock", patience: float = PATIENCE) -> Iterator[None]:
    """Hold a folder's lock; whoever comes second waits, and is turned away after `patience` seconds.

    The lock is the operating system's: it ends with the process that holds it, however it ends.

    Raises
    ------
    HomeError
        If another process still holds the lock.
    """
    lock = FileLock(private_folder(folder) / name, mode=0o600)
    try:
        with lock.acquire(timeout=patience):
            yield
    except Timeout:
        raise HomeError(f"another run is working on {what}. Try again when it has ended") from None
