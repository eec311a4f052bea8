"""Everything that a home holds of one person: their releases and groups, and the files that have them.

It works from the publisher's own files alone. Of a release whose working files were deleted, what is left is
that it was published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from anonymize.columns import IDENTIFIER, PSEUDONYM, VALUE
from anonymize.contract import Product
from anonymize.people.randomness import derive_key
from orchestration.chain.same_people import other_products
from orchestration.chain.snapshot import kept_snapshot
from orchestration.rights.asked import BUILT_ON, Asked, last_release
from orchestration.series.committed import read_record
from orchestration.series.facts import Facts, facts_of
from orchestration.series.persons import comparable, forgotten
from orchestration.series.series import Series
from orchestration.series.siblings import BEFORE, FIRST, pseudonym_key, published_releases, siblings
from orchestration.storage.home import Home
from orchestration.storage.store import read_table

LINKAGE = "linkage.parquet"


@dataclass(frozen=True)
class Placed:
    """What one release has of a person."""

    release: str
    in_snapshot: bool | None
    """Whether the snapshot has them; None if it is not kept."""
    in_release: bool | None
    """Whether a group has them; None if nothing is kept that says so."""
    group: int | None = None
    """Their group, as published."""
    tuples: int = 0
    """Rows of that group, counterfeits included."""
    values: tuple[Any, ...] = ()
    """The values that the group has: each may be theirs."""
    left: tuple[Any, ...] = ()
    """Those of them that were in all their groups so far, since their own value changed last."""


@dataclass(frozen=True)
class Held:
    """A file that has a row of the person."""

    file: str
    """Its place in the home."""
    rows: int
    what: str
    """What it is, in words."""
    until: str
    """How long it is kept, in words."""


@dataclass(frozen=True)
class InSeries:
    """What a series has of a person."""

    series: str
    """Product and series, `hospital/v1`."""
    releases: tuple[Placed, ...]
    promised: tuple[str, ...]
    """What was promised to them when they were first published, in sentences."""
    rows: tuple[dict[str, Any], ...]
    """Their rows in the snapshots that are kept, under the publisher's names, with the release."""
    held: tuple[Held, ...]

    @property
    def published(self) -> list[Placed]:
        """The releases that have them."""
        return [one for one in self.releases if one.in_release]

    @property
    def unknown(self) -> list[str]:
        """The releases of which nothing is kept that says whether they have them."""
        return [one.release for one in self.releases if one.in_release is None]

    @property
    def kinds(self) -> list[tuple[str, str, int]]:
        """What is kept, until when, and in how many files."""
        counted = Counter((one.what, one.until) for one in self.held)
        return [(what, until, files) for (what, until), files in counted.items()]

    @property
    def fewest(self) -> int | None:
        """The fewest values that were left after any release; None if none has them, or it has no groups."""
        return min((len(one.left) for one in self.published if one.values), default=None)


@dataclass(frozen=True)
class Person:
    """What a home holds of a person. The identifier is not in it."""

    product: str
    series: tuple[InSeries, ...]
    elsewhere: tuple[str, ...]
    """Other products of the home whose releases have them."""
    forgotten_through: str | None = None
    """The last release when they were forgotten; None if they were not."""

    def as_json(self) -> dict[str, Any]:
        """Itself as a JSON object."""
        return asdict(self)


def find(series: Series, identifier: str) -> Person:
    """Everything that the home of a series holds of a person, in all series of the product.

    Parameters
    ----------
    series
        The contract's series. The person may be in none of its releases.
    identifier
        As the source has it, or another spelling of it (`P7` for `p7`); bytes as hexadecimal digits.

    Raises
    ------
    HomeError
        If a file of the home can't be read.
    """
    home, product = series.home, series.contract.product
    names = [series.contract.series, *siblings(home, product, series.contract.series)]
    other = comparable(home, pl.Series([identifier]))
    elsewhere = (one.name for one in other_products(series) if _has(one.people, other))
    gone = forgotten(home, product).filter(pl.col("person").is_in(other.implode()))
    through = max(gone["through"], default=None)
    found = (
        _in_series(home, series.contract, name, identifier, through)
        for name in names
        if published_releases(home, product, name)
    )
    return Person(product, tuple(found), tuple(elsewhere), through)


def _has(people: pl.DataFrame | None, person: pl.Series) -> bool:
    return people is not None and bool(people["person"].is_in(person.implode()).any())


def _in_series(home: Home, contract: Product, name: str, identifier: str, through: str | None) -> InSeries:
    product, folder = contract.product, home.private(contract.product, name)
    releases, facts = published_releases(home, product, name), facts_of(home, product, name)
    terms = (facts or Facts({}, {})).terms
    key = pseudonym_key(home, product, terms.get(FIRST, name))
    asked = Asked([identifier], terms.get("identifier", contract.identifier))
    placed, rows, before = [], [], _Before()
    for release in releases:
        snapshot = kept_snapshot(folder / release)
        mine = None if snapshot is None else snapshot.table.filter(asked.within(snapshot.table[IDENTIFIER]))
        if snapshot is not None and mine is not None:
            asked.spelled(mine[IDENTIFIER])
            named = mine.drop(PSEUDONYM).rename(dict(snapshot.columns), strict=False)
            rows += [{"release": release, **row} for row in named.to_dicts()]
        linkage = folder / release / LINKAGE
        group = _group(linkage, asked) if linkage.exists() else None
        values = _values(home.published(product, name) / release, group, terms.get("sensitive"))
        left = before.narrowed(values, mine)
        is_told = linkage.exists() and (group is not None or through is None or release > through)
        placed.append(
            Placed(
                release,
                None if mine is None or not is_told else mine.height > 0,
                group is not None if is_told else None,
                group if group != NO_GROUP else None,
                sum(values.values()),
                tuple(sorted(values)),
                left,
            )
        )
    held = tuple(_held(home, folder, asked, key, contract if name == contract.series else None))
    first = next((number for number, one in enumerate(placed) if one.in_release), None)
    return InSeries(
        f"{product}/{name}",
        tuple(placed),
        _promised(home, product, name, releases, terms.get(BEFORE, 0), first),
        tuple(rows),
        held,
    )


NO_GROUP = -1
"""The group of somebody whose row is published without groups."""


class _Before:
    """The values that were left to a person after the releases so far."""

    def __init__(self) -> None:
        self._left: set[Any] | None = None
        self._value: Any = None

    def narrowed(self, values: dict[Any, int], mine: pl.DataFrame | None) -> tuple[Any, ...]:
        """What is left after a release in which the person's group has some values."""
        if not values:
            return ()
        value = (
            mine[VALUE].item() if mine is not None and VALUE in mine.columns and mine.height == 1 else None
        )
        if self._left is None or (value is not None and self._value is not None and value != self._value):
            self._left = set(values)
        self._left &= set(values)
        self._value = value if value is not None else self._value
        return tuple(sorted(self._left))


def _group(file: Path, asked: Asked) -> int | None:
    """The group that a linkage has the person in; `NO_GROUP` without groups, None if it has not them."""
    linkage = read_table(file)
    mine = linkage.filter(asked.within(linkage[asked.column]))
    if not mine.height:
        return None
    return int(mine["group_id"][0]) if "group_id" in mine.columns else NO_GROUP


def _values(folder: Path, group: int | None, sensitive: str | None) -> dict[Any, int]:
    """How often a published group has each of its values."""
    if group in (None, NO_GROUP) or sensitive is None:
        return {}
    for file in sorted(folder.glob("*.parquet")):
        names = pl.read_parquet_schema(file)
        if {"group_id", sensitive} <= names.keys():
            count = pl.col("count").sum() if "count" in names else pl.len()
            mine = read_table(file).filter(pl.col("group_id") == group)
            return dict(mine.group_by(sensitive).agg(count.alias("tuples")).iter_rows())
    return {}


def _promised(
    home: Home, product: str, name: str, releases: Sequence[str], before: int, first: int | None
) -> tuple[str, ...]:
    """What the release that has them first promised: the last record that is kept says it of all."""
    for release in reversed(releases if first is not None else []):
        key = derive_key(home.key(), "candidate", product, name, release)
        record = read_record(home.private(product, name) / release, key)
        if record is not None and first is not None and len(record.promises) > before + first:
            return tuple(record.promises[before + first].sentences())
    return ()


def _held(home: Home, folder: Path, asked: Asked, key: bytes, contract: Product | None) -> Iterator[Held]:
    """The files of a series that have a row of the person, and what is known of how long."""
    last = last_release(folder)
    for file, about in asked.files(home, folder, key):
        is_needed = file.parent == folder or (file.parent.name == last and file.name.startswith(BUILT_ON))
        until = _until(contract, is_needed=is_needed)
        yield Held(f"{file.relative_to(home.path)}", int(about.sum()), _what(file), until)


WHAT = {
    "snapshot": "the snapshot that the release was made from",
    "delta": "who came, left or changed since the release before, by pseudonym",
    "linkage": "which group has whom",
    "people": "who was ever published, by a pseudonym that all products of the home have in common",
    "state-memory": "signatures, by pseudonym: whoever returns goes back to theirs",
    "faults": "rows of a snapshot that were at fault",
}
"""What files are, by their names without endings."""


def _what(file: Path) -> str:
    if file.stem.startswith("knowledge-"):
        return "what the next audit remembers of each person, by pseudonym"
    return WHAT.get(file.stem, "what the next release is built on, by pseudonym")


def _until(contract: Product | None, *, is_needed: bool) -> str:
    if is_needed:
        return "as long as the series goes on"
    if contract is None:
        return "as the contract of that series says"
    if contract.keep_private == "all":
        return "until the publisher deletes it"
    return f"until {contract.keep_private} later releases are published"
