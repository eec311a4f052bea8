"""The material of an audit: published folders, the truth behind them, the contract, the private linkage."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from republish.anonymize.attack.finding import Count
from republish.anonymize.columns import entries, exactly
from republish.anonymize.contract import Contract, Dialect, FileSource, Product, Sensitive
from republish.anonymize.contract.combined import combine, separate
from republish.anonymize.errors import PublishedFolderError, SnapshotError
from republish.anonymize.formats import ELSEWHERE, FORMATS, Format
from republish.anonymize.formats.format import PublishedColumn
from republish.anonymize.people.rows import named_by_row, names_in_linkage, with_row_names
from republish.anonymize.people.values import by_own_names
from republish.anonymize.principles import SOME_PRINCIPLE, principle_of
from republish.anonymize.promise.rules import METADATA
from republish.anonymize.spelling import is_plainly_spelt, twins, value_form
from republish.orchestration.audit.read.foreign import Cells, Foreign, convert
from republish.orchestration.contracts.contract_file import ContractFile, load_contract
from republish.orchestration.readers.datapackage.dated import undated
from republish.orchestration.series.shards import shard_name
from republish.orchestration.snapshots.crosswalks import Crosswalk, under_first_identifiers
from republish.orchestration.snapshots.files import read_file
from republish.orchestration.snapshots.missing import counted_by_column, settle_missing
from republish.orchestration.snapshots.sources import enter, read_as_declared, source_of
from republish.orchestration.snapshots.validation import conform, describe_faults
from republish.orchestration.storage.hidden import hidden_in_foreign, hidden_in_our
from republish.orchestration.storage.manifest import MANIFEST, is_release, verify_tables
from republish.orchestration.storage.parts import (
    ENDINGS,
    SUFFIX,
    files_in,
    files_of_tables,
    name_in,
    table_files,
    table_of,
)

UNNEEDED = {
    "product": "releases",
    "series": "audited",
    "source": {"path": "{release}.csv"},
    "releases": {"first": "2000-01-01"},
}
"""What a contract that is only audited need not say."""
PLAIN = Dialect()
"""How a file is written of which nothing is said."""
MAIN_TABLES = ("microdata", "quasi_identifiers", "view")
"""What a release folder without a manifest is known by."""


@dataclass(frozen=True)
class ReleaseFiles:
    """Where one published release is."""

    name: str
    path: Path
    """Its folder, or its one file."""
    manifest: dict[Any, Any] | None = None

    @property
    def files(self) -> list[Path]:
        """Everything in it."""
        return [self.path] if self.path.is_file() else [p for p in files_in(self.path) if p.is_file()]

    @property
    def series(self) -> tuple[Any, Any]:
        """Product and series, as its manifest states them."""
        stated = self.manifest or {}
        return stated.get("product"), stated.get("series")

    def name_of(self, file: Path) -> str:
        """What one of them is called in it."""
        return file.name if self.path == file else name_in(self.path, file)


@dataclass(frozen=True)
class PublishedSeries:
    """The releases of one series, in order."""

    name: str
    releases: list[ReleaseFiles]
    before: PublishedSeries | None = None
    """The series that it goes on from (`supersedes`), whose people keep what they were promised there."""

    @property
    def chain(self) -> list[ReleaseFiles]:
        """Its releases after those of the series that it goes on from."""
        return [*(self.before.chain if self.before else []), *self.releases]


@dataclass
class Reading:
    """Every file that was read, so that the report can say what it is about."""

    files: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    """Path: SHA-256 (hex), rows (None for what is no table)."""
    spellings: dict[str, dict[str, str]] = field(default_factory=dict)
    """The first spelling of each value that was read, by its normal form: twins are one value."""
    left_out: dict[str, dict[str, int]] = field(default_factory=dict)
    """By release, how many people of its truth are left out for want of a value, by column."""
    people: dict[str, int] = field(default_factory=dict)
    """By release, the people (or rows) of its truth."""
    used: dict[str, None] = field(default_factory=dict)
    """The published columns that are looked at, as they come."""
    ignored: dict[str, None] = field(default_factory=dict)
    """The published columns that neither the contract nor a mapping names."""
    cells: dict[Path, Cells] = field(default_factory=dict)
    """What is counted of the cells of each file of another tool."""
    linked: dict[Path, list[Path]] = field(default_factory=dict)
    """What `linked_in` has found, by private folder: it is looked through once, not for each release."""

    def note_columns(self, table: pl.DataFrame, used: Iterable[str]) -> None:
        """Remember which columns of a published table are looked at."""
        self.used |= dict.fromkeys(used)
        self.ignored |= dict.fromkeys(name for name in table.columns if name not in self.used)

    def linked_in(self, private: Path) -> list[Path]:
        """The folders of releases, below the private one, that have linkages, of their own or of shards."""
        if private not in self.linked:
            above = (file.parent for file in private.glob("**/linkage.parquet"))
            self.linked[private] = sorted(
                {one.parent if one.name.startswith("shard-") else one for one in above}
            )
        return self.linked[private]

    def note(self, path: Path, rows: int | None = None) -> None:
        """Remember a file by its hash."""
        with path.open("rb") as file:
            self.files[str(path)] = (hashlib.file_digest(file, "sha256").hexdigest(), rows)


def read_contract(path: Path, *, is_promised_elsewhere: bool = False) -> ContractFile:
    """The contract with its place; of one that leaves out where snapshots come from, what an audit needs.

    A contract need not have a principle if a mapping says what is promised, and may be that of an earlier
    version.

    Raises
    ------
    ContractError
        Naming the file and every fault.
    """
    unneeded = UNNEEDED | ({"principle": SOME_PRINCIPLE} if is_promised_elsewhere else {})
    return load_contract(path, unneeded, is_scheduled=False, of_earlier_versions=True)


def find_series(published: Sequence[Path], foreign: Foreign | None) -> list[PublishedSeries]:
    """The series that some folders and files are of; single releases of one folder are one series.

    A series that goes on from another one comes after it.

    Raises
    ------
    PublishedFolderError
        If there is nothing to audit in one of them, a release is not what its manifest says, or a series goes
        on from one that is not among them.
    """
    found = [release for path in published for release in _releases(path, foreign)]
    by_series = itertools.groupby(
        sorted(found, key=lambda release: str(release.path.parent)), key=lambda release: release.path.parent
    )
    series = [
        PublishedSeries(_series_name(folder, rows := sorted(group, key=lambda one: one.name)), rows)
        for folder, group in by_series
    ]
    names = [one.name for one in series]
    return _in_chains(
        one if names.count(one.name) == 1 else PublishedSeries(str(one.releases[0].path.parent), one.releases)
        for one in series
    )


def _in_chains(series: Iterable[PublishedSeries]) -> list[PublishedSeries]:
    """The series with those that they go on from, which come first.

    Raises
    ------
    PublishedFolderError
        If one is missing: people who were published there keep its promise, which nothing else states.
    """
    placed: list[PublishedSeries] = []
    waiting = list(series)
    while waiting:
        known = {one.releases[0].series: one for one in placed}
        ready = [one for one in waiting if (former := _superseded(one)) is None or former in known]
        if not ready:
            product, name = _superseded(waiting[0]) or waiting[0].releases[0].series
            folder = waiting[0].releases[0].path.parent
            raise PublishedFolderError(
                f"{folder}: goes on from series {name} of {product}, and people who were published there keep"
                f" what {name} promised. Audit both together: name the folder of {product}/{name} too, and"
                " have its true tables in the folder of the truth"
            )
        placed += [replace(one, before=known.get(_superseded(one) or (None, None))) for one in ready]
        waiting = [one for one in waiting if one not in ready]
    return placed


def _superseded(series: PublishedSeries) -> tuple[Any, str] | None:
    """Product and name of the series that this one says it goes on from."""
    name = (series.releases[0].manifest or {}).get("supersedes")
    return (series.releases[0].series[0], name) if isinstance(name, str) else None


def format_of(release: ReleaseFiles, contract: Product, foreign: Foreign | None) -> Format:
    """How a release is published: as its manifest states, else as the contract's principle does.

    Another tool's files are read as generalizations.

    Raises
    ------
    PublishedFolderError
        If the manifest names a format that there is none of, or that is for contracts of another shape.
    """
    own = principle_of(contract).format(contract)
    if release.path.is_file() or foreign is not None:
        return ELSEWHERE
    stated = (release.manifest or {}).get("format")
    if stated is None:
        return own
    if not isinstance(stated, str) or stated not in FORMATS:
        accepted = ", ".join(FORMATS)
        raise PublishedFolderError(
            f"{release.path / MANIFEST}: format {stated} is unknown; known: {accepted}"
        )
    if FORMATS[stated].attack != own.attack:
        raise PublishedFolderError(
            f"{release.path / MANIFEST}: format {stated} is not what a contract under"
            f" {contract.principle.name} describes: give the release's own contract"
        )
    return FORMATS[stated]


def read_release(
    release: ReleaseFiles,
    release_format: Format,
    contract: Product,
    foreign: Foreign | None,
    reading: Reading,
) -> dict[str, pl.DataFrame]:
    """The published tables of a release, in file order.

    Raises
    ------
    PublishedFolderError
        If a table is missing, unreadable or lacks a column.
    """
    if release.path.is_file():
        rows = _read_table(release.path, foreign.mapping if foreign else PLAIN)
        reading.note(release.path, len(rows))
        assert foreign is not None and isinstance(contract, Contract)  # noqa: PT018 - a mapping was loaded
        reading.note_columns(rows, foreign.mapping.columns())
        converted, reading.cells[release.path] = convert(rows, foreign, contract, str(release.path))
        return _by_own_names(converted, contract, reading)
    expected = release_format.columns(contract)
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in expected}
    for file in release.files:
        read = parts.get(table_of(release.name_of(file)) or "")
        if read is not None:
            read.append(_read_table(file))
        reading.note(file, None if read is None else len(read[-1]))
    tables = {}
    for name, columns in expected.items():
        first = next(iter(table_files(release.path, name)), release.path / f"{name}{SUFFIX}")
        if not parts[name]:
            raise PublishedFolderError(f"{first}: is missing")
        if len(parts[name]) > 1 and first.stem == name:
            raise PublishedFolderError(f"{first}: is there beside parts of the same table")
        tables[name] = undated(pl.concat(parts.pop(name)), release.name)
        if missing := [column.name for column in columns if column.name not in tables[name].columns]:
            raise PublishedFolderError(f"{first}: has no column {missing[0]}, which the contract asks for")
        reading.note_columns(tables[name], [column.name for column in columns])
        tables[name] = _typed(tables[name], columns, str(first))
        _refuse_spellings(tables[name], contract, str(first))
    return _by_own_names(tables, contract, reading)


def _refuse_spellings(table: pl.DataFrame, contract: Product, where: str) -> None:
    """Raise PublishedFolderError if a value is spelt in two ways, which could mark counterfeits."""
    for _, one in contract.sensitive_columns():
        if one.name in table.columns and twins(entries(table, one.name)):
            raise PublishedFolderError(
                f"{where}: column {one.name} has a value in two spellings (spaces, capital letters or signs"
                " that nobody sees), which could mark rows. republish publishes one spelling of each value"
            )


def _by_own_names(
    tables: dict[str, pl.DataFrame], contract: Product, reading: Reading
) -> dict[str, pl.DataFrame]:
    """The tables with one name and one spelling for each value, as the truth has it."""
    for _, one in contract.sensitive_columns():
        tables = {name: _one_spelling(table, one.name, one, reading) for name, table in tables.items()}
    return tables


def _one_spelling(table: pl.DataFrame, column: str, sensitive: Sensitive, reading: Reading) -> pl.DataFrame:
    """A table with each value as the contract lists it, else as it was spelled where it was read first."""
    if table.schema.get(column) != pl.String:
        return table
    own = table.select(by_own_names(exactly(column), sensitive.renamed).alias("value"))
    there = own["value"].unique().drop_nulls().sort()
    spellings = reading.spellings.setdefault(sensitive.name, {})
    listed = [value for value in sensitive.values or sensitive.not_sensitive if isinstance(value, str)]
    known = pl.DataFrame({"value": [*listed, *there]}, {"value": pl.String})
    for form, value in known.select(value_form(pl.col("value")).alias("form"), "value").iter_rows():
        # A spelling that no true table may have, with a space at its end say, names no value.
        spellings.setdefault(form, value if value in listed or is_plainly_spelt(value) else form)
    forms = there.to_frame().select("value", form=value_form(pl.col("value")))
    spelt = forms["form"].replace_strict(spellings, return_dtype=pl.String)
    one = pl.col("value").replace_strict(there, spelt, default=None, return_dtype=pl.String)
    return table.with_columns(own.select(one.alias(column)))


def _typed(table: pl.DataFrame, columns: Sequence[PublishedColumn], where: str) -> pl.DataFrame:
    """The table with each of the format's columns in its type, and nested columns of its own as text.

    Raises
    ------
    PublishedFolderError
        Naming the first column that is of another type.
    """
    typed = []
    for column in columns:
        dtype = table.schema[column.name]
        accepted = [kind for kind in column.dtype.split(" or ") if _is_like(dtype, kind)]
        if not accepted:
            raise PublishedFolderError(
                f"{where}: column {column.name} is {dtype.base_type()}, and must be {column.dtype}"
            )
        typed.append(exactly(column.name).cast(getattr(pl, accepted[0]), strict=False))
        if column.ours == "count" and (table[column.name].cast(pl.Int128, strict=False).abs() > 2**53).any():
            raise PublishedFolderError(f"{where}: column {column.name} has counts beyond 2^53")
    known = {column.name for column in columns}
    nested = [name for name, dtype in table.schema.items() if name not in known and dtype.is_nested()]
    as_text = [pl.Series(name, [str(entry) for entry in table[name].to_list()]) for name in nested]
    return table.with_columns(*typed, *as_text)


def _is_like(dtype: pl.DataType, kind: str) -> bool:
    """Whether a column's type can stand for one of the four that are published."""
    return {
        "Int64": dtype.is_integer(),
        "Float64": dtype.is_numeric(),
        "String": isinstance(dtype, pl.String | pl.Categorical | pl.Enum),
        "Date": dtype == pl.Date,
    }[kind]


def read_truth(
    folder: Path | ContractFile,
    release: str,
    contract: Product,
    reading: Reading,
    those_in: Callable[[pl.DataFrame], pl.DataFrame] = lambda people: people,
    known: Crosswalk | None = None,
) -> pl.DataFrame:
    """The snapshot behind a release: `<release>.parquet` or `.csv`, or the name that the source has.

    Of a contract's file in place of a folder, it is the snapshot that the contract's source has, with
    `those_in` of it who were to be in the release. People of a folder are `known` by their first identifiers.

    Returns
    -------
    polars.DataFrame
        `person` (the identifier, with the row's name where people have several), `identifier`, `qi_0`, …,
        `value` (of a view `column_0`, …), in the file's row order. People whom the contract leaves out,
        because a value of theirs is missing, are not in it: everybody who knows the contract, and what is
        missing, knows that they are in no group.

    Raises
    ------
    SnapshotError
        If it is missing, unreadable, or not what the contract says.
    """
    if isinstance(folder, ContractFile):
        return _from_source(folder, release, contract, reading, those_in)
    source = contract.source_of(release)
    named = (folder / name for name in names_of_truth(release, contract))
    file = next((path for path in named if path.is_file()), None)
    if file is None:
        raise SnapshotError(
            f"{folder}: has no {release}.parquet and no {release}.csv, the truth of {release}"
        )
    if not isinstance(source, FileSource):
        source = FileSource(path="{release}.csv", decimal=".")
    snapshot, present = read_as_declared(file, contract, source, str(file))
    snapshot = under_first_identifiers(snapshot, known, contract.identifier, str(file))
    snapshot = _without_faults(snapshot, present, str(file), contract, reading)
    people = _true_people(snapshot, release, contract, reading)
    reading.note(file, people.height)
    return people


def names_of_truth(release: str, contract: Product) -> list[str]:
    """The names that the file of a release's true table may have."""
    source = contract.source_of(release)
    own = [Path(source.at(release)).name] if isinstance(source, FileSource) else []
    return [f"{release}.parquet", f"{release}.csv", *own]


def _from_source(
    file: ContractFile,
    release: str,
    contract: Product,
    reading: Reading,
    those_in: Callable[[pl.DataFrame], pl.DataFrame],
) -> pl.DataFrame:
    """The snapshot that the contract's source has now."""
    source = source_of(file, release, is_published=True)
    try:
        pieces = source.pieces()
        table = pieces.whole(source.where)
    except SnapshotError as error:
        raise SnapshotError(f"{error}. Or name the folder of the true tables by --truth") from None
    snapshot = _without_faults(table, pieces.present, source.where, contract, reading)
    people = _true_people(those_in(snapshot), release, contract, reading)
    if Path(source.place).is_file():
        reading.note(Path(source.place), people.height)
    return people


def _without_faults(
    snapshot: pl.DataFrame, present: Sequence[str], where: str, contract: Product, reading: Reading
) -> pl.DataFrame:
    snapshot = enter(snapshot, contract)
    for column, one in contract.sensitive_columns():
        snapshot = _one_spelling(snapshot, column, one, reading)
    if faults := describe_faults(snapshot, contract, present):
        raise SnapshotError(f"{where}: " + "; ".join(faults))
    return conform(snapshot, contract)


def _true_people(snapshot: pl.DataFrame, release: str, contract: Product, reading: Reading) -> pl.DataFrame:
    settled = settle_missing(snapshot, contract)
    reading.left_out[release] = counted_by_column(settled.left_out)
    people = with_row_names(combine(settled.people, contract), contract)
    return people.with_columns(person=named_by_row(people, contract))


def as_truth(kept: pl.DataFrame, contract: Product, reading: Reading) -> pl.DataFrame:
    """The truth as `read_truth` returns it, of a snapshot that was kept under our own column names."""
    people = separate(kept, contract)
    for column, one in contract.sensitive_columns():
        people = _one_spelling(people, column, one, reading)
    return combine(people, contract).with_columns(person=named_by_row(kept, contract))


def read_linkage(
    folder: Path, series: str, release: str, contract: Product, reading: Reading
) -> pl.DataFrame:
    """The private linkage of a release: `person`, `group_id` of everybody in it.

    Looked for in `<folder>/<release>/`, and in `<series>/<release>/` anywhere in the folder.

    Raises
    ------
    SnapshotError
        If there is none, or more than one.
    """
    place = _linked_folder(folder, series, release, reading)
    files = sorted(place.glob("shard-*/linkage.parquet")) or [place / "linkage.parquet"]
    return pl.concat(_linkage(file, contract, reading) for file in files)


def shard_linkages(
    folder: Path, series: str, release: str, contract: Product, reading: Reading
) -> list[pl.DataFrame]:
    """Each shard's linkage of a release, looked for as `read_linkage` does.

    Raises
    ------
    SnapshotError
        If there are none, or not those of the contract's shards.
    """
    place = _linked_folder(folder, series, release, reading)
    found = {file.parent.name for file in place.glob("shard-*/linkage.parquet")}
    wanted = [shard_name(number) for number in range(contract.shards)]
    odd = [name for name in wanted if name not in found] or sorted(found.difference(wanted))
    if odd:
        is_missing = odd[0] in wanted
        raise SnapshotError(
            f"{place}: {'has no linkage.parquet of' if is_missing else 'has'} {odd[0]}, and the contract"
            f" divides people into {contract.shards} shards ({wanted[0]} to {wanted[-1]}). Give the whole"
            " private folder of this series and its contract; without --private the whole table is attacked"
        )
    return [_linkage(place / name / "linkage.parquet", contract, reading) for name in wanted]


def _linked_folder(folder: Path, series: str, release: str, reading: Reading) -> Path:
    """Where the linkage of a release is, or the folders of its shards."""
    tail = Path(series).name
    # Another series' linkage would be worse than none.
    places = [
        place
        for place in reading.linked_in(folder)
        if place.name == release and (place.parent.name == tail or place.parent == folder)
    ]
    if len(places) > 1 and (product := Path(series).parent.name):
        places = [place for place in places if place.parents[1].name == product]
    if len(places) != 1:
        raise SnapshotError(
            f"{folder}: has {len(places) or 'no'} linkage.parquet of release {release} of series {tail}"
        )
    return places[0]


def _linkage(file: Path, contract: Product, reading: Reading) -> pl.DataFrame:
    """`person`, `group_id` of one file of a linkage."""
    linkage = _read_table(file)
    names = names_in_linkage(contract)
    if missing := {*names.values(), "group_id"} - set(linkage.columns):
        raise SnapshotError(f"{file}: has no column {min(missing)}")
    reading.note(file, len(linkage))
    own = pl.DataFrame([entries(linkage, name).cast(pl.String).alias(ours) for ours, name in names.items()])
    return pl.DataFrame([named_by_row(own, contract).alias("person"), linkage["group_id"].cast(pl.Int64)])


def metadata_finding(
    release: ReleaseFiles, release_format: Format, contract: Product, differ: Mapping[str, bool]
) -> tuple[pl.DataFrame, bool]:
    """Whether files carry more than the tables, and whether each byte of the tables was compared.

    Hidden bytes and metadata in Parquet, other texts, times, tables of other formats, stray files.

    Parameters
    ----------
    release, release_format, contract
        What is published, how, and the columns behind it.
    differ
        For each text that was made again, whether the published one is another.
    """
    tables = release_format.columns(contract)
    documents = {MANIFEST, *(f"{name}.json" for name in release_format.documents)}
    suspicious, is_compared = [name for name, other in differ.items() if other], True
    for file in release.files:
        name = release.name_of(file)
        table = table_of(name)
        if name in documents:
            more: object = re.search(r"\d{2}:\d{2}:\d{2}", file.read_text(errors="replace"))
        elif file.suffix == SUFFIX and (release.manifest is None or table not in tables):
            more = hidden_in_foreign(file) or (release.path.is_dir() and table not in tables)
        elif table is not None:
            more, is_whole = hidden_in_our(file)
            more = more or not _in_order(file, [column.name for column in tables[table]])
            is_compared &= is_whole
        else:
            more = name not in differ and file.suffix != ".csv"
        if more:
            suspicious.append(name)
    return METADATA.finding(Count(len(release.files), len(set(suspicious)))), is_compared


def _in_order(file: Path, columns: list[str]) -> bool:
    """Whether a table has its columns in the format's order, which could say something itself."""
    return [name for name in pq.read_schema(file).names if name in columns] == columns


def _releases(path: Path, foreign: Foreign | None) -> Iterable[ReleaseFiles]:
    if not path.exists():
        raise PublishedFolderError(f"{path}: there is no such file or folder")
    path = path.absolute()
    if path.is_file():
        return [_foreign(path, foreign)]
    if _is_release(path):
        return [_own(path)]
    own = [_own(folder) for folder in sorted(path.iterdir()) if folder.is_dir() and _is_release(folder)]
    if own:
        return own
    deeper = [folder for folder in sorted(path.iterdir()) if folder.is_dir() and _is_series(folder)]
    if deeper:
        return [release for folder in deeper for release in _releases(folder, foreign)]
    files = files_of_tables(path)
    if not files:
        raise PublishedFolderError(
            f"{path}: is neither a release (microdata.parquet, quasi_identifiers.parquet and"
            " sensitive.parquet, or view.parquet), nor a series of such folders, nor a folder of .csv or"
            " .parquet files"
        )
    return [_foreign(file, foreign) for file in files]


def _foreign(path: Path, foreign: Foreign | None) -> ReleaseFiles:
    if foreign is None:
        raise PublishedFolderError(f"{path}: was not made by republish; say what its columns are (--mapping)")
    if path.suffix not in ENDINGS:
        raise PublishedFolderError(f"{path}: must be a .csv or .parquet file")
    return ReleaseFiles(path.stem, path)


def _own(path: Path) -> ReleaseFiles:
    manifest = verify_tables(path) if (path / MANIFEST).exists() else None
    return ReleaseFiles(path.name, path, manifest)


def _is_series(folder: Path) -> bool:
    return any(_is_release(release) for release in folder.iterdir() if release.is_dir())


def _is_release(folder: Path) -> bool:
    return is_release(folder) or any(table_files(folder, table) for table in MAIN_TABLES)


def _series_name(folder: Path, releases: list[ReleaseFiles]) -> str:
    stated = releases[0].series
    return "/".join(stated) if all(isinstance(part, str) for part in stated) else folder.name


def _read_table(file: Path, written: Dialect = PLAIN) -> pl.DataFrame:
    try:
        table, _ = read_file(file, str(file), separator=written.separator, encoding=written.encoding)
    except SnapshotError as error:
        raise PublishedFolderError(str(error)) from None
    return table
