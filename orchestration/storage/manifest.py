"""The manifest of a published release, and the chain that manifests form."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from republish.anonymize.errors import PublishedFolderError
from republish.anonymize.formats import FORMATS
from republish.anonymize.principles import PRINCIPLES
from republish.orchestration.limits import Footer, check, check_parquet
from republish.orchestration.storage.parts import (
    SUFFIX,
    files_in,
    footers,
    name_in,
    part_name,
    scan_parts,
    table_of,
    tables_in,
)
from republish.orchestration.storage.store import SUMS, read_columns, read_json, sha256

MANIFEST = "manifest.json"
DATA_PACKAGE = "datapackage.json"
"""A description of the folder that other tools read."""
OLDER_ESTIMATE = "estimate.sql"
"""Statements for DuckDB in releases of versions before 0.29. Nothing of ours runs them."""
COUNTED = ("tuples", "groups", "counterfeits", "held_back")
"""The counts that every manifest states."""
BESIDE = ("beside_counterfeits", "fewest_people")
"""Keys of a manifest where there are counterfeits."""
TABLES = ("microdata", "quasi_identifiers", "sensitive", "counterfeits", "view")
"""The tables of all formats."""
DOCUMENTS = {
    *(f"{document}.json" for one in FORMATS.values() for document in one.documents),
    *(DATA_PACKAGE, "README.md", OLDER_ESTIMATE),
}
"""Files of a manifest beside tables. A table that is none of the above could be the truth itself."""
MOST = 2**53
"""No count is larger: from here on, not every whole number is one of its own in JSON."""
NAMED = "[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"

# No text of a manifest is a place for a sentence, and no count for a text that a large number spells.
Name = Annotated[str, Field(pattern=f"^{NAMED}$")]
Date = Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Version = Annotated[str, Field(pattern="^[0-9][0-9A-Za-z.+-]{0,40}$")]
Count = Annotated[int, Field(strict=True, ge=-MOST, le=MOST)]


class StatedFile(BaseModel, extra="forbid", frozen=True):
    """What a manifest states of a file; a document has no rows."""

    sha256: Digest
    rows: Annotated[Count, Field(ge=0)] | None = None


class OtherCounts(BaseModel, extra="forbid", frozen=True):
    """Counts of another series under `together_with`, in manifests of versions below 0.20."""

    people: Count | None = None
    below: Count | None = None


class Manifest(BaseModel, extra="allow", frozen=True):
    """What a published release states of itself. Figures that its principle states come beside these keys."""

    __pydantic_extra__: dict[str, Count] = Field(init=False)
    product: Name
    series: Name
    release: Date
    n: Count
    format: Name
    """The name of the release format."""
    principle: dict[str, Any]
    """The principle's name and its parameters."""
    tuples: Count
    groups: Count
    counterfeits: Count
    held_back: Count
    exposed: Count = 0
    """People of whom an adversary who knows the algorithm may learn more, because of counterfeits that made
    a batch eligible."""
    deferred: Count = 0
    """People of the table who were ever held back while others who were new were published: they are known to
    have a frequent value."""
    beside_counterfeits: Count = 0
    """People in groups that have a counterfeit."""
    fewest_people: Count = 0
    """The fewest people in any group; stated where there are counterfeits."""
    lone_ends: Count | None = None
    """Ends of intervals that are one person's own value, by the attack (`EndFigures`); None without
    intervals, and in releases of versions below 0.5, whose ends are people's values even with `min_width`."""
    together_with: dict[Annotated[str, Field(pattern=f"^({NAMED}/)?{NAMED}$")], OtherCounts] = {}
    """What was counted with other series, in manifests of versions below 0.20."""
    supersedes: Name | None = None
    """The series that this one goes on from, whose signatures and promises people kept."""
    not_sensitive: list[Any] = []
    """The values that may be known of a person."""
    left_out: dict[str, Count] = {}
    """People of the table who are left out because a value of theirs is missing, by its column."""
    time_zone: Literal["UTC"] | None = None
    """The time zone in which a database was asked for the people; None if they are from files."""
    files: dict[str, StatedFile] = {}
    contract_sha256: Digest
    software_version: Version | None = None
    previous: Digest | None
    """SHA-256 (hex) of the manifest of the release before."""

    def as_json(self) -> dict[str, Any]:
        """Itself as the content of `manifest.json`: what is not stated is left out."""
        stated = self.model_dump(mode="json", exclude_defaults=True)
        keys = [*type(self).model_fields]
        at = keys.index("exposed")
        return {
            key: stated[key] for key in (*keys[:at], *(self.model_extra or ()), *keys[at:]) if key in stated
        }


def columns_in(folder: Path) -> set[str]:
    """The columns that a published release says something of, under their names in its contract.

    Its data package lists them. A release of a version that wrote none may have published any column of its
    files as it is, or a quasi-identifier by its ends.
    """
    said = (read_json(folder / DATA_PACKAGE) or {}).get("republish") or {}
    if (attributes := said.get("attributes")) is not None:
        sensitive = said.get("sensitive") or []
        several = sensitive if isinstance(sensitive, list) else [sensitive]
        return {one["name"] for one in (*attributes, *several)}
    names = {name for file, *_ in tables_in(folder).values() for name in read_columns(file)}
    stems = {name.removesuffix("_low") for name in names if name.endswith("_low")}
    return names | {stem for stem in stems if f"{stem}_high" in names}


def manifest(described: Manifest, folder: Path) -> dict[str, Any]:
    """The manifest of the files in a folder. It holds no time of day: the same release, the same bytes.

    `described` is what it states beside its files.
    """
    files = {name_in(folder, file): _stated(file) for file in files_in(folder)}
    return described.model_copy(update={"files": files, "software_version": version("republish")}).as_json()


def sums(folder: Path, stated: Mapping[str, Any]) -> str:
    """The text of `SHA256SUMS`: what `sha256sum -c` checks the manifest by, and all files that it states."""
    digests = {name: file["sha256"] for name, file in stated["files"].items()}
    digests[MANIFEST] = sha256(folder / MANIFEST)
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))


def _stated(file: Path) -> StatedFile:
    return StatedFile(sha256=sha256(file), rows=_rows(file) if file.suffix == SUFFIX else None)


def _rows(file: Path) -> int:
    return int(scan_parts([file]).select(pl.len()).collect().item())


def verify_release(folder: Path, known: Mapping[Path, Footer] | None = None) -> dict[str, Any]:
    """Check that a published folder is what its manifest says; returns the manifest.

    `known` are the footers of its tables, if they were read already.

    Raises
    ------
    PublishedFolderError
        Naming the first file that is missing, changed or not in the manifest.
    """
    file = folder / MANIFEST
    stated = read_json(file) if file.is_file() and not file.is_symlink() else None
    if stated is None or not {"release", "n", "previous", "files"} <= stated.keys():
        raise PublishedFolderError(f"{folder}: has no {MANIFEST} that can be read")
    if (wrong := _more_than_a_manifest(stated)) is not None:
        raise PublishedFolderError(f"{folder / MANIFEST}: {wrong}")
    known = footers(_tables_itself(folder)) if known is None else known
    for name, one in stated["files"].items():
        # A name is a file of this folder: with a path, or a link, a manifest could have any file read.
        for place in ((folder / name).parent, folder / name):
            if place != folder and place.is_symlink():
                raise PublishedFolderError(f"{place}: is a link, and must lie in the folder itself")
        if not (folder / name).is_file():
            raise PublishedFolderError(f"{folder / name}: is in the manifest and missing")
        unit = "megabytes" if name.endswith(SUFFIX) else "text"
        check(folder / name, unit, (folder / name).stat().st_size)
        if (footer := known.get(folder / name)) is not None:
            check_parquet([footer], folder / name)
        if sha256(folder / name) != one["sha256"]:
            raise PublishedFolderError(f"{folder / name}: was changed after publication (other SHA-256)")
    if strangers := {name_in(folder, file) for file in files_in(folder)} - {*stated["files"], MANIFEST, SUMS}:
        raise PublishedFolderError(f"{folder / min(strangers)}: is not in the manifest")
    _verify_parts(folder, stated["files"])
    _verify_sums(folder, stated)
    return stated


def verify_tables(folder: Path) -> dict[str, Any]:
    """Verify a release whose tables are read whole: those in several parts have the limits of one table.

    Raises LimitError if a table is too large.
    """
    stated = verify_release(folder)
    for table, files in tables_in(folder).items():
        if len(files) > 1:  # a single file was checked with the release
            check_parquet([*footers(files).values()], folder / table)
    return stated


def _verify_parts(folder: Path, stated: Mapping[str, Mapping[str, Any]]) -> None:
    """The parts of a table have one kind of columns, and the rows that the manifest states."""
    first: dict[str, pl.Schema] = {}
    for name in sorted(name for name in stated if "/" in name):
        file = folder / name
        try:
            schema, rows = scan_parts([file]).collect_schema(), _rows(file)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            raise PublishedFolderError(f"{file}: is no Parquet file that can be read") from None
        if [*schema.items()] != [*first.setdefault(file.parent.name, schema).items()]:
            raise PublishedFolderError(f"{file}: has other columns than the first part of its table")
        if rows != stated[name]["rows"]:
            raise PublishedFolderError(f"{file}: has {rows:,} rows, and its manifest states another number")


def _verify_sums(folder: Path, stated: Mapping[str, Any]) -> None:
    """`SHA256SUMS` says what the manifest and the files say; releases older than it have none."""
    file = folder / SUMS
    if not file.is_file() and DATA_PACKAGE in stated["files"]:
        raise PublishedFolderError(f"{file}: is missing")
    if not file.is_file() or (found := file.read_bytes()) == (true := sums(folder, stated).encode()):
        return
    differ = set(found.splitlines()) ^ set(true.splitlines())
    changed = MANIFEST if all(line.endswith(MANIFEST.encode()) for line in differ) else SUMS
    raise PublishedFolderError(
        f"{folder / changed}: was changed after publication ({MANIFEST} and {SUMS} do not agree). Put it back"
        " from a copy"
    )


def _more_than_a_manifest(stated: Mapping[str, Any]) -> str | None:
    """A sentence on an entry that no manifest has and that could be about people; None if there is none."""
    principle = stated.get("principle", {})
    known = PRINCIPLES.get(str(principle.get("name"))) if isinstance(principle, dict) else None
    if known is None:
        return "its principle is none that this version knows"
    if more := stated.keys() - {*Manifest.model_fields, *known.stated, *known.stated_before}:
        return f"has a key {min(more)}, which no manifest has"
    if not principle.keys() <= {*known.parameters.model_fields, *known.stated_before}:
        return "states parameters that its principle does not have"
    try:
        files = Manifest.model_validate(stated).files
    except ValidationError as error:
        return _odd_entry(error.errors()[0])
    return next(filter(None, map(_odd_file, files, files.values())), None) or _not_in_parts(files)


def _odd_entry(error: ErrorDetails) -> str:
    """A sentence on an entry that is not of its key's kind."""
    key, *within = error["loc"]
    if key == "files" and within:
        return _ODD_FILE.format(within[0])
    if key == "release":
        return "its release is no date"
    if error["type"] == "missing":
        return f"has no {key}"
    is_counted = key in ("left_out", "together_with") or error["type"].startswith(("int", "less", "greater"))
    return f"its {key} is no count" if is_counted else f"its {key} is none"


def _odd_file(name: str, stated: StatedFile) -> str | None:
    """A sentence on a file that no release has, or of which too much is stated; None if it is none."""
    is_table = table_of(name) in TABLES
    if not is_table and name not in DOCUMENTS:
        return f"names a file {name}, which no release has"
    return None if is_table == (stated.rows is not None) else _ODD_FILE.format(name)


_ODD_FILE = "must state sha256 of {}, and rows if it is a table, and nothing else"


def _not_in_parts(files: Mapping[str, StatedFile]) -> str | None:
    """A sentence on parts of tables that are named wrongly; None if none are."""
    for table in TABLES:
        names = sorted(name for name in files if table_of(name) == table)
        if names in ([], [f"{table}{SUFFIX}"]):
            continue
        if f"{table}{SUFFIX}" in names:
            return f"names both {table}{SUFFIX} and parts of it"
        if names != [f"{table}/{part_name(number)}" for number in range(len(names))]:
            return f"names {len(names)} parts of {table} that are not those from {part_name(0)} on"
        *rows, last = (files[name].rows or 0 for name in names)
        if rows and (len({*rows}) > 1 or not 0 < last <= rows[0]):
            return f"states parts of {table} of different sizes: only the last may have fewer rows"
    return None


def verify_series(folder: Path) -> list[dict[str, Any]]:
    """Check every release of a published series and the chain of their manifests; returns the manifests.

    Raises PublishedFolderError if a release is not what its manifest says, or the chain is broken: a release
    left out, replaced or put in another place. Or if the folder isn't that of a series.
    """
    releases = _releases_in(folder)
    known = footers([file for path in releases for file in _tables_itself(path)])
    manifests = [verify_release(path, known) for path in releases]
    before = None
    for number, (path, stated) in enumerate(zip(releases, manifests, strict=True), start=1):
        if stated["release"] != path.name:
            raise PublishedFolderError(f"{path}: its manifest is of release {stated['release']}")
        if stated["n"] != number or stated["previous"] != before:
            raise PublishedFolderError(
                f"{path}: does not follow the release before it; a release was left out or replaced"
            )
        before = sha256(path / MANIFEST)
    return manifests


def _tables_itself(folder: Path) -> list[Path]:
    """The tables that lie in a folder itself: what a link leads to is not read."""
    return [
        file
        for file in files_in(folder)
        if file.suffix == SUFFIX and file.is_file() and not file.is_symlink()
    ]


def releases_in(folder: Path) -> list[Path]:
    """The folder itself if it is a published release, else those of the series in it, in order.

    Raises PublishedFolderError if it is neither.
    """
    return [folder] if is_release(folder) else _releases_in(folder)


def release_folders(series: Path) -> list[Path]:
    """The releases in the published folder of a series, in order: they appear whole or not at all."""
    if not series.is_dir():
        return []
    return sorted(path for path in series.iterdir() if path.is_dir() and not path.name.startswith("."))


def is_release(folder: Path) -> bool:
    """Whether a folder is a published release, rather than a series of them."""
    return (folder / MANIFEST).exists()


def _releases_in(folder: Path) -> list[Path]:
    wanted = "give the folder of a release (…/hospital/v1/2024-01-01) or of a series (…/hospital/v1)"
    if not folder.is_dir():
        there = "is a file" if folder.is_file() else "is not there"
        raise PublishedFolderError(f"{folder}: {there}; {wanted}")
    releases = release_folders(folder)
    if any(map(is_release, releases)):
        return releases
    depths = ("*/*", "*/*/*", "*/*/*/*")
    below = sorted(found.parents[1] for depth in depths for found in folder.glob(f"{depth}/{MANIFEST}"))
    hint = f". Did you mean {below[0]}?" if below else ""
    raise PublishedFolderError(f"{folder}: is neither a release nor a series of releases; {wanted}{hint}")
