"""Snapshots from a SQLite file: a column has the type that holds all its values."""

import sqlite3

import polars as pl
import pytest

from republish.anonymize.contract import QuerySource
from republish.anonymize.errors import SnapshotError
from republish.orchestration.snapshots import sqlite_file
from republish.orchestration.snapshots.arrow import from_arrow
from republish.orchestration.snapshots.databases import answer_mark, ask, has_row

ROWS = [
    ("P1", 34, 1.5, None, "007", 1, "2024-01-01"),
    ("P2", None, 2, None, 8, 2.5, "2024-01-01"),
    ("P3", 36, 3.25, None, 7.5, 3, "2024-04-01"),
]
COLUMNS = ["id", "whole", "number", "blank", "mixed", "both", "day"]


@pytest.fixture
def folder(tmp_path):
    with sqlite3.connect(tmp_path / "clinic 100%?.db") as database:
        database.execute("CREATE TABLE people (id, whole, number, blank, mixed, both, day)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?)", ROWS)
        database.execute("CREATE TABLE bytes AS SELECT x'00ff' AS id, CAST(x'4dfc' AS TEXT) AS latin")
    database.close()
    return tmp_path


def source(query):
    return QuerySource(dsn="sqlite:///clinic 100%?.db", query=query)


def answered(folder, query, release="2024-01-01"):
    answer = ask(source(query), release, folder, "here")
    return pl.concat(from_arrow(part, [*answer.schema.names], "here") for part in answer.pieces(2))


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_a_column_has_the_narrowest_type_of_all_its_values(folder, monkeypatch, batch):
    monkeypatch.setattr(sqlite_file, "BATCH", batch)
    table = answered(folder, "SELECT * FROM people ORDER BY id; -- the end")
    assert table.columns == COLUMNS
    assert table["whole"].to_list() == [34, None, 36]
    assert table["number"].to_list() == [1.5, 2.0, 3.25]
    assert table["blank"].to_list() == [None] * 3
    assert table["mixed"].to_list() == ["007", "8", "7.5"]
    assert table["both"].to_list() == [1.0, 2.5, 3.0]
    assert answered(folder, "SELECT id FROM bytes")["id"].to_list() == [b"\0\xff"]


def test_the_releases_date_is_text(folder):
    query = "SELECT id FROM people WHERE day = :release"
    assert [answered(folder, query, release).height for release in ("2024-01-01", "2024-04-01")] == [2, 1]
    assert has_row(source(query), "2024-04-01", folder, "here")
    assert not has_row(source(query), "2024-07-01", folder, "here")
    before = answer_mark(source(query), "2024-01-01", folder, "here", "id")
    assert before == "[[{'people': 2, 'lowest': 'P1', 'highest': 'P2'}]]"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("DELETE FROM people", "must be one SELECT that only reads"),
        ("SELECT 1; DELETE FROM people", "must be one SELECT that only reads"),
        ("SELECT 1) AS x; DELETE FROM people; SELECT * FROM (SELECT 1", "syntax error"),
        ("ATTACH 'other.db' AS other", "must be one SELECT that only reads"),
        ("SELECT * FROM pragma_journal_mode('wal')", "must be one SELECT that only reads"),
        ("SELECT nothing_such FROM people", "no such column: nothing_such; try it on the database"),
        ("SELECT abs(-9223372036854775807 - 1) AS id", "the query fails: integer overflow"),
        ("SELECT latin FROM bytes", "the query fails: Could not decode"),
    ],
)
def test_a_query_that_fails_changes_nothing_and_tells_no_value(folder, query, said):
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(SnapshotError, match=said) as refused:
        answered(folder, query)
    assert "M" not in str(refused.value)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_files_that_are_none_or_are_written(folder):
    (folder / "none.db").write_bytes(b"SQLite format 4" * 100)
    broken = QuerySource(dsn="sqlite:///none.db", query="SELECT * FROM people")
    with pytest.raises(SnapshotError, match="is no SQLite file that can be read"):
        ask(broken, "2024-01-01", folder, "here")
    missing = QuerySource(dsn="sqlite:///missing.db", query="SELECT * FROM people")
    with pytest.raises(SnapshotError, match=r"there is no such database; correct source\.dsn"):
        ask(missing, "2024-01-01", folder, "here")
    assert not (folder / "missing.db").exists()


def test_a_file_that_somebody_writes_is_waited_for(folder, monkeypatch):
    monkeypatch.setattr(sqlite_file, "PATIENCE", 0.01)
    with sqlite3.connect(folder / "clinic 100%?.db", isolation_level=None) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SnapshotError, match="is open elsewhere for writing; try again"):
            answered(folder, "SELECT id FROM people")
        writer.execute("ROLLBACK")
    writer.close()
    assert answered(folder, "SELECT id FROM people").height == 3
