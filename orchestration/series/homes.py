"""Which home a contract's series is in: a series that is begun in two homes is published twice.

A hidden file beside the contract names the home in which each of its series was begun, and the last release
that was published there. A second home would have another key: together, both publications give people away.
So do two releases of one date, if the home was put back as it was before the first of them.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from republish.anonymize.errors import HomeError
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.series.place import Place
from republish.orchestration.series.releases_after_backup import published_since
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import HOME_VARIABLE, Home, is_home
from republish.orchestration.storage.store import read_json, write_json

LAST = "last"
"""Beside the homes, by product and series: the last release of each series."""


def default_home(file: ContractFile) -> Path:
    """The home of a contract's series, if nobody names one.

    That is the nearest home called `var` in the contract's folder or above it. If there is none, it is
    `./var` where the working folder is the contract's or above it, or where the series has releases there
    already; else `var` beside the contract.
    """
    contract, here = Path(os.path.normpath(file.path)), Path.cwd() / "var"
    if (nearest := nearest_home(contract)) is not None:
        return nearest
    declared = file.contract
    if here.parent in contract.parents or Place(Home(here), declared.product, declared.series).releases:
        return here
    return contract.parent / "var"


def is_found_above(file: ContractFile, home: Path) -> bool:
    """Whether nobody has named a home: it was found in a folder above the contract's."""
    contract = Path(os.path.normpath(file.path))
    return HOME_VARIABLE not in os.environ and is_home(home) and home.parent in contract.parents[1:]


def nearest_home(contract: Path) -> Path | None:
    """The nearest home called `var` in a contract's folder or above it; None if there is none."""
    folders = Path(os.path.normpath(contract)).parents
    return next((folder / "var" for folder in folders if is_home(folder / "var")), None)


def series_at(file: ContractFile, named: Path | None) -> Series:
    """The series of a contract in its home; nothing is made.

    `named` is the home that somebody names; None for that of the environment, or the default one.

    Raises HomeError as `refuse_other_home` does.
    """
    series = Series(file, Home.named(named, default_home(file)))
    refuse_other_home(series)
    return series


def refuse_other_home(series: Series) -> None:
    """Raise HomeError if another home is named beside the contract, or a later state of this one.

    A home that is not there any more was moved, and is followed; so is one without releases of the series.
    """
    other = _named_home(series)
    if other is not None and not (series.home.path.exists() and other.samefile(series.home.path)):
        raise HomeError(
            f"{series.home.path}: {series.name} has releases in another home, {other}, and two publications"
            f" of the same people give them away. Name that one, --home {other}; or, if its releases never"
            f" left it, delete it, or {_marker(series.file)}"
        )
    _refuse_older(series)


def name_home(series: Series) -> None:
    """Name the home beside the contract, for its owner alone, unless another one is named and there.

    A folder that can't be written has no such file; no file names a home that is deleted soon.
    """
    if series.home.is_rehearsal:
        return
    named = _named_home(series)
    if named is None or named.samefile(series.home.path):
        marker = _marker(series.file)
        noted = _read(marker)
        path = os.path.relpath(series.home.path, marker.parent)
        last = max(series.releases)
        now = noted | {series.name: path, LAST: _last(noted) | {series.name: last}}
        with contextlib.suppress(HomeError, OSError):
            if now != noted:
                write_json(marker, now)


def _refuse_older(series: Series) -> None:
    """Raise HomeError if a release is known to be published, and the home has only those before it."""
    last = _last(_read(_marker(series.file))).get(series.name)
    here = series.releases
    if here and isinstance(last, str) and last > here[-1] and last not in published_since(series):
        raise HomeError(
            f"{series.home.path}: is as it was after {here[-1]}, and {series.name} {last} was published"
            " since. The signatures of later releases are lost here; going on without them gives people away."
            " Put a newer copy of the home back; or republish backup this one, and republish restore that"
            f" with --published, copies of all that is out. If {last} never left the home, delete"
            f" {_marker(series.file)}"
        )


def _last(noted: dict[str, Any]) -> dict[str, Any]:
    """The last release of each series, as far as it is noted."""
    last = noted.get(LAST, {})
    return last if isinstance(last, dict) else {}


def _named_home(series: Series) -> Path | None:
    """The home that is named beside the contract, if it has releases of the series."""
    marker = _marker(series.file)
    named = _read(marker).get(series.name)
    if not isinstance(named, str):
        return None
    home = Path(os.path.normpath(marker.parent / named))
    return home if Place(Home(home), series.product, series.series).releases else None


def _read(marker: Path) -> dict[str, Any]:
    try:
        return read_json(marker) or {}
    except OSError:
        return {}


def _marker(file: ContractFile) -> Path:
    return file.path.with_name(f".{file.path.name}.home")
