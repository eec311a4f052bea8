"""A published table is one file or a folder of parts."""

import polars as pl

from republish.orchestration.storage.parts import table_files, table_of, tables_in
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
