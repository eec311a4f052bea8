"""`republish estimate`: how many people meet a condition, from a published folder alone."""

from __future__ import annotations

import errno
import itertools
import os
import secrets
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
import polars as pl

from republish.anonymize.columns import exactly
from republish.anonymize.errors import LimitError, PublishedFolderError, QueryError, RepublishError
from republish.orchestration.limits import check
from republish.orchestration.readers.datapackage.words import GRID, OF_ROWS, sensitive_columns
from republish.orchestration.readers.estimate.condition import (
    Column,
    Condition,
    Part,
    checked_column,
    checked_condition,
    checked_part,
    columns_of,
)
from republish.orchestration.readers.estimate.statements import column_names, estimate_sql, quoted
from republish.orchestration.storage.manifest import DATA_PACKAGE, MANIFEST, releases_in, verify_tables
from republish.orchestration.storage.parts import pattern_of, scan_parts, table_files
from republish.orchestration.storage.store import read_json
from republish.orchestration.unforeseen import named

PLAIN = {
    "bigint": pl.Int64,
    "boolean": pl.Boolean,
    "date": pl.Date,
    "double": pl.Float64,
    "integer": pl.Int32,
    "varchar": pl.String,
}
"""DuckDB's types that polars has, too. A column of another type gets the type of its values."""
NUMBERS = {
    *(f"{sign}{size}int" for sign in ("", "u") for size in ("tiny", "small", "big", "huge")),
    *("integer", "uinteger", "decimal", "float", "double"),
}
"""DuckDB's types of numbers."""
Asked = tuple[str, dict[str, Column]]
"""The statements of a release, and the columns that can be asked for."""
MOST_PARTS = 5000
"""The most values, or combinations of values, that people are counted by."""
TOGETHER = 100_000
"""Releases of so many tuples in all are asked together: of small ones, the statements take the time."""
FIGURES = {
    "release",
    "people",
    "rows",
    "standard_error",
    "low",
    "high",
    "share",
    "share_error",
    "mean",
    "sum",
    "quantile",
    "before",
    "change",
}
"""The columns of an answer; those that people are counted by stand behind the release. The command prints
`people` as `rows` where a person may have several."""

Z = 1.96
"""So many standard errors on either side of an estimate have the truth between them in 95 of 100 cases."""


@dataclass(frozen=True)
class Measure:
    """`Measure("age")` is a mean, `Measure("age", 0.5)` the median, `Measure("cost", is_sum=True)` a sum."""

    column: str
    """The column that is measured."""
    place: float | None = None
    """The part of the people who have at most the quantile, between 0 and 1; None for the mean."""
    is_sum: bool = False

    @property
    def option(self) -> str:
        """The option that asks for it on the command line."""
        if self.is_sum:
            return "--sum"
        return "--mean" if self.place is None else "--quantile"


def estimate(
    published: str | Path,
    where: str = "true",
    by: str | Sequence[str] = (),
    measure: Measure | None = None,
    *,
    change: bool = False,
    everybody: bool = False,
    last: bool = False,
) -> pl.DataFrame:
    """Estimate how many people meet a condition, in one release or in each of a series.

    Parameters
    ----------
    where
        A condition on the published columns, in DuckDB's SQL.
    by
        Columns, or expressions of them: one row for each of their values, or of the combinations of these.
    measure
        What to estimate of these people in place of their number.
    change
        Estimate by how much their number changed from release to release, in place of it.
    everybody
        Count people who are held back, too, as if they were like the others. The interval reaches from the
        count with none of them to the count with all of them.
    last
        Read the last release of a series alone; of a change, the last two.

    Returns
    -------
    polars.DataFrame
        `release`, the columns of `by`, `people`, `standard_error`, `low`, `high` (made to have the truth
        between them in 95 of 100 cases), `share` (of everybody, or with `by` of all who meet the condition),
        `share_error`. Of a measure: `mean` or `sum` and `standard_error`, or `quantile`, then `low`, `high`
        and `people`. Of a change: `before` (the release before), `people`, `change`, and its
        `standard_error`, `low` and `high`. A column of `by` that is called like one of these gets a number:
        `share_1`. No row where nobody meets the condition.

    Raises
    ------
    PublishedFolderError
        If the folder is not what its manifest says, or has not what an estimate needs.
    QueryError
        If the condition or a column can't be asked for, there are more than `MOST_PARTS` combinations, a
        change is asked for of one release, or everybody of a release that holds people back by their value.
    """
    published, by = Path(published), [by] if isinstance(by, str) else by
    verified, found, values = {}, [], dict[str, set[str]]()
    with duckdb.connect() as connection:  # one for all releases: to make it takes longer than to ask
        for folder in releases_in(published)[-1 - change if last else 0 :]:
            with named(folder):
                verified[folder] = verify_tables(folder)
                for name, some in _values(connection, folder).items():
                    values.setdefault(name, set()).update(some)
    if change and len(verified) < 2:
        raise QueryError(f"{published}: a change needs two releases, and there is one; give the series")

    asked: dict[Path, Asked] = {}
    for folder in [*verified][1 if change else 0 :]:
        with named(folder):
            asked[folder] = statements_of(folder, values, held_back=everybody)

    def answer(folders: Sequence[Path]) -> pl.DataFrame:
        latest = folders[-1]
        with named(latest), fitting(latest):
            macro = "estimate_change(" if change else _of_everybody(latest) if everybody else "estimate("
            stated = {folder: verified[folder] for folder in folders}
            return _estimated(stated, asked[latest], where, by, measure, macro)

    for folders in itertools.pairwise(verified) if change else _alike(verified, asked, apart=everybody):
        try:
            found.append(answer(folders))
        except RepublishError:  # it is said of the release that it is about
            if change or len(folders) == 1:
                raise
            found += [answer([one]) for one in folders]
    return pl.concat(found, how="vertical_relaxed").sort("release", maintain_order=True)


def _alike(
    stated: Mapping[Path, Mapping[str, Any]], asked: Mapping[Path, Asked], *, apart: bool
) -> list[list[Path]]:
    """Releases that one run of the same statements estimates from, of `TOGETHER` tuples at most, or one.

    `stated` has their manifests, and `asked` their statements. They are each by itself if they are to be
    asked `apart`.
    """
    alike: list[list[Path]] = []
    room = 0
    for folder, one in stated.items():
        tuples = one.get("tuples", TOGETHER)
        if alike and not apart and asked[folder] == asked[alike[-1][-1]] and tuples <= room:
            alike[-1].append(folder)
            room -= tuples
        else:
            alike.append([folder])
            room = TOGETHER - tuples
    return alike


def _of_everybody(folder: Path) -> str:
    """The beginning of the call that counts people of a release who are held back, too."""
    own, stated = package_of(folder)["republish"], read_json(folder / MANIFEST) or {}
    held = own.get("held_back")
    if held is None and not stated.get("held_back"):
        return "estimate("
    if held is not None and not held["by_value"]:
        return "estimate_everybody("
    why = (
        "an older version published it, which did not say for what"
        if held is None
        else "they wait because of their value, and are not like the others"
    )
    raise QueryError(f"--everybody: {folder} holds people back, and {why}. Count those who are published")


def held_back(published: Path) -> dict[str, int]:
    """How many people each release holds back: they are in none of its tables, and in no count."""
    stated = [read_json(folder / MANIFEST) or {} for folder in releases_in(published)]
    return {one["release"]: one.get("held_back") or 0 for one in stated}


def counts_rows(published: Path) -> bool:
    """Whether people may have several rows: then whatever is counted counts rows."""
    return any(package_of(folder)["republish"].get("rows") for folder in releases_in(published))


def remarks(published: Path, where: str, by: Sequence[str], *, of_rows: bool) -> list[str]:
    """Sentences on answers: that they count rows, and where cells of the columns that they ask for begin.

    `where` is what `estimate` was asked, `by` are also columns that are measured, and `of_rows` is what
    `counts_rows` says.
    """
    *_, last = releases_in(published)
    package, said = package_of(last), [OF_ROWS] if of_rows else []
    columns = columns_of(package)
    condition = checked_condition(where, columns)
    said += [
        f"Where {name} is missing, its label is (missing), and the condition finds that, too. Add"
        f" AND {name} IS NOT MISSING to leave these people out."
        for name in sorted(condition.finds_missing)
    ]
    asked = condition.columns.union(*(checked_part(one, columns).columns for one in by))
    for name, one in zip(column_names(package), package["republish"]["attributes"], strict=False):
        if name in asked and one.get("ends") == GRID and "domain" in one:
            days = " days" if one["kind"] == "date" else ""
            said.append(
                f"{name} is known in cells of {one['min_width']:,g}{days} from {one['domain'][0]} on: errors"
                " are smaller where a condition divides none."
            )
    return said


def _values(connection: duckdb.DuckDBPyConnection, folder: Path) -> dict[str, set[str]]:
    """The sensitive values in a release by column, of text; none if its package does not say where."""
    found = {}
    try:
        names = [one["name"] for one in sensitive_columns(package_of(folder)["republish"])]
        files = table_files(folder, "sensitive") or table_files(folder, "microdata")
        schema = scan_parts([files[0]]).collect_schema()
        there = schema.names()
        for name in names:
            if schema[name] == pl.String:
                at = there.index(name)
                some = (_labels(connection, file, at, len(there)) for file in files)
                found[name] = set(itertools.chain.from_iterable(some))
    except (LookupError, TypeError, ValueError):
        return {}
    except pl.exceptions.PolarsError:
        raise PublishedFolderError(f"{files[0]}: is no Parquet file that can be read") from None
    return found


def _labels(connection: duckdb.DuckDBPyConnection, file: Path, position: int, columns: int) -> list[str]:
    """The labels in a column of text, found by its position: names may differ in case alone."""
    names = ", ".join(f"column_{number}" for number in range(columns))
    asked = f"SELECT DISTINCT column_{position} FROM read_parquet(?) AS all_columns({names})"  # noqa: S608 - numbers
    try:
        found = connection.execute(asked, [pattern_of(file)]).fetchall()
    except duckdb.Error:
        raise PublishedFolderError(f"{file}: is no Parquet file that can be read") from None
    return [value for (value,) in found if value is not None]


def statements_of(
    folder: Path, values: Mapping[str, Collection[str]] = MappingProxyType({}), *, held_back: bool = False
) -> Asked:
    """The statements that estimate from a release, and the columns that can be asked for.

    `values` are the sensitive ones of all releases that are asked, as `columns_of` takes them; `held_back`
    says whether people who are held back are to be counted.

    Raises
    ------
    PublishedFolderError
        If its package is none of republish's.
    QueryError
        If the release is a view.
    """
    package = package_of(folder)
    try:
        check(folder / DATA_PACKAGE, "columns", len(package["republish"]["attributes"]))
        for one in package["republish"]["attributes"]:
            check(folder / DATA_PACKAGE, "labels", len(one.get("labels", ())))
        own = package["republish"]
        package = {**package, "republish": own if held_back else {**own, "held_back": None}}
        statements = estimate_sql(package)
        columns = {} if statements is None else columns_of(package, values)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise PublishedFolderError(f"{folder / DATA_PACKAGE}: is not a package of republish's") from None
    if statements is None and not table_files(folder, "view"):
        raise PublishedFolderError(
            f"{folder}: its package says that it is a view, and it has no view.parquet"
        )
    if statements is None:
        raise QueryError(
            f"{folder}: is a view, whose rows are people under labels: nothing has to be estimated, so count"
            " the rows of view.parquet"
        )
    return statements, columns


def _estimated(
    stated: Mapping[Path, Mapping[str, Any]],
    asked: Asked,
    where: str,
    by: Sequence[str],
    measure: Measure | None,
    macro: str,
) -> pl.DataFrame:
    """Estimates from releases, or the change from one to the next; `stated` has their manifests.

    `asked` is what `statements_of` gives for the last of them, and `macro` the beginning of the call that
    counts people.
    """
    statements, columns = asked
    condition = checked_condition(where, columns)
    parts = {one.name: one for one in (checked_part(part, columns) for part in by)}
    with _read(list(stated), statements) as connection:
        refuse_other_figures(connection, stated)
        if measure is not None:
            macro = _macro(connection, measure, columns)
        return _asked(connection, macro, condition, list(parts.values()), where)


@contextmanager
def _read(folders: Sequence[Path], statements: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection on which statements were run on one release, or on several of a series."""
    if len(folders) == 1:
        with prepared(folders[0], statements) as connection:
            yield connection
        return
    with tempfile.TemporaryDirectory() as links:
        for number, folder in enumerate(folders):
            (Path(links) / str(number)).symlink_to(folder.absolute(), target_is_directory=True)
        try:
            connection = prepared(Path(links), statements, "/*")
        except PublishedFolderError:
            names = " and ".join(map(str, folders))
            raise PublishedFolderError(f"{names}: have not the same columns, so no change is seen") from None
        with connection:
            yield connection


def refuse_other_figures(
    connection: duckdb.DuckDBPyConnection, stated: Mapping[Path, Mapping[str, Any]]
) -> None:
    """Raise PublishedFolderError if the tables are of another release than their manifest says."""
    figures = """
        SELECT release::VARCHAR, count(*), sum(size)::BIGINT, sum(size - people)::BIGINT
        FROM estimate_groups GROUP BY release
    """
    found = {release: counts for release, *counts in connection.execute(figures).fetchall()}
    for folder, one in stated.items():
        counts = [one.get("groups"), one.get("tuples"), one.get("counterfeits")]
        is_other = found.pop(one["release"], [0, 0, 0]) != counts
        if is_other or not found.keys() <= {one["release"] for one in stated.values()}:
            raise PublishedFolderError(
                f"{folder}: its tables have other groups, tuples or counterfeits than its manifest states, or"
                " are of another release"
            )


@contextmanager
def fitting(folder: Path) -> Iterator[None]:
    """Raise LimitError if what is asked of a release fits neither into memory nor on the disk beside it."""
    try:
        yield
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        if isinstance(error, duckdb.IOException) and os.strerror(errno.ENOSPC) not in str(error):
            raise
        raise LimitError(
            f"{folder}: is too large to be estimated from here: it fits neither into memory nor into"
            f" {tempfile.gettempdir()}. Set TMPDIR to a folder with more room, or take a larger machine"
        ) from None


def prepared(folder: Path, statements: str, each: str = "") -> duckdb.DuckDBPyConnection:
    """A connection on which a release's statements were run, and that reaches nothing but what they read.

    Parameters
    ----------
    folder
        The release, or a folder with its tables.
    each
        The pattern of the releases in the folder, as in `/*`, where it is none itself.

    Raises
    ------
    PublishedFolderError
        If the tables have not the columns that the statements ask for.
    """
    # What does not fit into memory goes to the folder of temporary files, and not to the one somebody is in.
    spilled = Path(tempfile.gettempdir()) / f"republish-{secrets.token_hex(8)}"
    connection = duckdb.connect(config={"temp_directory": str(spilled)})
    connection.execute("SET VARIABLE folder = $folder", {"folder": pattern_of(folder) + each})
    if each:
        # Tables are joined as the statements say. DuckDB's own order joins a small table with itself first,
        # for all releases: from some hundred releases on, that takes twenty times as long.
        connection.execute("SET disabled_optimizers = 'join_order'")
    try:
        connection.execute(statements)
    except duckdb.Error as error:
        connection.close()
        if isinstance(error, duckdb.OutOfMemoryException):
            raise
        raise PublishedFolderError(
            f"{folder}: its tables are not what {DATA_PACKAGE} says: {str(error).splitlines()[0]}"
        ) from None
    connection.execute("RESET disabled_optimizers")
    # What runs from here on has a researcher's words in it.
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")
    return connection


def _macro(connection: duckdb.DuckDBPyConnection, measure: Measure, columns: Mapping[str, Column]) -> str:
    """The beginning of the call that estimates a measure; QueryError if the column is not one of numbers."""
    column = checked_column(measure.option, measure.column, columns)
    first = connection.sql(f"SELECT {column.number} FROM estimate_people LIMIT 1")  # noqa: S608 - a name
    kind = first.types[0].id
    if kind not in NUMBERS and (measure.place is None or kind != "date"):
        dates = "" if measure.place is None else " or dates"
        raise QueryError(f"{measure.option} {column.name}: is no column of numbers{dates}")
    of_bins, written = ("_of_bins", quoted(column.name)) if column.is_in_bins else ("", column.number)
    if measure.place is None:
        return f"estimate_{'sum' if measure.is_sum else 'mean'}{of_bins}({written}, "
    return f"estimate_quantile{of_bins}({written}, {measure.place!r}, "


def frame_of(answer: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    """The rows of an answer, fetched as tuples: they are few, and DuckDB's way to polars needs pyarrow."""
    kinds = zip(answer.columns, answer.types, strict=True)
    plain = {name: PLAIN[kind.id] for name, kind in kinds if kind.id in PLAIN}
    rows = answer.fetchall()
    return pl.DataFrame(rows, answer.columns, schema_overrides=plain, orient="row", infer_schema_length=None)


def _asked(
    connection: duckdb.DuckDBPyConnection, macro: str, condition: Condition, by: Sequence[Part], where: str
) -> pl.DataFrame:
    possible = condition.possible or condition.text
    met = f"SELECT ({possible}) AS met FROM estimate_people LIMIT 0"  # noqa: S608 - parsed and written anew
    parts = ", ".join(f"part_{number}: {one.written}" for number, one in enumerate(by))
    kinds = f"SELECT DISTINCT {{{parts}}} FROM estimate_people WHERE {possible}"  # noqa: S608 - as above
    names = [f"split.part_{number} AS {quoted(heading(one.name))}" for number, one in enumerate(by)]
    figures = ", ".join(["release", *names, "* EXCLUDE (release, split)"])

    def answered(text: str) -> pl.DataFrame:
        asked = f"{text}, split := {{{parts}}}" if by else text
        return frame_of(connection.sql(f"SELECT {figures} FROM {macro}{asked})"))  # noqa: S608 - as above

    try:
        kind = str(connection.sql(met).types[0])
        if kind != "BOOLEAN":
            raise QueryError(f"--where {where}: is a {kind.lower()}, and must be true or false of a person")
        number = len(connection.sql(kinds)) if by else 1
        if number > MOST_PARTS:
            columns = " ".join(f"--by {one.name}" for one in by)
            raise QueryError(
                f"{columns}: that is {number:,} lines a release, more than {MOST_PARTS:,}. Ask for some of"
                " the people by --where, or for ranges one after the other"
            )
        answer = answered(condition.text)
        if condition.certain is not None:
            answer = _widened(answer, [answered(condition.certain), answered(possible)])
        return _in_order(answer, by)
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        asked = [f"--where {where}"] if where != "true" or not by else []
        asked += [f"--by {one.name}" for one in by]
        raise QueryError(f"{' '.join(asked)}: {str(error).splitlines()[0]}") from None


def _in_order(answer: pl.DataFrame, by: Sequence[Part]) -> pl.DataFrame:
    """An answer in the order of what people are counted by: of bins, that of their numbers."""
    if not any(one.is_in_bins for one in by):
        return answer
    keys = [exactly("release")]
    for one in by:
        name = exactly(heading(one.name))
        keys += [name.str.extract(r"^(-?[\d.]+)").cast(pl.Float64)] if one.is_in_bins else []
        keys.append(name)
    return answer.sort(keys, nulls_last=True)


def _widened(answer: pl.DataFrame, ends: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Widen the intervals of an answer, so that they contain those of both extremes.

    `ends` are the answers for what every number of a bin meets, and for what some number meets. A part of the
    people has a row also if no drawn number meets the condition: `cost = 30`, in a bin from 20 to 50.
    """
    figures = [name for name in answer.columns if name in FIGURES - {"release", "before"}]
    # Columns that people are counted by may be called anything.
    keys = {name: f"key_{number}" for number, name in enumerate(answer.columns) if name not in figures}
    tables = [table.rename(keys).with_columns(drawn=table is answer) for table in (answer, *ends)]
    # If nobody meets a condition, there is no row: the count is 0, and there is no mean.
    is_count = not {"mean", "quantile"} & set(figures)
    nobody = pl.when(pl.len() < len(tables)).then(0.0) if is_count else None
    found = {
        name: pl.coalesce(exactly(name).filter("drawn").first(), 0.0 if is_count else exactly(name).last())
        for name in figures
    }
    found["low"] = pl.min_horizontal(pl.col("low").min(), nobody)
    found["high"] = pl.max_horizontal(pl.col("high").max(), nobody)
    if "share" in figures:
        found["share_of_one"] = (pl.col("share") / pl.col("people")).max()
    wide = pl.concat(tables).group_by(pl.col("^key_.*$")).agg(**found)
    error = (pl.col("high") - pl.col("low")) / (2 * Z)
    errors = {"standard_error": error.round(1 if is_count else 3)}
    if "share" in figures:
        errors["share_error"] = (error * pl.col("share_of_one")).round(4)
    wide = wide.with_columns(
        **{name: pl.max_horizontal(name, wider) for name, wider in errors.items() if name in figures}
    )
    order = [keys.get(name, name) for name in answer.columns]
    return wide.sort(pl.col("^key_.*$"))[order].rename({key: name for name, key in keys.items()})


def heading(name: str) -> str:
    """The name of a column beside the figures of an answer."""
    return f"{name}_1" if name.lower() in FIGURES else name


def package_of(folder: Path) -> Mapping[str, Any]:
    """A release's `datapackage.json`; PublishedFolderError if it has none of ours."""
    package = read_json(folder / DATA_PACKAGE)
    if package is None or not isinstance(package.get("republish"), Mapping):
        raise PublishedFolderError(
            f"{folder}: has no {DATA_PACKAGE}, which says what domains and labels there are: it was published"
            " by an older version. Take a later release of the series"
        )
    return package
