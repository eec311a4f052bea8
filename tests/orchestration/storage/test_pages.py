"""A Parquet file with one byte changed is refused, whatever the byte says; polars would end the process."""

import random

import polars as pl
import pytest

from republish.anonymize.errors import LimitError, SnapshotError
from republish.orchestration.snapshots.files import open_file, read_file
from republish.orchestration.storage.pages import is_decodable
from republish.orchestration.storage.store import write_table


@pytest.fixture
def table(tmp_path):
    ages = random.Random(5).choices(range(20, 80), k=60)
    people = pl.DataFrame({"age": ages, "disease": [f"{age % 7} of seven" for age in ages]})
    write_table(tmp_path / "people.parquet", people)
    return tmp_path / "people.parquet"


def test_whole_tables_are_decodable(table):
    assert is_decodable(table)
    assert is_decodable(table, ["disease"])
    assert read_file(table, "here")[0].equals(pl.read_parquet(table))


@pytest.mark.slow("makes and audits many releases")
def test_no_changed_byte_ends_the_process(table, tmp_path):
    """Every byte of the pages' headers is among the bytes; 191 is the highest byte of a negative number."""
    content = table.read_bytes()
    refused = 0
    for at in range(len(content)):
        changed = tmp_path / "changed.parquet"
        changed.write_bytes(content[:at] + b"\xbf" + content[at + 1 :])
        try:
            read_file(changed, "here")
        except SnapshotError:
            refused += 1
        try:
            for piece in open_file(changed, "here", ["age", "disease"], 20).pieces:
                piece.read()
        except SnapshotError:
            refused += 1
    assert refused > 20


@pytest.mark.parametrize("group", [70, 300])
def test_rows_are_decodable_if_their_own_pages_are(tmp_path, group):
    file = tmp_path / "people.parquet"
    pl.DataFrame({"age": range(300)}).write_parquet(file, row_group_size=group)
    assert all(is_decodable(file, ["age"], range(start, start + 100)) for start in range(0, 300, 100))
    content = bytearray(file.read_bytes())
    content[4 : 4 + 12] = b"\xbf" * 12  # the first page's header
    file.write_bytes(content)
    assert not is_decodable(file, ["age"], range(100))
    assert is_decodable(file, ["age"], range(200, 300)) == (group == 70)


def test_a_row_group_has_the_limits_of_a_file_and_a_divided_file_has_none(tmp_path, monkeypatch):
    file = tmp_path / "people.parquet"
    monkeypatch.setenv("REPUBLISH_LIMITS", "rows=100")
    pl.DataFrame({"age": range(300)}).write_parquet(file, row_group_size=100)
    assert sum(piece.rows for piece in open_file(file, "here", ["age"], 50).pieces) == 300
    pl.DataFrame({"age": range(300)}).write_parquet(file, row_group_size=150)
    with pytest.raises(LimitError, match=r"here, row group 1: has 150 rows, .* add --limit rows=150"):
        open_file(file, "here", ["age"], 50)
