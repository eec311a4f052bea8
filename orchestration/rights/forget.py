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
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from anonymize.columns import IDENTIFIER
from anonymize.contract import Product
from anonymize.people.randomness import derive_key
from orchestration.chain.same_people import NOTED
from orchestration.chain.snapshot import FAULTS, KEPT, PEOPLE, content_digest, kept_snapshot
from orchestration.rights.asked import BUILT_ON, Asked, last_release, read_rows
from orchestration.series.committed import COMMITTED
from orchestration.series.facts import facts_of
from orchestration.series.persons import FORGOTTEN, comparable, forgotten
from orchestration.series.series import Series
from orchestration.series.siblings import FIRST, pseudonym_key, published_releases, siblings
from orchestration.storage.home import Home, only_one
from orchestration.storage.log import note
from orchestration.storage.replacing import begin_replacing, finish_replacing, replace_files
from orchestration.storage.sealed import read_sealed, write_sealed
from orchestration.storage.store import read_json, sha256, write_csv, write_json, write_table

RELEASING = ".releasing"


@dataclass(frozen=True)
class Forgetting:
    """What is kept of people in one series."""

    series: str
    """Product and series."""
    people: int
    """How many of those asked for have a row in it."""
    files: int
    rows: int


def what_is_kept(series: Series, identifiers: Sequence[str]) -> list[Forgetting]:
    """What would be forgotten; nothing is changed."""
    return [
        Forgetting(f"{series.contract.product}/{one.name}", one.people, len(one.files), one.rows)
        for one in _kept(series, identifiers)
    ]


def forget(series: Series, identifiers: Sequence[str], *, again: bool) -> list[Forgetting]:
    """Take people out of all that is kept of them, all of it or nothing.

    Working files of releases that are not published yet are deleted: they are made again without them.

    Parameters
    ----------
    series
        The contract's; all series of its product are gone through.
    identifiers
        As the source has them, or other spellings.
    again
        Whether they may be published again. Their signatures stay under their pseudonyms then.

    Raises
    ------
    HomeError
        If a file of the home can't be read or written, or another run is working on one of the series.
    """
    home, product = series.home, series.contract.product
    root = home.private(product, "")
    with _all_locked(series):
        finish_replacing(root)
        kept = _kept(series, identifiers)
        found = [Forgetting(f"{product}/{one.name}", one.people, len(one.files), one.rows) for one in kept]
        staged = begin_replacing(root)
        removed = [folder for one in kept for folder in _unpublished(home, product, one)]
        for one in kept:
            _stage(home, product, one, staged / one.name, again=again, without=removed)
        write_table(staged / FORGOTTEN, _remembered(series, kept, identifiers, again=again))
        note(home, "forget", series.name, series.file.sha256, people=len(identifiers), again=again)
        replace_files(root, removed)
    return found


@dataclass(frozen=True)
class _Kept:
    """The rows of a series that are about people."""

    name: str
    folder: Path
    asked: Asked
    files: list[tuple[Path, pl.Series]]
    people: int

    @property
    def rows(self) -> int:
        return sum(int(about.sum()) for _, about in self.files)


def _names(series: Series) -> list[str]:
    """All series of the product that have working files."""
    home, product = series.home, series.contract.product
    names = {series.contract.series, *siblings(home, product)}
    return sorted(name for name in names if home.private(product, name).is_dir())


def _kept(series: Series, identifiers: Sequence[str]) -> list[_Kept]:
    home, contract = series.home, series.contract
    return [_kept_in(home, contract, name, identifiers) for name in _names(series)]


def _kept_in(home: Home, contract: Product, name: str, identifiers: Sequence[str]) -> _Kept:
    folder, facts = home.private(contract.product, name), facts_of(home, contract.product, name)
    terms = facts.terms if facts else {}
    asked = Asked(identifiers, terms.get("identifier") or contract.identifier)
    people = 0
    for release in sorted(path for path in folder.iterdir() if path.is_dir()):
        if (snapshot := kept_snapshot(release)) is not None:
            asked.spelled(snapshot.table[IDENTIFIER].filter(asked.within(snapshot.table[IDENTIFIER])))
    key = pseudonym_key(home, contract.product, terms.get(FIRST, name))
    files = list(asked.files(home, folder, key))
    noted = [about for file, about in files if file.name == NOTED]
    people = max((int(about.sum()) for about in (*noted, *(about for _, about in files))), default=0)
    return _Kept(name, folder, asked, files, people)


def _unpublished(home: Home, product: str, kept: _Kept) -> Iterator[Path]:
    """The folders of releases that are not published yet, and have any of the people."""
    published = published_releases(home, product, kept.name)
    folders = {file.parent for file, _ in kept.files} - {kept.folder}
    yield from sorted(folder for folder in folders if folder.name not in published)


def _stage(
    home: Home, product: str, kept: _Kept, staged: Path, *, again: bool, without: Sequence[Path]
) -> None:
    """Write all files of a series that have the people anew, and what is said of these files."""
    last, lots = last_release(kept.folder), dict[bytes, bytes]()
    changed = set[Path]()
    for file, about in kept.files:
        place = staged / file.relative_to(kept.folder)
        table = read_rows(file)
        if table is None or file.parent in without:
            continue
        if file.name.startswith(BUILT_ON):
            if again and file.parent.name == last:
                continue
            table = _by_lot(table, about, lots)
        elif again and file.name == NOTED:
            continue
        else:
            table = table.filter(~about)
        (write_csv if file.name == FAULTS else write_table)(place, table)
        changed.add(file.parent)
    for folder in sorted(changed - {kept.folder}):
        _restate(home, product, kept.name, folder, staged / folder.name)


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


def _restate(home: Home, product: str, name: str, folder: Path, staged: Path) -> None:
    """State the digests of a release's files as they are now."""
    stated = read_json(folder / KEPT)
    if stated is not None and (staged / PEOPLE).exists():
        table = pl.read_parquet(staged / PEOPLE)
        write_json(staged / KEPT, {**stated, "people": table.height, "sha256": content_digest(table)})
    key = derive_key(home.key(), "candidate", product, name, folder.name)
    record = read_sealed(folder / COMMITTED, key)
    if record is not None:
        digests = {
            file: sha256(staged / file) if (staged / file).exists() else digest
            for file, digest in record["files"].items()
        }
        write_sealed(staged / COMMITTED, {**record, "files": digests}, key)


def _remembered(
    series: Series, kept: Sequence[_Kept], identifiers: Sequence[str], *, again: bool
) -> pl.DataFrame:
    """Whom the product has forgotten, these people included."""
    home, product = series.home, series.contract.product
    through = max(
        (release for one in kept for release in published_releases(home, product, one.name)), default=""
    )
    spellings = [comparable(home, one.asked.spellings) for one in kept]
    person = pl.concat([comparable(home, pl.Series(identifiers)), *spellings]).unique()
    now = pl.DataFrame({"person": person}).with_columns(through=pl.lit(through), again=pl.lit(again))
    before = forgotten(home, product).join(now, on="person", how="anti")
    return pl.concat([before, now]).sort("person")


@contextmanager
def _all_locked(series: Series) -> Iterator[None]:
    """All series of the product for this process alone."""
    home, product = series.home, series.contract.product
    with ExitStack() as held:
        for name in _names(series):
            what = f"series {product}/{name}"
            for lock in (RELEASING, ".lock"):
                held.enter_context(only_one(home.private(product, name), what, name=lock))
        yield
