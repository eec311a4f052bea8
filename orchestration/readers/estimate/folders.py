"""What folders of releases or of copies say beside tables: columns, labels, how many are held back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from republish.anonymize.columns import exactly
from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.errors import PublishedFolderError
from republish.anonymize.formats import TAXONOMY_CUTS
from republish.orchestration.limits import check
from republish.orchestration.readers.datapackage.words import CELLS, GRID, OF_ROWS, sensitive_columns
from republish.orchestration.readers.estimate.names import column_names
from republish.orchestration.readers.estimate.published import refuse_view
from republish.orchestration.storage.manifest import DATA_PACKAGE, releases_in, verify_tables
from republish.orchestration.storage.parts import scan_parts, table_files
from republish.orchestration.storage.store import read_json
from republish.orchestration.unforeseen import named

BESIDE = "copies.json"
"""The file beside copies that says the same of their releases."""


@dataclass(frozen=True)
class Described:
    """What a release says of its columns beside its tables."""

    release: str
    columns: Sequence[str]
    """The names that they have in its copies."""
    labels: Mapping[str, Sequence[str]]
    """The labels or values that a column of text may have."""
    cells: Mapping[str, str]
    """Where cells are, by the column."""
    held_back: int
    """How many people of the table are in no copy."""
    of_rows: bool
    """Whether people may have several rows."""
    types: Mapping[str, str] = field(default_factory=dict)
    """The types in polars of all columns of a copy, once there is one."""

    @classmethod
    def of(cls, folder: Path) -> Described:
        """What a published release says.

        Raises
        ------
        PublishedFolderError
            If the folder is not what its manifest says, or its package is none of republish's.
        QueryError
            If it is a view.
        """
        package = package_of(folder)
        if package["republish"].get("format") == TAXONOMY_CUTS.name:
            refuse_view(folder)
        stated = verify_tables(folder)
        try:
            own = package["republish"]
            check(folder / DATA_PACKAGE, "columns", len(own["attributes"]))
            for one in own["attributes"]:
                check(folder / DATA_PACKAGE, "labels", len(one.get("labels", ())))
            names = column_names(package)
            attributes, sensitive = own["attributes"], sensitive_columns(own)
            labels, cells = dict[str, list[str]](), dict[str, str]()
            for name, one in zip(names, (*attributes, *sensitive), strict=True):
                values = () if one.get("bins") else one.get("labels") or one.get("values") or ()
                if not values and one in sensitive and not one.get("bins"):
                    values = _published_values(folder, one["name"])
                if values and all(isinstance(value, str) for value in values):
                    labels[name] = sorted({*values, *([MISSING] if one.get("missing") == "publish" else ())})
                if one.get("ends") == GRID and "domain" in one:
                    days = " days" if one["kind"] == "date" else ""
                    cells[name] = f"{one['min_width']:,g}{days} from {one['domain'][0]} on"
                elif one.get("ends") == GRID:
                    cells[name] = f"{one['min_width']:,} labels in their order"
                elif one.get("ends") == CELLS:
                    least = f"{one['min_width']:,} labels or more"
                    cells[name] = f"{least}, which end where groups of its hierarchy do"
        except (AttributeError, LookupError, TypeError, ValueError):
            raise PublishedFolderError(f"{folder / DATA_PACKAGE}: is not a package of republish's") from None
        held = int(stated.get("held_back") or 0)
        return cls(stated["release"], names, labels, cells, held, bool(own.get("rows")))

    @classmethod
    def of_copy(cls, release: str, copy: pl.DataFrame) -> Described:
        """What a copy says by itself."""
        return cls(release, copy.columns[2:], {}, {}, 0, of_rows=False)


def described(published: Path) -> list[Described]:
    """What each release of a published folder says; raises as `Described.of` does."""
    found = []
    for folder in releases_in(published):
        with named(folder):
            found.append(Described.of(folder))
    return found


def beside_copies(described: Sequence[Described], types: Mapping[str, pl.Schema]) -> dict[str, Any]:
    """The content of the file beside copies of releases; `types` are those of their columns, by release."""
    known = ((one, {name: str(kind) for name, kind in types[one.release].items()}) for one in described)
    return {"releases": [asdict(replace(one, types=kinds)) for one, kinds in known]}


def described_beside(folder: Path) -> dict[str, Described]:
    """What the file beside copies says, by release; nothing without one, or if it is none of republish's."""
    try:
        found = [Described(**one) for one in (read_json(folder / BESIDE) or {})["releases"]]
    except (LookupError, TypeError):
        return {}
    return {one.release: one for one in found}


def held_back(described: Sequence[Described]) -> dict[str, int]:
    """How many people each release holds back: they are in none of its tables, and in no count."""
    return {one.release: one.held_back for one in described}


def remarks(described: Sequence[Described], asked: set[str], finds_missing: set[str]) -> list[str]:
    """Sentences on answers: that they count rows, who is found, and where cells of the columns begin.

    `asked` are the columns that a question mentions, and `finds_missing` those whose missing labels it finds.
    """
    *_, last = described
    said = [OF_ROWS] if any(one.of_rows for one in described) else []
    said += [
        f"Where {name} is missing, its label is {MISSING}: <> and NOT find it, and IS NULL does not. Add"
        f" AND {name} <> '{MISSING}' to leave these people out."
        for name in sorted(finds_missing)
        if MISSING in last.labels.get(name, ())
    ]
    return said + [
        f"{name} is known in cells of {cells}: errors are smaller where a condition divides none."
        for name, cells in last.cells.items()
        if name in asked
    ]


def _published_values(folder: Path, name: str) -> list[Any]:
    """The values of a sensitive column in a release's tables."""
    files = table_files(folder, "sensitive") or table_files(folder, "microdata")
    try:
        found = scan_parts(files).select(exactly(name).drop_nulls().unique()).collect()
    except pl.exceptions.PolarsError:
        raise PublishedFolderError(f"{files[0]}: is no Parquet file that can be read") from None
    return found.to_series().to_list()


def package_of(folder: Path) -> Mapping[str, Any]:
    """A release's `datapackage.json`; PublishedFolderError if it has none of ours."""
    package = read_json(folder / DATA_PACKAGE)
    if package is None or not isinstance(package.get("republish"), Mapping):
        raise PublishedFolderError(
            f"{folder}: has no {DATA_PACKAGE}, which says what domains and labels there are: it was published"
            " by an older version. Take a later release of the series"
        )
    return package
