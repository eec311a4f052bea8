"""Small tables as another tool might publish them, broken or not, each in several spellings."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
import yaml

from republish.anonymize.errors import PublishedFolderError
from republish.orchestration.audit.findings import Findings
from republish.orchestration.audit.read.folders import Reading, find_series, read_contract
from republish.orchestration.audit.read.foreign import load_mapping
from republish.orchestration.audit.read.material import Material
from republish.orchestration.audit.run import attack

TOWNS = ("Aldorf", "Birk", "Celle", "Dornau")
VALUES = ("asthma", "flu", "gout", "ulcer")
SIZE = 4
"""People of a group."""
PEOPLE = 48
AGE_DOMAIN = (0, 200)


def _set(low: int, high: int) -> str:
    return "{" + ", ".join(map(str, range(low, high + 1))) + "}"


SPELLINGS: dict[str, Callable[[int, int], str | tuple[str, str]]] = {
    "dash": lambda low, high: f"{low}-{high}",
    "brackets": lambda low, high: f"[{low}, {high}]",
    "half open": lambda low, high: f"({low - 1},{high}]",
    "pandas": lambda low, high: f"[{low}.0, {high + 1}.0)",
    "decimals": lambda low, high: f"{low - 0.5}-{high + 0.5}",
    "decimals in brackets": lambda low, high: f"({low - 0.5}, {high + 0.5}]",
    "words": lambda low, high: f"{low} to {high}",
    "set": _set,
    "two columns": lambda low, high: (f"{low}", f"{high}"),
    "two columns of decimals": lambda low, high: (f"{low - 0.5}", f"{high + 0.5}"),
}
"""Ways to write that a row is of an age from one to another."""
SETS: tuple[Callable[[list[str]], str], ...] = (
    lambda labels: "{" + ", ".join(labels) + "}",
    ", ".join,
    repr,
    ";".join,
)
"""Ways to write that a row is of one of some towns."""


@dataclass
class Row:
    """A person, and the row that stands for them."""

    name: str
    age: int
    town: str
    value: str | None
    group: int
    low: int
    high: int
    towns: list[str]
    shown: str | None = None
    """The published value, where it is another."""
    cell: str | None = None
    """The published age, where it is written in no usual way."""
    more: dict[str, Any] = field(default_factory=dict)
    """Further published columns."""


@dataclass
class Release:
    """A table, and the people whom it is about."""

    rows: list[Row]
    truth: list[Row]


@dataclass
class Table:
    """A series of another tool."""

    releases: list[Release]
    mapping: dict[str, Any]
    principle: dict[str, Any] | None = None

    @property
    def first(self) -> Release:
        """The first release."""
        return self.releases[0]


def release(seed: int = 0, names: str = "p") -> Release:
    """Twelve groups of four neighbours in age, which have every value once; sorted by content."""
    draw = random.Random(seed)
    rows = []
    for group in range(PEOPLE // SIZE):
        values = draw.sample(VALUES, SIZE)
        low = 20 + 10 * group
        towns = [TOWNS[(group + n) % 4] for n in (0, 1)]
        for n in range(SIZE):
            age, town = low + 3 * n, towns[n % 2]
            rows.append(
                Row(f"{names}{group:02}{n}", age, town, values[n], group, low, low + 9, sorted(towns))
            )
    truth = [replace(row) for row in rows]
    draw.shuffle(truth)
    for number, row in enumerate(draw.sample(truth, len(truth))):
        row.name = f"{names}{number:03}"
    rows = [replace(row) for row in truth]
    return Release(sorted(rows, key=lambda row: (row.group, row.value)), truth)


def table(*, k: int | None = None, l: int | None = None, m: int | None = None, releases: int = 1) -> Table:
    """An honest series that keeps k-anonymity and l-diversity, or m-invariance."""
    mapping: dict[str, Any] = {"sensitive": "VALUE"}
    if m is None:
        mapping["promise"] = {name: n for name, n in (("k", k), ("l", l)) if n is not None}
    principle = None if m is None else {"name": "m_invariance", "m": m}
    return Table([release() for _ in range(releases)], mapping, principle)


def audited(
    tried: Table, spelling: str, folder: Any, sets: int = 0, towns: Sequence[str] = TOWNS
) -> Findings | PublishedFolderError:
    """What an audit finds of a series in a spelling, or why it refuses it."""
    write(tried, spelling, folder, sets, towns)
    declared = read_contract(folder / "contract.yaml", is_promised_elsewhere=tried.principle is None)
    foreign = load_mapping(folder / "mapping.yaml", declared.contract)
    series = find_series([folder / "published"], foreign)
    material = Material(declared, series, folder / "truth", None, foreign, Reading())
    try:
        *_, found = attack(material, seconds=5)
    except PublishedFolderError as error:
        return error
    assert isinstance(found, Findings)
    return found


def write(tried: Table, spelling: str, folder: Any, sets: int = 0, towns: Sequence[str] = TOWNS) -> None:
    """Write a series with its truth, contract and mapping into a folder."""
    for part in ("published", "truth"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    ages = ["LOW", "HIGH"] if spelling.startswith("two") else "AGE"
    for number, one in enumerate(tried.releases):
        published = [_published(row, spelling, sets) for row in one.rows]
        pl.DataFrame(published, infer_schema_length=None).write_csv(
            folder / f"published/{2020 + number}.csv", separator=tried.mapping.get("separator", ",")
        )
        people = [{"name": p.name, "age": p.age, "town": p.town, "value": p.value} for p in one.truth]
        pl.DataFrame(people).write_csv(folder / f"truth/{2020 + number}.csv")
    contract = {
        "identifier": "name",
        "quasi_identifiers": [
            {"name": "age", "kind": "number", "domain": [*AGE_DOMAIN]},
            {"name": "town", "kind": "category", "order": [*towns]},
        ],
        "sensitive": {"name": "value"},
    }
    contract |= {"principle": tried.principle} if tried.principle else {}
    (folder / "contract.yaml").write_text(yaml.safe_dump(contract))
    mapping = {"quasi_identifiers": {"age": ages, "town": "TOWN"}} | tried.mapping
    (folder / "mapping.yaml").write_text(yaml.safe_dump(mapping))


def _published(row: Row, spelling: str, sets: int) -> dict[str, Any]:
    cell = row.cell if row.cell is not None else SPELLINGS[spelling](row.low, row.high)
    if spelling.startswith("two"):
        low, high = cell if isinstance(cell, tuple) else (cell, cell)
        ages = {"LOW": low, "HIGH": high}
    else:
        ages = {"AGE": cell}
    town = SETS[sets](row.towns) if len(row.towns) > 1 else row.towns[0]
    return {**ages, "TOWN": town, "VALUE": row.value if row.shown is None else row.shown, **row.more}
