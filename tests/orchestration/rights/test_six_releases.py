"""Six releases through Dagster, fifty people forgotten in the middle: what is safe, and what is left."""

import contextlib
import shutil
import sqlite3

import duckdb
import polars as pl
import pytest
from rich.console import Console

from republish.orchestration.audit.command import audit
from republish.orchestration.rights.forget import forget
from republish.orchestration.series.persons import comparable
from republish.orchestration.storage.store import read_table
from tests.hospital import build, make, make_by_dagster, only_verdicts, published

pytestmark = pytest.mark.slow("makes and audits many releases")

SIX = [f"{year}-{month:02}-01" for year in (2024, 2025) for month in (1, 4, 7, 10)][:6]
MIDDLE = 3
FORGOTTEN = 50
WIDTH = 5
"""Columns of a person's row: quasi-identifiers and the sensitive one, side by side."""


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A hospital, the home of its first three releases, and fifty people who are in all six snapshots."""
    folder = tmp_path_factory.mktemp("six")
    hospital = build(folder, releases=6)
    make_by_dagster(hospital.series(folder / "home"), *SIX[:MIDDLE])
    stay = set.intersection(*(set(hospital.snapshot(release)["patient_id"]) for release in SIX))
    people = sorted(stay)[:FORGOTTEN]
    assert len(people) == FORGOTTEN
    return folder, hospital, people


def convicted(series, truth, report):
    with only_verdicts():
        code = audit(
            [series.published_folder], truth, series.file.path, private=None, out=report, seconds=0.1,
            console=Console(quiet=True),
        )  # fmt: skip
    return code != 0


def cells(file):
    """Every text and all bytes in the tables of a file, and the rows of each table."""
    tables = []
    if file.suffix == ".parquet":
        tables = [read_table(file)]
    elif file.suffix == ".duckdb":
        with contextlib.closing(duckdb.connect(file, read_only=True)) as base:
            names = base.execute("SELECT table_name FROM duckdb_tables()").fetchall()
            tables = [base.sql(f'SELECT * FROM "{name}"').pl() for (name,) in names]  # noqa: S608
    elif file.suffix == ".db":
        with contextlib.closing(sqlite3.connect(file)) as base:
            names = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            rows = [row for (name,) in names for row in base.execute(f'SELECT * FROM "{name}"')]  # noqa: S608
        return {str(cell) for row in rows for cell in row}, set()
    columns = [column for table in tables for column in table if column.dtype in (pl.String, pl.Binary)]
    rows = {tuple(map(str, row)) for table in tables for row in table.rows()}
    return {cell for column in columns for cell in column}, rows


def traces(home, identifiers, pseudonyms, rows):
    """The files in which an identifier, a pseudonym or a row of people is found; whatever kind they are."""
    written = [one.encode() for one in identifiers] + [f"{one.hex()}".encode() for one in pseudonyms]
    found = set()
    for file in (path for path in home.rglob("*") if path.is_file()):
        content = file.read_bytes()
        of_tables, in_rows = cells(file)
        texts = [one for one in of_tables if isinstance(one, str)]
        if (
            any(one in content for one in (*written, *pseudonyms))
            or of_tables & {*identifiers, *pseudonyms}
            or any(one in text for text in texts if len(text) > 8 for one in identifiers)
            or {one[at : at + WIDTH] for one in in_rows for at in range(len(one) - WIDTH + 1)} & set(rows)
        ):
            found.add(f"{file.relative_to(home)}")
    return found


@pytest.mark.parametrize("again", [True, False])
def test_fifty_people_are_forgotten_in_the_middle(begun, tmp_path, again):
    folder, hospital, people = begun
    home, alone, truth = tmp_path / "home", tmp_path / "alone", tmp_path / "truth"
    for copy in (home, alone):
        shutil.copytree(folder / "home", copy)
    shutil.copytree(hospital.file(SIX[0]).parent, truth)
    (hospital.folder / ".hospital.yaml.home").unlink(missing_ok=True)
    series, other = hospital.series(home), hospital.series(alone)
    snapshot = read_table(series.private(SIX[2]) / "snapshot.parquet").filter(
        pl.col("identifier").is_in(people)
    )
    own, common = set(snapshot["pseudonym"]), set(comparable(series.home, pl.Series(people)))
    rows = {tuple(map(str, row)) for row in snapshot.drop("identifier", "pseudonym").rows()}
    before = traces(home, people, own | common, ())
    assert len(before) > 15
    assert not [name for name in before if not name.startswith("private/")]

    forget(series, people, again=again)
    names, left = traces(home, people, set(), ()), traces(home, people, own, ())
    assert names == set()
    noted = {"private/hospital/forgotten.parquet", "private/hospital/v1/people.parquet"}
    assert traces(home, people, common, ()) == (noted if again else {min(noted)})
    if again:
        assert all(name.startswith(f"private/hospital/v1/{SIX[2]}/") or name in noted for name in left)
    else:
        assert left == set()
    assert {len(row) for row in rows} == {WIDTH}
    assert len(traces(alone, (), set(), rows)) >= MIDDLE
    assert traces(home, (), set(), rows) == of_others(home, people, rows)

    make_by_dagster(series, SIX[MIDDLE])
    make(series, *SIX[MIDDLE + 1 :])
    (hospital.folder / ".hospital.yaml.home").unlink(missing_ok=True)
    if not again:
        for release in SIX[MIDDLE:]:
            left_out = hospital.snapshot(release).filter(~pl.col("patient_id").is_in(people))
            left_out.write_parquet(truth / f"{release}.parquet")
        assert traces(home, people, own, ()) == set()
    assert not convicted(series, truth, tmp_path / "after")
    if again:
        make(other, *SIX[MIDDLE:])
        assert published(home) == published(alone)


def of_others(home, people, rows):
    """The snapshots in which somebody else has the same row."""
    found = set()
    for file in home.glob("private/hospital/v1/*/snapshot.parquet"):
        others = read_table(file)
        assert not set(others["identifier"]) & set(people)
        same = {tuple(map(str, row)) for row in others.drop("identifier", "pseudonym").rows()} & rows
        found |= {f"{file.relative_to(home)}"} if same else set()
    return found
