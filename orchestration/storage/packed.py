"""Many files in one, with a digest of each: packed in one go, and unpacked whole or not at all.

It is a tar file, for its owner alone. Its last member, `backup.json`, lists all others with their SHA-256 and
is sealed with a key: a file that was torn has no list, and one that was changed is not what the list says.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

from republish.anonymize.errors import HomeError
from republish.orchestration.storage.home import NO_ROOM, no_room, private_folder, sync
from republish.orchestration.storage.sealed import read_sealed, sealed
from republish.orchestration.storage.store import PARTIAL, json_text, read_json

LIST = "backup.json"
"""The last member: what the backup is of, and `files`, the SHA-256 (hex) of each by its name."""
ANOTHER = "Take another backup"
BLOCK = 2**20


def pack(
    files: Iterable[tuple[str, Path | bytes]], file: Path, described: Mapping[str, Any], key: bytes
) -> None:
    """Pack files into one, which appears whole or not at all.

    Parameters
    ----------
    files
        Each by the name that it is to have: a path, or what is in it. None of them may change meanwhile.
    file
        Must not exist; it is for its owner alone.
    described
        What the list is to say beside its files.
    key
        What the list is sealed with.
    """
    private_folder(file.parent)
    partial = file.with_name(f".{file.name}{PARTIAL}")
    digests = {}
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as stream, tarfile.open(fileobj=stream, mode="w") as packed:
            for name, content in files:
                digests[name] = _add(packed, name, content)
            _add(packed, LIST, json_text(sealed({**described, "files": digests}, key)).encode())
        sync(partial)
        partial.rename(file)
        sync(file.parent)
    except OSError as error:
        raise HomeError(
            f"{file}: can't be written: {error.strerror}. Make room there, or name another place by --out;"
            " nothing was backed up"
        ) from None
    finally:
        partial.unlink(missing_ok=True)


def unpack(file: Path, folder: Path, key: Callable[[Mapping[str, Any]], bytes]) -> dict[str, Any]:
    """Unpack a file that `pack` wrote, and check every byte of it; returns what its list says.

    Parameters
    ----------
    folder
        Made for its owner alone; must not exist. If the backup is refused, what is in it is of no use.
    key
        From what the list says to what it must be sealed with; called when all files are unpacked.

    Raises
    ------
    HomeError
        If the file is torn, was changed, or is no backup.
    """
    private_folder(folder)
    try:
        with file.open("rb") as stream, tarfile.open(fileobj=stream, mode="r:") as packed:
            digests = dict(_extracted(file, packed, folder))
    except tarfile.TarError:
        raise HomeError(f"{file}: is no backup, or only the beginning of one. {ANOTHER}") from None
    except OSError as error:
        if error.errno in NO_ROOM and error.filename is None:  # the backup is read, this is written
            raise HomeError(f"{no_room(folder.parent, error.errno)}; nothing was restored") from None
        where = error.filename or file
        raise HomeError(f"{where}: {error.strerror}. Nothing was restored") from None
    unsealed = read_json(folder / LIST)
    if digests.pop(LIST, None) is None or unsealed is None:
        raise HomeError(f"{file}: is no backup, or only the beginning of one. {ANOTHER}")
    listed = read_sealed(folder / LIST, key(unsealed))
    if listed is None:
        raise HomeError(
            f"{file}: was changed since it was made: its list of files is not as sealed. {ANOTHER}"
        )
    stated: dict[str, str] = listed["files"]
    if changed := sorted(name for name in stated.keys() | digests if stated.get(name) != digests.get(name)):
        raise HomeError(
            f"{file}: was changed since it was made: {changed[0]} in it is another one. {ANOTHER}"
        )
    (folder / LIST).unlink()
    for path in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        sync(path)
    return listed


def _add(packed: tarfile.TarFile, name: str, content: Path | bytes) -> str:
    """Add a file; returns the digest of the bytes that were added. Whose it was is nobody's concern."""
    member = tarfile.TarInfo(name)
    member.mode = 0o600
    with BytesIO(content) if isinstance(content, bytes) else content.open("rb") as stream:
        if isinstance(content, bytes):
            member.size, member.mtime = len(content), int(time.time())
        else:
            known = os.fstat(stream.fileno())
            member.size, member.mtime = known.st_size, int(known.st_mtime)
        read = _Digested(stream)
        packed.addfile(member, read)
    return read.digest.hexdigest()


class _Digested:
    """A stream that knows the digest of what was read from it."""

    def __init__(self, stream: IO[bytes]):
        self._stream, self.digest = stream, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        self.digest.update(content)
        return content


def _extracted(file: Path, packed: tarfile.TarFile, folder: Path) -> Iterator[tuple[str, str]]:
    """The name and the digest of each member, as it is written; none is written outside of the folder."""
    for member in packed:
        name, content = PurePosixPath(member.name), packed.extractfile(member) if member.isreg() else None
        if content is None or name.is_absolute() or ".." in name.parts:
            raise HomeError(f"{file}: has {member.name!r} in it, which no backup has. {ANOTHER}")
        path = private_folder((folder / name).parent) / name.name
        digest = hashlib.sha256()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            while block := content.read(BLOCK):
                digest.update(block)
                stream.write(block)
            stream.flush()
            os.fsync(stream.fileno())
        os.utime(path, (member.mtime, member.mtime))
        yield str(name), digest.hexdigest()
