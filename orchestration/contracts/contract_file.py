"""A contract as it lies in a folder: its YAML, the files of labels it names, and where its sources are."""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from republish.anonymize.contract import FileSource, Product
from republish.anonymize.contract.earlier import in_todays_words
from republish.anonymize.contract.source import in_five_fields
from republish.anonymize.errors import ContractError
from republish.anonymize.principles import parse_contract
from republish.orchestration.contracts.yaml_text import Fault, parse_yaml, read_content
from republish.orchestration.limits import check


@dataclass(frozen=True)
class ContractFile:
    """A contract and the file that declares it."""

    path: Path
    """The YAML file, absolute."""
    contract: Product
    """The product that it declares."""
    sha256: str
    """Digest of the file's bytes, hexadecimal; `contract.privacy_digest()` covers the hierarchies, too."""
    first_release: str
    """The date of the schedule's first tick on or after `releases.first`; of a contract that is only audited,
    `releases.first` itself."""
    hierarchies: tuple[str, ...]
    """The files of hierarchies and values, as the contract names them."""
    stated: Mapping[str, Any] = field(default_factory=dict)
    """What it says under `principle`, where that may be in an earlier version's words."""

    def resolve(self, name: str) -> Path:
        """The place of a file that the contract names: relative to the contract, or absolute."""
        return self.path.parent / name


def load_contract(
    path: Path,
    defaults: Mapping[str, Any] | None = None,
    *,
    is_scheduled: bool = True,
    of_earlier_versions: bool = False,
) -> ContractFile:
    """Read a contract and the hierarchies it names, or the contract of a component's `defs.yaml`.

    Scalars are those of YAML 1.2: `no` and `010` are text, only `true` and `false` are not.

    Parameters
    ----------
    defaults
        What keys stand for that the file leaves out.
    is_scheduled
        Whether releases are to be made by it. An audit does not need the schedule, nor what reads it: the
        small install has no croniter.
    of_earlier_versions
        Whether it may say what contracts of earlier versions said: for an audit of what they published.

    Raises
    ------
    ContractError
        Naming the file and every fault in it: with its line if the file is not YAML or gives a key
        twice, else with its key and what is accepted. Faults in hierarchy files are among them.
    """
    where = str(path)
    content = read_content(path)
    declared, faults = parse_yaml(content, where)
    if isinstance(declared, Mapping) and declared.keys() >= {"type", "attributes"}:
        inline = (
            declared["attributes"].get("contract") if isinstance(declared["attributes"], Mapping) else None
        )
        if isinstance(inline, str):
            return load_contract(
                path.parent / inline,
                defaults,
                is_scheduled=is_scheduled,
                of_earlier_versions=of_earlier_versions,
            )
        declared = inline
    if isinstance(declared, Mapping):
        declared = {**(defaults or {}), **declared}
    sha256 = hashlib.sha256(content).hexdigest()
    if not of_earlier_versions or not isinstance(declared, Mapping):
        return contract_of(declared, path, sha256, where, faults, is_scheduled=is_scheduled)
    today = in_todays_words(declared)
    file = contract_of(today, path, sha256, where, faults, is_scheduled=is_scheduled)
    return replace(file, stated=declared.get("principle", {}))


def contract_of(
    declared: Any,
    path: Path,
    sha256: str,
    where: str,
    faults: Sequence[Fault] = (),
    *,
    is_scheduled: bool = False,
) -> ContractFile:
    """A contract of what its YAML says, with the hierarchies that it names.

    Parameters
    ----------
    path, sha256
        Of the file; what it names is in the folder of `path`.
    where
        What an error calls it.
    faults
        Those that its YAML has already.

    Raises ContractError, which names every fault.
    """
    faults = [*faults]
    named: list[str] = []

    def read_hierarchy(name: str) -> list[list[str]]:
        named.append(name)
        return read_hierarchy_file(path.parent, name)

    check(where, "columns", _columns(declared))
    try:
        contract = parse_contract(declared, where=where, context={"read_hierarchy": read_hierarchy})
    except ContractError as error:
        faults += error.faults
    if is_scheduled:
        faults += _schedule_faults(declared)
    if faults:
        raise ContractError(where, faults)
    _check_labels(contract, where)
    first, cron, last = contract.releases.first, contract.releases.cron, contract.releases.last
    if cron and is_scheduled:
        from republish.orchestration.contracts.schedule import ticks  # noqa: PLC0415 - the small install has no croniter

        two = [tick.date() for tick in itertools.islice(ticks(cron, first), 2)]
        _refuse_one_file(contract, two, where)
        first = two[0]
    elif contract.releases.goes_on:
        _refuse_one_file(contract, list(contract.releases.dates), where)
    if last is not None and (last < first or not cron):
        why = (
            f"is before the first release, that of {first}: write a later day"
            if cron
            else "is for a schedule: write releases.cron"
        )
        raise ContractError(where, [("releases.last", f"{last} {why}, or leave it out")])
    return ContractFile(
        path=path.absolute(),
        contract=contract,
        sha256=sha256,
        first_release=first.isoformat(),
        hierarchies=tuple(dict.fromkeys(named)),
    )


def _refuse_one_file(contract: Product, dates: list[dt.date], where: str) -> None:
    """Refuse dates in a path that are the same for two releases, as `{release:%Y}` is for two months."""
    paths: dict[tuple[str, ...], dt.date] = {}
    for date in dates:
        if isinstance(one := contract.source_of(date.isoformat()), FileSource):
            path, rows = one.at(date.isoformat()), one.of(date.isoformat()).values()
            if (before := paths.setdefault((path, *rows), date)) != date:
                why = f"names {path} for the releases of {before} and {date}: write more of the date"
                why += ", as in {release:%Y-%m}, or {release:%YQ%q} with its quarter"
                raise ContractError(where, [("source.path", why)])


def _columns(declared: Any) -> int:
    """How many columns a contract declares, before what it says of each is read."""
    lists = (
        [declared.get(key) for key in ("quasi_identifiers", "columns")]
        if isinstance(declared, Mapping)
        else []
    )
    return sum(len(one) for one in lists if isinstance(one, list))


def _check_labels(contract: Product, where: str) -> None:
    """Refuse a contract that declares more labels than are read."""
    attributes = [one for _, one in contract.attributes()]
    values = (one.values or () for _, one in contract.sensitive_columns())
    for labels in (*values, *(getattr(one, "labels", ()) for one in attributes)):
        check(where, "labels", len(labels))


def read_hierarchy_file(folder: Path, name: str) -> list[list[str]]:
    """The lines `leaf;parent;…;root` of a CSV file that a contract, or the mapping of an audit, names.

    Raises ValueError if the file is not there, is too large, or is none of such lines. The text begins with
    its name.
    """
    try:
        if (folder / name).exists() and not (folder / name).is_file():
            raise ValueError(f"{name}: is no file")
        check(folder / name, "text", (folder / name).stat().st_size)
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
    check(folder / name, "labels", len(paths))
    for line, path in enumerate(paths, start=1):
        if not path or not all(path):
            why = "has an empty entry; write leaf;parent;…;root, or one value"
            raise ValueError(f"{name}, line {line}: {why}")
    return paths


def _schedule_faults(declared: Any) -> list[Fault]:
    """The faults of a schedule, as far as it is text."""
    releases = declared.get("releases") if isinstance(declared, Mapping) else None
    if not isinstance(releases, Mapping) or not isinstance(cron := releases.get("cron"), str):
        return []
    from republish.orchestration.contracts.schedule import schedule_fault  # noqa: PLC0415 - as above

    try:
        cron = in_five_fields(cron)
    except ValueError:
        return []  # said of it already
    fault = schedule_fault(cron, _first(releases))
    return [] if fault is None else [("releases.cron", fault)]


def _first(releases: Mapping[str, Any]) -> dt.date:
    """The declared date, or any date in place of one that is a fault by itself."""
    try:
        return dt.date.fromisoformat(str(releases.get("first")))
    except ValueError:
        return dt.date(2000, 1, 1)
