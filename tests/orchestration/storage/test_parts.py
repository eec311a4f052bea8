"""A published table is one file or a folder of parts."""

import polars as pl

from republish.orchestration.storage.parts import footers, table_files, table_of, tables_in
from tests.orchestration.audit.published_folders import write_parts

TABLE = pl.DataFrame({"group_id": range(10), "disease": ["flu", "gastritis"] * 5})


def test_a_table_is_one_file_or_its_parts(tmp_path):
    parts = write_parts(tmp_path / "microdata", TABLE, rows=4)
    (tmp_path / "microdata" / "notes.parquet").touch()
    TABLE.write_parquet(tmp_path / "counterfeits.parquet")
    (tmp_path / "manifest.json").touch()
    whole = [tmp_path / "counterfeits.parquet"]
    assert tables_in(tmp_path) == {"counterfeits": whole, "microdata": parts}
    assert table_files(tmp_path, "view") == []
    names = ("view.parquet", "view/part-0003.parquet", "view/part-3.parquet", "a/view.parquet", "README.md")
    assert [table_of(name) for name in names] == ["view", "view", None, None, None]


def test_footers_of_many_files_are_those_of_each(tmp_path):
    names = ("plain", "two words", "a [1] b", "it's", "what?", "every*", "größe")
    files = [tmp_path / f"{name}.parquet" for name in names]
    for number, file in enumerate(files):
        table = pl.DataFrame({"a": range(number * 10), "b": range(number * 10)})
        table.write_parquet(file, row_group_size=7)
    found = footers(files)
    assert [*found] == files
    assert [{file: found[file]} for file in files] == [footers([file]) for file in files]


def test_where_one_of_many_files_is_none_each_is_asked_for_by_itself(tmp_path):
    good, bad = tmp_path / "good.parquet", tmp_path / "bad.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(good)
    bad.write_text("no Parquet")
    assert [*footers([good, bad])] == [good]
    assert footers([bad]) == footers([]) == {}
