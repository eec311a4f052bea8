"""Published tables in parts: consecutive ranges of rows, whose bytes depend on the rows alone."""

import polars as pl
import pytest

from republish.anonymize.errors import HomeError
from republish.orchestration.storage.parts import table_files, table_of, tables_in, write_parts

TABLE = pl.DataFrame({"group_id": range(10), "disease": ["flu", "gastritis"] * 5})


def rows_of(files):
    return [len(pl.read_parquet(file)) for file in files]


def test_however_a_table_arrives_its_parts_are_the_same_bytes(tmp_path):
    ways = {
        "whole": [TABLE],
        "pieces": [TABLE[:1], TABLE[1:1], TABLE[1:8], TABLE[8:]],
        "rows": [TABLE[at : at + 1] for at in range(10)],
    }
    written = {}
    for way, frames in ways.items():
        files = write_parts(tmp_path / way, iter(frames), rows=4)
        assert [file.name for file in files] == [
            "part-0000.parquet",
            "part-0001.parquet",
            "part-0002.parquet",
        ]
        assert rows_of(files) == [4, 4, 2]
        assert pl.concat(map(pl.read_parquet, files)).equals(TABLE)
        written[way] = [file.read_bytes() for file in files]
    assert written["whole"] == written["pieces"] == written["rows"]


@pytest.mark.parametrize(("rows", "parts"), [(5, [5, 5]), (10, [10]), (9, [9, 1])])
def test_only_the_last_part_has_fewer_rows_and_none_has_none(tmp_path, rows, parts):
    assert rows_of(write_parts(tmp_path / "microdata", [TABLE, TABLE[:0]], rows)) == parts


def test_a_table_without_rows_is_one_part_with_its_columns(tmp_path):
    (file,) = write_parts(tmp_path / "microdata", [TABLE[:0]])
    assert pl.read_parquet(file).schema == TABLE.schema


def test_parts_are_for_their_owner_and_replace_those_before(tmp_path):
    write_parts(tmp_path / "microdata", [TABLE], rows=2)
    (file,) = write_parts(tmp_path / "microdata", [TABLE])
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_table_that_breaks_off_leaves_what_was_there(tmp_path):
    def frames():
        yield TABLE
        raise HomeError("the shard is gone")

    before = write_parts(tmp_path / "microdata", [TABLE])
    with pytest.raises(HomeError, match="the shard is gone"):
        write_parts(tmp_path / "microdata", frames(), rows=2)
    assert [*tmp_path.iterdir()] == [tmp_path / "microdata"]
    assert [*before[0].parent.iterdir()] == before


def test_a_table_is_one_file_or_its_parts(tmp_path):
    parts = write_parts(tmp_path / "microdata", [TABLE], rows=4)
    (tmp_path / "microdata" / "notes.parquet").touch()
    TABLE.write_parquet(tmp_path / "counterfeits.parquet")
    (tmp_path / "manifest.json").touch()
    whole = [tmp_path / "counterfeits.parquet"]
    assert tables_in(tmp_path) == {"counterfeits": whole, "microdata": parts}
    assert table_files(tmp_path, "view") == []
    names = ("view.parquet", "view/part-0003.parquet", "view/part-3.parquet", "a/view.parquet", "README.md")
    assert [table_of(name) for name in names] == ["view", "view", None, None, None]
