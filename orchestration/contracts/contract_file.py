"""A contract as it lies in a folder: its YAML, the hierarchies it names, and where its sources are."""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymize.contract import Product
from anonymize.errors import ContractError
from anonymize.principles import parse_contract
from orchestration.contracts.yaml_text import Fault, parse_yaml, read_content


@dataclass(frozen=True)
class ContractFile:
    """A contract and the file that declares it."""

    path: Path
    """The YAML file, absolute."""
    contract: Product
    """What it declares."""
    sha256: str
    """Of the file's bytes, hexadecimal; hierarchies are told by `contract.privacy_digest()`."""
    first_release: str
    """The date of the schedule's first tick on or after `releases.first`; of a contract that is only audited,
    `releases.first` itself."""
    hierarchies: tuple[str, ...]
    """The hierarchy files, as the contract names them."""

    def resolve(self, name: str) -> Path:
        """Where a file is that the contract names: relative to the contract, or absolute."""
        return self.path.parent / name


def load_contract(
    path: Path, defaults: Mapping[str, Any] | None = None, *, is_scheduled: bool = True
) -> ContractFile:
    """Read a contract and the hierarchies it names.

    Scalars are those of YAML 1.2: `no` and `010` are text, only `true` and `false` are not.

    Parameters
    ----------
    path
        A YAML file.
    defaults
        What keys stand for that the file leaves out.
    is_scheduled
        Whether releases are to be made by it. Without it the schedule is not looked at, which takes Dagster:
        an audit doesn't need either.

    Raises
    ------
    ContractError
        Naming the file and every fault in it: with its line if the file is not YAML or gives a key
        twice, else with its key and what is accepted. Faults in hierarchy files are among them.
    """
    where = str(path)
    content = read_content(path)
    declared, faults = parse_yaml(content, where)
    if isinstance(declared, Mapping):
        declared = {**(defaults or {}), **declared}
    named: list[str] = []

    def read_hierarchy(name: str) -> list[list[str]]:
        named.append(name)
        return _read_hierarchy(path.parent, name)

    try:
        contract = parse_contract(declared, where=where, context={"read_hierarchy": read_hierarchy})
    except ContractError as error:
        faults += error.faults
    if is_scheduled:
        faults += _schedule_faults(declared)
    if faults:
        raise ContractError(where, faults)
    declared_first, cron = contract.releases.first, contract.releases.cron
    first = _ticks(cron, declared_first)[0] if cron and is_scheduled else declared_first
    return ContractFile(
        path=path.absolute(),
        contract=contract,
        sha256=hashlib.sha256(content).hexdigest(),
        first_release=first.isoformat(),
        hierarchies=tuple(dict.fromkeys(named)),
    )


def _read_hierarchy(folder: Path, name: str) -> list[list[str]]:
    """The lines `leaf;parent;…;root` of a CSV file that the contract names."""
    try:
        with (folder / name).open(encoding="utf-8-sig", newline="") as file:
            paths = list(csv.reader(file, delimiter=";", strict=True))
    except FileNotFoundError:
        raise ValueError(f"{name}: there is no such file in {folder}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{name}: is not text in UTF-8") from None
    except OSError as error:
        raise ValueError(f"{name}: can't be read: {error.strerror}") from None
    except csv.Error as error:
        raise ValueError(f"{name}: is not CSV separated by semicolons: {error}") from None
    for line, path in enumerate(paths, start=1):
        if not path or not all(path):
            raise ValueError(f"{name}, line {line}: has an empty level; write leaf;parent;…;root")
    return paths


def _schedule_faults(declared: Any) -> list[Fault]:
    """What is wrong with a schedule, as far as it is text."""
    releases = declared.get("releases") if isinstance(declared, Mapping) else None
    cron = releases.get("cron") if isinstance(releases, Mapping) else None
    if not isinstance(cron, str):
        return []
    from dagster._utils.schedules import is_valid_cron_string  # noqa: PLC0415 - slow to import

    if not is_valid_cron_string(cron):
        meant = "five fields, minute hour day month weekday, as in 0 0 1 */3 *"
        return [("releases.cron", f"{cron} is not a schedule that Dagster accepts: {meant}")]
    ticks = _ticks(cron, _first(releases))
    if len(ticks) < 2:
        return [("releases.cron", f"{cron} never ticks on or after {_first(releases)}")]
    if ticks[0] == ticks[1]:  # a cron has the same hours on every day it ticks on
        return [("releases.cron", f"{cron} ticks more than once a day, and releases are named by their date")]
    return []


def _first(releases: Mapping) -> dt.date:
    """The declared date, or any date in place of one that is a fault by itself."""
    try:
        return dt.date.fromisoformat(str(releases.get("first")))
    except ValueError:
        return dt.date(2000, 1, 1)


def _ticks(cron: str, first: dt.date) -> list[dt.date]:
    """The dates of the schedule's first two ticks on or after a date; fewer if it doesn't tick."""
    from dagster._utils.schedules import cron_string_iterator  # noqa: PLC0415 - slow to import

    start = dt.datetime.combine(first, dt.time(), dt.UTC).timestamp()
    ticks = cron_string_iterator(start, cron, "UTC")
    try:
        return [tick.date() for tick in itertools.islice(ticks, 2)]
    except ValueError:  # 31 February
        return []
