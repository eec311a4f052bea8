"""Releases that begin by themselves begin for one series only, and only since somebody turned that on.

A sensor or a schedule that is on stays on in Dagster's tables while its contract has a fault, or declares
another series. When it is there again, it would go on by itself. The home therefore notes since when a
contract declares its series without a break; what was turned on before that waits for somebody.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from republish.anonymize.errors import HomeError
from republish.orchestration.series.calendar import now
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home, only_one
from republish.orchestration.storage.store import read_json, write_json

NOTED = "automation.json"
"""In the home: by contract, what `Declared` has."""


@dataclass(frozen=True)
class Declared:
    """What a contract declared when its definitions were loaded last."""

    series: str | None
    """The series; None where the contract has a fault."""
    since: str | None
    """Since when, in ISO 8601; None if it never declared anything else."""


def note_series(home: Home, contract: Path, series: str | None) -> None:
    """Note which series a contract declares, or None if it has a fault, as its definitions are loaded.

    Where the home can't be written, nothing is noted: nothing can be released there either.
    """

    def is_noted() -> bool:
        declared = _declared(home, contract)
        return declared is not None and declared.series == series

    if not home.path.is_dir() or is_noted():
        return
    with suppress(OSError, HomeError), only_one(home.path, "the list of series", name=".automation-lock"):
        if not is_noted():
            noted, name = read_json(home.path / NOTED) or {}, _name(home, contract)
            since = now().isoformat() if name in noted else None
            write_json(home.path / NOTED, {**noted, name: {"series": series, "since": since}})


def waits_for_somebody(series: Series, started: Callable[[], float | None]) -> str | None:
    """Why nothing of a series begins by itself, although that was turned on; None if it may.

    `started` says when that was turned on, as a timestamp; None if nobody knows.
    """
    contract, declared = series.file.path, _declared(series.home, series.file.path)
    if declared is None:
        return None
    if declared.series is None:
        return f"{contract} has a fault: nothing is released until it is mended"
    if declared.series != series.contract.series:
        return f"{contract} declares {declared.series} now, and not {series.contract.series}"
    if declared.since is None:
        return None
    since = dt.datetime.fromisoformat(declared.since)
    if (started() or 0) > since.timestamp():
        return None
    return (
        f"{contract} had a fault, or declared another series, until {since:%Y-%m-%d %H:%M:%S} UTC. If"
        f" releases of {series.name} are to begin by themselves again, turn this off and on"
    )


def schedule_started(instance: dg.DagsterInstance, name: str) -> float | None:
    """When a schedule was turned on, as a timestamp; None if nobody turned it on."""
    states = [state.instigator_data for state in instance.all_instigator_state() if state.name == name]
    return max((getattr(state, "start_timestamp", None) or 0.0 for state in states), default=None)


def _declared(home: Home, contract: Path) -> Declared | None:
    noted = (read_json(home.path / NOTED) or {}).get(_name(home, contract))
    return None if noted is None else Declared(**noted)


def _name(home: Home, contract: Path) -> str:
    """The contract as the home's list of contracts names it."""
    return os.path.relpath(contract, home.path)
