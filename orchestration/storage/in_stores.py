"""Published releases in object stores: put there once and whole, and fetched by whoever reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from republish.anonymize.contract.source import STORES
from republish.anonymize.errors import RepublishError, StoreError
from republish.orchestration.limits import check
from republish.orchestration.storage.home import with_room
from republish.orchestration.storage.manifest import MANIFEST
from republish.orchestration.storage.objects import create, objects_below, stored
from republish.orchestration.storage.scratch import scratch_folder
from republish.orchestration.storage.store import SUMS

ADDRESS = re.compile(rf"({'|'.join(STORES)}):/+(.+)")
"""An address on the command line. As a path it has one slash less."""
_COPIES: dict[Path, str] = {}
"""The addresses of folders that were copied, by the copy, as long as there is one."""


def put_release(address: str, folder: Path, further: Mapping[str, bytes]) -> None:
    """Put the files of a release in a store, its manifest last, and none where there is another one.

    Without its manifest a release is not published: a process may end at any time, and the next one goes on.
    `SHA256SUMS` is the first: it differs wherever any file does, so that of two processes that put different
    releases at one address, one puts nothing.

    Parameters
    ----------
    address
        The release's own: `s3://bucket/hospital/v1/2024-01-01`.
    further
        Files that are not in the folder yet, by name.

    Raises
    ------
    StoreError
        If something else is there, or the store can't be used.
    """
    names = {*further, *(f"{file.relative_to(folder)}" for file in folder.rglob("*") if file.is_file())}
    there = {one.address.removeprefix(f"{address}/") for one in objects_below(address)}
    if strangers := there - names:
        raise StoreError(_other(f"{address}/{min(strangers)}", "is not of this release"))
    for name in sorted(names, key=lambda name: (name == MANIFEST, name != SUMS, name)):
        content = further.get(name) or (folder / name).read_bytes()
        if not create(f"{address}/{name}", content) and not has(f"{address}/{name}", content):
            raise StoreError(_other(f"{address}/{name}", "is there already, with another content"))


def has(address: str, content: bytes) -> bool:
    """Whether an object is there, and is this one. Raises StoreError if the store can't be asked."""
    found = stored(address)
    return found is not None and found.size == len(content) and found.content() == content


def _other(address: str, what: str) -> str:
    return (
        f"{address}: {what}. If there is no {MANIFEST} beside it, nothing was published there: delete what"
        " an upload left, and run again. Else another home publishes there: name another place under"
        " published_to"
    )


@contextmanager
def fetched(published: Sequence[Path]) -> Iterator[list[Path]]:
    """Folders with releases or series: those in a store as copies, which are deleted afterwards.

    Addresses are given as paths, as the command line took them. A release without its manifest is not
    published, and is left out.

    Raises
    ------
    StoreError
        If a store can't be used, or an object's name leads out of its folder.
    LimitError
        If one is too large.
    """
    addresses = [None if path.exists() else ADDRESS.fullmatch(str(path)) for path in published]
    if not any(addresses):
        yield list(published)
        return
    with scratch_folder() as place:
        folders = []
        for at, (path, found) in enumerate(zip(published, addresses, strict=True)):
            if found is None:
                folders.append(path)
                continue
            address = f"{found[1]}://{found[2]}"
            folders.append(_copy(address, place / str(at) / found[2]))
            _COPIES[folders[-1]] = address
        try:
            yield folders
        except RepublishError as error:
            for copy, address in _COPIES.items():
                error.args = (str(error).replace(str(copy), address),)
            raise
        finally:
            _COPIES.clear()


def origin_of(file: Path) -> str:
    """The path of a file; of a file that `fetched` copied, its address."""
    found = (
        f"{address}/{file.relative_to(copy)}"
        for copy, address in _COPIES.items()
        if file.is_relative_to(copy)
    )
    return next(found, str(file))


def _copy(address: str, folder: Path) -> Path:
    """Copy a release, or the releases of a series, out of a store."""
    folder.mkdir(parents=True)
    objects = {PurePosixPath(one.address.removeprefix(f"{address}/")): one for one in objects_below(address)}
    releases = {name.parent for name in objects if name.name == MANIFEST and len(name.parts) <= 2}
    for name, one in objects.items():
        if not releases & {name.parent, *name.parents}:
            continue
        check(one.address, "megabytes" if name.suffix == ".parquet" else "text", one.size)
        with with_room(folder, "Set TMPDIR to a folder with more room"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(one.content())
    return folder
