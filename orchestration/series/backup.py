"""Backups of a home: made between the steps of releases, restored elsewhere, and what went out in between.

What is in a backup is what is in a home, with the people in it. So is the key, unless it is left out: without
the key no series can go on, and it would protect little, for the snapshots lie beside it in the clear.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from republish.anonymize.errors import HomeError
from republish.anonymize.people.randomness import derive_key
from republish.orchestration.series.pending_erasures import note_forgettings, note_unknown
from republish.orchestration.series.place import Place
from republish.orchestration.series.releases_after_backup import note_since
from republish.orchestration.storage.home import Home, only_one, private_folder, public_folder
from republish.orchestration.storage.leftovers import settle
from republish.orchestration.storage.log import lines_since, note
from republish.orchestration.storage.manifest import MANIFEST, release_folders, verify_series
from republish.orchestration.storage.packed import pack, unpack
from republish.orchestration.storage.replacing import settle_replacing
from republish.orchestration.storage.store import PARTIAL, clear_partial, make_public, sha256

FORM = 1
"""Raised when a backup is another thing."""
NOT_KEPT = re.compile(rf"\.(.*-)?lock|\.releasing|\..*{re.escape(PARTIAL)}|.*\.db-(wal|shm|journal)")
"""Names of locks, of what is half written, and of what belongs to open tables of Dagster's."""
PATIENCE = 24 * 3600
"""Seconds that a backup waits for the step of a release to end."""


@dataclass(frozen=True)
class Backup:
    """A backup, or what was restored from it."""

    path: Path
    """The file; or the home that was restored."""
    at: str
    """When it was made, UTC."""
    releases: Mapping[str, tuple[str, ...]]
    """The published releases of each series, by product and series."""
    has_key: bool
    since: Mapping[str, int]
    """The number of releases of each series that are out and not in the backup."""
    forgettings: tuple[Mapping[str, Any], ...] | None = None
    """Lines of a later log about people forgotten after the backup; None if no log was given."""


def back_up(home: Home, into: Path, *, with_key: bool = True) -> Backup:
    """Pack a home into one file. A step of a release is waited for, and none is made meanwhile.

    Parameters
    ----------
    into
        The file, named `….tar`; or a folder, made if need be, in which it is named by the time.
    with_key
        Whether the home's `secret.key` is in it. A key from REPUBLISH_KEY never is.

    Raises
    ------
    HomeError
        If there is such a file already, or it can't be written.
    """
    now = dt.datetime.now(dt.UTC)
    file = into if into.suffix == ".tar" else into / f"{home.path.name}-{now:%Y-%m-%dT%H%M%SZ}.tar"
    if file.exists():
        raise HomeError(f"{file}: is there already. Name another file by --out")
    if file.absolute().is_relative_to(home.path):
        raise HomeError(f"{file}: is in the home that is to be backed up. Name a file outside of it by --out")
    with only_one(private_folder(file.parent), f"a backup in {file.parent}", name=".backup-lock"):
        clear_partial(file.parent)
        settle(home)
        with _quiet(home):
            has_key = with_key and (home.path / "secret.key").exists()
            made = Backup(file, now.isoformat(timespec="seconds"), _published(home), has_key, {})
            described = {
                "form": FORM,
                "software_version": version("republish"),
                "fingerprint": _fingerprint(home),
                **{name: getattr(made, name) for name in ("at", "releases", "has_key")},
            }
            pack(_files(home, with_key=with_key), file, described, _seal_key(home))
        note(home, "backup", has_key=has_key)
    return made


def restore(
    file: Path, home: Path, published: Path | None, log: Path | None = None, *, nothing_later: bool = False
) -> Backup:
    """Unpack a backup where no home is yet: whole or not at all, and nothing before all of it was checked.

    Parameters
    ----------
    home
        The folder that is to be the home; it must not exist, or be empty.
    published
        Copies of what is out, as `product/series/release`. What the backup does not know of it is noted.
    log
        A later copy of the home's log: it says when people were forgotten after the backup. They are in the
        restored home again, and no later release is made until as many were forgotten again.
    nothing_later
        The publisher's word that nothing was published after the backup, in place of `published`, and nobody
        forgotten.

    Raises
    ------
    HomeError
        If the backup is torn, changed or of another key, or there is something in the home's place.
    PublishedFolderError
        If what is out is not whole, or is not what the backup says was published.
    """
    home = home.absolute()
    if home.exists() and not (home.is_dir() and not any(home.iterdir())):
        raise HomeError(
            f"{home}: is there already, and no backup is put over it. Name another folder by --home"
        )
    partial = home.with_name(f".{home.name}{PARTIAL}")
    with only_one(private_folder(home.parent), f"what becomes {home}", name=f".{home.name}-lock"):
        shutil.rmtree(partial, ignore_errors=True)
        try:
            found = _restored(file, partial, published, log, nothing_later=nothing_later)
            os.replace(partial, home)  # noqa: PTH105 - over an empty folder too, and over no other
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return replace(found, path=home)


def _restored(
    file: Path, folder: Path, published: Path | None, log: Path | None, *, nothing_later: bool
) -> Backup:
    """Unpack a backup into a folder, and note in it what is out."""
    place = Home(folder)

    def key(stated: Mapping[str, Any]) -> bytes:
        if stated.get("form") != FORM:
            made_by = f" by republish {stated['software_version']}" if "software_version" in stated else ""
            raise HomeError(f"{file}: is no backup that this version reads; it was made{made_by}")
        if not (folder / "secret.key").exists() and "REPUBLISH_KEY" not in os.environ:
            raise HomeError(f"{file}: has no key in it. Set REPUBLISH_KEY to the key of the home")
        if _fingerprint(place) != stated.get("fingerprint"):
            raise HomeError(
                f"{file}: is of a home with another key than REPUBLISH_KEY. Set the one of the home"
            )
        return _seal_key(place)

    listed = unpack(file, folder, key)
    releases = {name: tuple(dates) for name, dates in listed["releases"].items()}
    if published is None and not nothing_later:
        last = ", ".join(f"{name} {dates[-1]}" for name, dates in releases.items()) or "no release"
        raise HomeError(
            f"{file}: is of {listed['at']}, and the last releases in it are {last}. Say what was published"
            " since: --published names a folder with copies of all that is out, or --nothing-later says that"
            " nothing was. A series that goes on without knowing its last releases gives people away"
        )
    later = None if log is None else lines_since(place, log)
    for path in (folder / "published").rglob(f"*/*/*/{MANIFEST}"):
        make_public(public_folder(path.parent, folder))
    out = {} if published is None else _compared(place, releases, published)
    since = {name: len(dates) for name, dates in out.items()}
    through = {name: dates[-1] for name, dates in releases.items()}
    if later is not None:
        note_forgettings(place, through, later)
    elif not nothing_later:
        note_unknown(place, through | {name: dates[-1] for name, dates in out.items()}, listed["at"])
    forgettings = None if later is None else tuple(line for line in later if line.get("what") == "forget")
    forgotten = None if forgettings is None else sum(line["people"] for line in forgettings)
    note(place, "restore", backup=listed["at"], since=since, forgotten_since=forgotten)
    return Backup(folder, listed["at"], releases, listed["has_key"], since, forgettings)


def _compared(home: Home, releases: Mapping[str, tuple[str, ...]], published: Path) -> dict[str, list[str]]:
    """Note the releases that are out and not in the home; returns their dates, of each series."""
    found = {}
    folders = sorted({path.parents[1] for path in published.glob(f"*/*/*/{MANIFEST}")})
    if not folders:
        raise HomeError(f"{published}: has no releases in it as product/series/release. Name another folder")
    for folder in folders:
        product, series = folder.parent.name, folder.name
        verify_series(folder)
        known = releases.get(f"{product}/{series}", ())
        out = release_folders(folder)
        for path in out:
            mine = home.published(product, series) / path.name / MANIFEST
            if path.name in known and sha256(mine) != sha256(path / MANIFEST):
                raise HomeError(
                    f"{path}: is not the release that is in the backup. One of the two is of another home:"
                    " nothing was restored"
                )
        if later := [path for path in out if path.name not in known]:
            note_since(Place(home, product, series), later)
            found[f"{product}/{series}"] = [path.name for path in later]
    return found


def _published(home: Home) -> dict[str, tuple[str, ...]]:
    """The published releases of each series."""
    dates = {
        f"{path.parent.name}/{path.name}": tuple(folder.name for folder in release_folders(path))
        for path in sorted(home.path.glob("published/*/*"))
    }
    return {name: found for name, found in dates.items() if found}


@contextmanager
def _quiet(home: Home) -> Iterator[None]:
    """No step of any release is made meanwhile, nothing is published, and nothing logged."""
    with ExitStack() as held:
        for folder in sorted(path for path in home.path.glob("private/*/[!.]*") if path.is_dir()):
            what = f"series {folder.parent.name}/{folder.name}"
            held.enter_context(only_one(folder, what, patience=PATIENCE))
        for root in home.path.glob("private/*"):
            settle_replacing(home, root)
        for what, name in (("the people of its products", ".people-lock"), ("the log", ".log-lock")):
            held.enter_context(only_one(home.path, what, name=name))
        yield


def _files(home: Home, *, with_key: bool) -> Iterator[tuple[str, Path | bytes]]:
    """All files of a home that are worth keeping, by name."""
    for place, folders, names in os.walk(home.path, followlinks=True):
        folders[:] = sorted(name for name in folders if not NOT_KEPT.fullmatch(name))
        for path in (Path(place, name) for name in sorted(names) if not NOT_KEPT.fullmatch(name)):
            content = _tables(path) if path.is_relative_to(home.dagster) and path.suffix == ".db" else path
            if content is not None and (with_key or path != home.path / "secret.key"):
                yield path.relative_to(home.path).as_posix(), content


def _tables(path: Path) -> bytes | None:
    """Tables of Dagster's, which may be written to at this moment; None if they can't be read.

    No release needs any of them.
    """
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as tables:
            return tables.serialize()
    except sqlite3.Error:
        return None


def _seal_key(home: Home) -> bytes:
    return derive_key(home.key(), "backup")


def _fingerprint(home: Home) -> str:
    """Tells one key from another, and nothing else of it."""
    return derive_key(home.key(), "backup fingerprint").hex()
