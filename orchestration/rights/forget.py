"""People taken out of all that is kept of them, in every series of a product; what is published stays.

Their rows go from snapshots, changes, linkages and lists of faults. What principles and audits remember is a
row for each person under a pseudonym, and other people's figures are counted with it: so the row stays, and
the pseudonym becomes a number drawn by lot, which leads to nobody.

Of those who may be published again, the last release's memory stays as it is: a return is safe, because they
go back to their signature. The others are never published again: only a keyed pseudonym of theirs is kept, by
which they are left out of every snapshot.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from republish.anonymize.errors import HomeError
from republish.orchestration.chain.population_overlap import noted_files, people_of
from republish.orchestration.chain.snapshot import FAULTS, KEPT, PEOPLE, content_digest, stated_of_all
from republish.orchestration.rights.asked import BUILT_ON, NOBODY, Asked, Rows, read_rows, series_of
from republish.orchestration.series.other_series import note_last
from republish.orchestration.series.pending_erasures import forgotten_again
from republish.orchestration.series.persons import FORGOTTEN, FORGOTTEN_SCHEMA, forgotten
from republish.orchestration.series.place import Place
from republish.orchestration.series.release_record import COMMITTED
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import shard_folders
from republish.orchestration.snapshots.crosswalks import asked_for
from republish.orchestration.storage.home import RELEASING, only_one
from republish.orchestration.storage.replacing import replace_files, replacing
from republish.orchestration.storage.sealed import read_sealed, write_sealed
from republish.orchestration.storage.store import (
    clear_partial,
    read_json,
    read_table,
    sha256,
    write_csv,
    write_json,
    write_table,
)


@dataclass(frozen=True)
class Forgetting:
    """Counts of what is kept of people in one series."""

    series: str
    """Product and series."""
    people: int
    """How many of those asked for have a row in it."""
    files: int
    """Files that have such a row, all together."""
    rows: int


def what_is_kept(series: Series, identifiers: Sequence[str], persons: pl.Series = NOBODY) -> list[Forgetting]:
    """Count what would be forgotten; nothing is changed."""
    return [one.counted() for one in _kept(series, identifiers, persons)]


def forget(
    series: Series,
    identifiers: Sequence[str],
    persons: Callable[[], pl.Series] = lambda: NOBODY,
    *,
    again: bool,
    releasing: bool = False,
) -> list[Forgetting]:
    """Take people out of all that is kept of them, all of it or nothing.

    Working files of releases that are not published yet are deleted: they are made again without them.

    Parameters
    ----------
    series
        The contract's; all series of its product are gone through.
    identifiers
        As the source has them, or other spellings.
    persons
        More people, as all products of the home call them; asked for once nothing can change any more.
    again
        Whether they may be published again. Their signatures stay under their pseudonyms then.
    releasing
        Whether it is part of a release, which holds one of the locks.

    Raises
    ------
    HomeError
        If a file of the home can't be read or written, is not as it was left, or is another key's; or another
        run is working on one of the series. Nothing is changed then.
    """
    home, product = series.home, series.contract.product
    root = home.private(product, "")
    with (
        _all_locked(series, (".lock",) if releasing else (RELEASING, ".lock")),
        replacing(home, root, f"the people of {product}") as staged,
    ):
        for place in _places(series):
            note_last(place)
        more = persons()
        if not identifiers and not more.len():
            return []
        for folder in (root, *(path for path in root.rglob("*") if path.is_dir())):
            clear_partial(folder)  # what a run that was killed wrote half has people's rows, too
        kept = _kept(series, identifiers, more)
        for one in kept:
            _stage(one, staged / one.asked.place.series, again=again)
        for one in kept:
            _restate(one, staged)
        before, after = forgotten(home, product), _remembered(series, kept, again=again)
        write_table(staged / FORGOTTEN, after)
        # Once more after the command was killed, and it is the same people: they count once.
        new = after.join(before, on=after.columns, how="anti", nulls_equal=True)
        people = new["person"].n_unique()
        said: dict[str, Any] = {
            "what": "forget",
            "series": series.name,
            "contract_sha256": series.file.sha256,
            "people": people,
            "again": again,
            **({} if identifiers else {"by_rule": True}),
        }
        if identifiers:
            forgotten_again(home, product, people, again=again, into=staged)
        replace_files(home, root, [folder for one in kept for folder in one.unpublished], said)
    return [one.counted() for one in kept]


@dataclass(frozen=True)
class _Kept:
    """The rows of a series that are about people."""

    asked: Asked
    found: list[Rows]

    @property
    def unpublished(self) -> list[Path]:
        """The folders of releases that are not published yet, and have any of the people."""
        asked = self.asked
        begun = {asked.release_of(one.file) for one in self.found} - {"", *asked.releases}
        return sorted(asked.folder / release for release in begun)

    def counted(self) -> Forgetting:
        """Itself in numbers."""
        people = pl.concat([NOBODY, *(one.persons for one in self.found)]).n_unique()
        rows = sum(int(one.about.sum()) for one in self.found)
        return Forgetting(self.asked.place.name, people, len(self.found), rows)


def _kept(series: Series, identifiers: Sequence[str], persons: pl.Series) -> list[_Kept]:
    found, contract = [], series.contract
    identifiers = asked_for(series.file, identifiers)
    for place in _places(series):
        asked = Asked(place, identifiers, contract.identifier, persons)
        for folder in sorted(path for path in asked.folder.glob("*") if path.is_dir()):
            asked.in_snapshot(folder.name)
        found.append(_Kept(asked, list(asked.files())))
    return found


def _places(series: Series) -> list[Place]:
    """All series of the product that have working files, and the contract's."""
    places = {series.other(series.series), *series_of(series.home, series.product)}
    return sorted(places, key=lambda place: place.series)


def _stage(kept: _Kept, staged: Path, *, again: bool) -> None:
    """Write all files of a series that have the people anew.

    Of releases that are not published, nothing is written: they are made again.
    """
    asked, lots = kept.asked, dict[bytes, bytes]()
    for one in kept.found:
        file, table, is_memory = one.file, read_rows(one.file), one.file.name.startswith(BUILT_ON)
        release, is_noted = asked.release_of(file), file in noted_files(asked.folder)
        is_left = again and (is_noted or (is_memory and release == asked.last))
        if table is None or is_left or asked.folder / release in kept.unpublished:
            continue
        table = _by_lot(table, one.about, lots) if is_memory else table.filter(~one.about)
        (write_csv if file.name == FAULTS else write_table)(staged / file.relative_to(asked.folder), table)


def _by_lot(table: pl.DataFrame, about: pl.Series, lots: dict[bytes, bytes]) -> pl.DataFrame:
    """A table in which people have numbers drawn by lot for pseudonyms; each the same in all files."""
    columns = []
    for name, dtype in table.schema.items():
        if dtype == pl.Binary:
            drawn = [lots.setdefault(one, secrets.token_bytes(len(one))) for one in table[name].filter(about)]
            column = table[name].to_list()
            for row, number in zip(about.arg_true(), drawn, strict=True):
                column[row] = number
            columns.append(pl.Series(name, column, dtype=pl.Binary))
    return table.with_columns(columns)


def _restate(kept: _Kept, root: Path) -> None:
    """State the digests of the files of published releases, and of what they were made from, as they are now.

    Raises HomeError if a file was not as it is stated: its new digest would vouch for it.
    """
    asked, place = kept.asked, kept.asked.place
    before = asked.terms.get("supersedes")
    former = None
    if before is not None:
        gone_on = place.other(before)
        former = gone_on.private(gone_on.releases[-1])
    for release in asked.releases:
        folder, staged = asked.folder / release, root / place.series / release
        taken = _restate_snapshot(folder, staged)
        made_from = {} if taken is None else {"snapshot": taken["sha256"]}
        key = place.candidate_key(release)
        record = read_sealed(folder / COMMITTED, key)
        if record is None and (folder / COMMITTED).exists():
            raise HomeError(f"{folder / COMMITTED}: was changed. Put it back from a copy")
        if record is not None:
            files = {name: _digest(folder, root, name, stated) for name, stated in record["files"].items()}
            built_on = record["made_from"].get("release before")
            if built_on and former is not None:
                here = former
                made_from["release before"] = {
                    name: _digest(here, root, name, stated) for name, stated in built_on.items()
                }
            now = {**record, "files": files, "made_from": {**record["made_from"], **made_from}}
            if now != record:
                write_sealed(staged / COMMITTED, now, key)
        former = folder


def _restate_snapshot(folder: Path, staged: Path) -> dict[str, Any] | None:
    """State what a release's snapshot is now, and each shard's, if it is written anew; None if it is not."""
    taken, now, is_new = read_json(folder / KEPT), [], False
    for shard in shard_folders(folder):
        stated, snapshot = read_json(shard / KEPT), staged / shard.relative_to(folder) / PEOPLE
        if stated is not None and snapshot.exists():
            if stated["sha256"] != content_digest(read_table(shard / PEOPLE)):
                raise HomeError(f"{shard / PEOPLE}: was changed. Put it back from a copy")
            table, is_new = pl.read_parquet(snapshot), True
            stated |= {"people": table.height, "sha256": content_digest(table)}
            write_json(snapshot.with_name(KEPT), stated)
        now += [stated] if stated else []
    if taken is None or not is_new:
        return None
    taken |= {name: part for name, part in stated_of_all(now).items() if name in ("people", "sha256")}
    write_json(staged / KEPT, taken)
    return taken


def _digest(folder: Path, root: Path, name: str, stated: str) -> str:
    """The digest of a file as it is to be; the one that is stated, if it is not written anew."""
    staged = root / folder.relative_to(root.parent) / name
    if not staged.exists():
        return stated
    if sha256(folder / name) != stated:
        raise HomeError(f"{folder / name}: was changed. Put it back from a copy")
    return sha256(staged)


def _remembered(series: Series, kept: Sequence[_Kept], *, again: bool) -> pl.DataFrame:
    """Whom the product has forgotten, these people included. Never again can't be taken back."""
    home, product = series.home, series.contract.product
    person = pl.concat([one.asked.everybody for one in kept]).unique()
    noted = [people_of(one.asked.place) for one in kept]
    published = pl.concat([NOBODY, *(one["person"] for one in noted if one is not None)])
    now = pl.DataFrame(
        {"person": person, "again": again, "published": person.is_in(published.implode())}
    ).join(
        pl.DataFrame([(one.asked.place.series, one.asked.last) for one in kept], _LAST, orient="row"),
        how="cross",
    )
    everybody = pl.concat([forgotten(home, product), now[list(FORGOTTEN_SCHEMA)]])
    of_series = everybody.group_by("person", "series").agg(
        pl.max("through"), pl.all("again"), pl.any("published")
    )
    return of_series.with_columns(pl.col("again").all().over("person")).sort("person", "series")


_LAST = {"series": pl.String, "through": pl.String}


@contextmanager
def _all_locked(series: Series, locks: Sequence[str]) -> Iterator[None]:
    """All series of the product for this process alone."""
    with ExitStack() as held:
        for place in _places(series):
            for lock in locks:
                held.enter_context(only_one(place.private_folder, f"series {place.name}", name=lock))
        yield
