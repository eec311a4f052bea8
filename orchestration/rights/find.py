"""Everything that a home holds of one person: their releases and groups, and the files that have them.

It works from the publisher's own files alone. Of a release whose working files were deleted, what is left is
that it was published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from republish.anonymize.columns import PSEUDONYM, VALUE, entries, exactly
from republish.anonymize.contract import Product
from republish.anonymize.contract.combined import kept_apart
from republish.orchestration.chain.population_overlap import other_products
from republish.orchestration.rights.asked import BUILT_ON, Asked, series_of
from republish.orchestration.series.facts import BEFORE, sensitive_names
from republish.orchestration.series.persons import comparable, forgotten, of_series
from republish.orchestration.series.place import Place
from republish.orchestration.series.release_record import LINKAGE
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import shard_folders
from republish.orchestration.snapshots.crosswalks import asked_for
from republish.orchestration.storage.parts import scan_parts, tables_in
from republish.orchestration.storage.store import read_table


@dataclass(frozen=True)
class Placed:
    """A person's place in one release; of somebody with several rows, that of one of them."""

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
    """Values that were in all their groups so far, since their own value changed last."""


@dataclass(frozen=True)
class Held:
    """A file that has a row of the person."""

    file: str
    """Its place in the home."""
    rows: int
    what: str
    """A description of it."""
    until: str
    """How long it is kept, in words."""


@dataclass(frozen=True)
class InSeries:
    """A person's places in a series."""

    series: str
    """Product and series, `hospital/v1`."""
    releases: tuple[Placed, ...]
    promised: tuple[str, ...]
    """The promise to them when they were first published, in sentences."""
    rows: tuple[dict[str, Any], ...]
    """Their rows in the snapshots that are kept, under the publisher's names, with the release."""
    held: tuple[Held, ...]

    @property
    def names(self) -> list[str]:
        """The releases there are."""
        return list(dict.fromkeys(one.release for one in self.releases))

    @property
    def published(self) -> list[Placed]:
        """Their places in the releases that have them."""
        return [one for one in self.releases if one.in_release]

    @property
    def names_published(self) -> list[str]:
        """The releases that have them."""
        return list(dict.fromkeys(one.release for one in self.published))

    @property
    def unknown(self) -> list[str]:
        """The releases of which nothing is kept that says whether they have them."""
        return list(dict.fromkeys(one.release for one in self.releases if one.in_release is None))

    @property
    def kinds(self) -> list[tuple[str, str, int]]:
        """Kinds of files that are kept, until when, and how many there are."""
        counted = Counter((one.what, one.until) for one in self.held)
        return [(what, until, files) for (what, until), files in counted.items()]

    @property
    def fewest(self) -> int | None:
        """The fewest values that were left after any release; None if none has them, or it has no groups."""
        return min((len(one.left) for one in self.published if one.values), default=None)


@dataclass(frozen=True)
class Person:
    """A person as a home has them. The identifier is not in it."""

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
    (identifier,) = asked_for(series.file, [identifier])
    places = sorted(series_of(home, product), key=lambda one: (one.series != series.series, one.series))
    other = comparable(home, pl.Series([identifier]))
    elsewhere = (one.name for one in other_products(series) if _has(one.people, other))
    gone = forgotten(home, product).filter(pl.col("person").is_in(other.implode()))
    through = max(gone["through"], default=None)
    found = (_in_series(place, series.contract, identifier, gone) for place in places)
    found = (one for one in found if one.releases or one.held)
    return Person(product, tuple(found), tuple(elsewhere), through)


def _has(people: pl.DataFrame | None, person: pl.Series) -> bool:
    return people is not None and bool(people["person"].is_in(person.implode()).any())


def _in_series(place: Place, contract: Product, identifier: str, gone: pl.DataFrame) -> InSeries:
    asked = Asked(place, [identifier], contract.identifier)
    placed, rows, before = [], [], dict[tuple[Any, ...], _Before]()
    through = max(gone.filter(of_series(place.series))["through"], default=None)
    begun = (path.name for path in asked.folder.glob("*") if path.is_dir())
    for release in sorted({*asked.releases, *begun}):
        snapshot = asked.in_snapshot(release)
        mine = None if snapshot is None else snapshot.table
        if snapshot is not None:
            named = kept_apart(snapshot.table.drop(PSEUDONYM), snapshot.columns)
            named = named.rename(dict(snapshot.columns), strict=False)
            rows += [{"release": release, **row} for row in _plain(named).to_dicts()]
        if release not in asked.releases:
            continue
        folders = shard_folders(asked.folder / release)
        linkages = [file for folder in folders if (file := folder / LINKAGE).exists()]
        groups = [group for file in linkages for group in _groups(file, asked)]
        is_told = bool(linkages) and (bool(groups) or through is None or release > through)
        for group in groups or (None,):
            published = place.published(release)
            values = _values(published, group, asked.terms.get("sensitive"))
            # Of several rows, those are of one value whose groups show the same values.
            unit = tuple(sorted(values)) if asked.has_several_rows else ()
            left = before.setdefault(unit, _Before()).narrowed(values, mine)
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
    held = tuple(_held(asked, contract if place.series == contract.series else None))
    first = next((number for number, one in enumerate(placed) if one.in_release), None)
    promised = () if first is None else _promised(asked, first)
    return InSeries(place.name, tuple(placed), promised, tuple(rows), held)


def _plain(table: pl.DataFrame) -> pl.DataFrame:
    """A table of what JSON has: dates are text, and bytes are hexadecimal digits, as one asks for them."""
    return table.with_columns(cs.temporal().cast(pl.String), cs.binary().bin.encode("hex"))


NO_GROUP = -1
"""The group of somebody whose row is published without groups."""


class _Before:
    """The values that were left to a person after the releases so far."""

    def __init__(self) -> None:
        self._left: set[Any] | None = None
        self._value: Any = None

    def narrowed(self, values: dict[Any, int], mine: pl.DataFrame | None) -> tuple[Any, ...]:
        """The values left after a release in which the person's group has some values."""
        if not values:
            return ()
        has_value = mine is not None and VALUE in mine.columns and mine.height == 1
        value = mine[VALUE].item() if mine is not None and has_value else None
        if self._left is None or (value is not None and self._value is not None and value != self._value):
            self._left = set(values)
        self._left &= set(values)
        self._value = value if value is not None else self._value
        return tuple(sorted(self._left))


def _groups(file: Path, asked: Asked) -> list[int]:
    """The groups that a linkage has rows of the person in; `NO_GROUP` for each of them without groups."""
    linkage = read_table(file)
    mine = linkage.filter(asked.within(entries(linkage, asked.column)))
    return mine["group_id"].sort().to_list() if "group_id" in mine.columns else [NO_GROUP] * mine.height


def _values(folder: Path, group: int | None, sensitive: Any) -> dict[Any, int]:
    """How often a published group has each of its values; of several columns, each combination, as text."""
    if group in (None, NO_GROUP) or not sensitive:
        return {}
    columns = sensitive_names(sensitive)
    for files in tables_in(folder).values():
        names = scan_parts(files).collect_schema()
        if {"group_id", *columns} <= names.keys():
            count = pl.col("count").sum() if "count" in names and "count" not in columns else pl.len()
            mine = scan_parts(files).filter(pl.col("group_id") == group)
            held = mine.group_by(exactly(*columns)).agg(count.alias("tuples")).collect()
            if len(columns) > 1:
                held = held.select(_together(columns), "tuples")
            return dict(held.iter_rows())
    return {}


def _together(columns: list[str]) -> pl.Expr:
    """A combination as text, `(flu, rest)`: values with signs that would be taken for ours are in quotes."""
    texts = [exactly(name).cast(pl.String) for name in columns]
    quoted = (pl.lit('"') + text.str.replace_all('"', '""', literal=True) + pl.lit('"') for text in texts)
    written = [
        pl.when(text.str.contains(r'[,"()]')).then(in_quotes).otherwise(text)
        for text, in_quotes in zip(texts, quoted, strict=True)
    ]
    return pl.lit("(") + pl.concat_str(written, separator=", ") + pl.lit(")")


def _promised(asked: Asked, first: int) -> tuple[str, ...]:
    """The promise of a release of the series, counted from 0: the last record that is kept says it of all."""
    number = asked.terms.get(BEFORE, 0) + first
    for release in reversed(asked.releases):
        record = asked.place.record(release)
        if record is not None and len(record.promises) > number:
            return tuple(record.promises[number].sentences())
    return ()


def _held(asked: Asked, contract: Product | None) -> Iterator[Held]:
    """The files of a series that have a row of the person, and what is known of how long."""
    for one in asked.files():
        file = one.file
        is_of_last = asked.release_of(file) == asked.last and file.name.startswith(BUILT_ON)
        until = _until(contract, is_needed=file.parent == asked.folder or is_of_last)
        yield Held(f"{file.relative_to(asked.home.path)}", int(one.about.sum()), _what(file), until)


WHAT = {
    "snapshot": "the table that the release was made from",
    "delta": "a list of who came, left or changed since the release before, by pseudonym",
    "linkage": "a list of the group that each person is in",
    "people": "a list of everybody who was ever published, by pseudonym",
    "state-memory": "a list of signatures, by pseudonym, so that a person who returns gets the same one",
    "faults": "a list of rows that had faults",
    "left_out": "a list of people who are not in the release, because a value of theirs is missing",
}
"""Descriptions of files, by their names without endings."""


def _what(file: Path) -> str:
    if file.stem.startswith("knowledge-"):
        return "what the next audit remembers of each person, by pseudonym"
    if file.stem.startswith("people"):
        return WHAT["people"]  # of a shard
    return WHAT.get(file.stem, "what the next release is built on, by pseudonym")


def _until(contract: Product | None, *, is_needed: bool) -> str:
    goes_on = "as long as the series goes on"
    if contract is None:
        return goes_on if is_needed else "as the contract of that series says"
    rule = contract.retention
    absent = None
    if rule is not None:
        many, unit = rule.period
        absent = f"until you have been absent for {many} {unit}{'' if many == 1 else 's'}"
    if is_needed:
        return absent if absent and rule and rule.never_again else goes_on
    if contract.keep_private == "all":
        return absent or "until the publisher deletes it"
    published = f"until {contract.keep_private} later releases are published"
    return f"{published}, or {absent}" if absent else published
