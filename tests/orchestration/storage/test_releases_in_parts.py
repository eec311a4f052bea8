"""Releases whose tables are in parts: each reader reads them as whole tables, and they hold no more."""

import json
import subprocess

import polars as pl
import pytest

from republish.anonymize.errors import LimitError, PublishedFolderError
from republish.orchestration.chain.population_overlap import OtherProduct
from republish.orchestration.limits import VARIABLE, raise_limits
from republish.orchestration.readers.estimate.command import estimate
from republish.orchestration.readers.estimate.copies import copies
from republish.orchestration.rights.find import find
from republish.orchestration.storage.hidden import check_tables
from republish.orchestration.storage.manifest import MANIFEST, sums, verify_release, verify_series
from republish.orchestration.storage.parts import name_in, part_name, table_files
from republish.orchestration.storage.store import SUMS, sha256
from tests.hospital import RELEASES, audited
from tests.orchestration.audit.published_folders import divide, seal

ROWS = 100
"""Of 300 patients and some: three parts."""


@pytest.fixture
def divided(series):
    divide(series.published_folder, ROWS)
    return series.published(RELEASES[1])


def test_the_releases_verify_and_their_parts_are_the_rows_of_the_whole_tables(series):
    folders = [series.published(release) for release in RELEASES[:2]]
    whole = [pl.read_parquet(folder / "microdata.parquet") for folder in folders]
    divide(series.published_folder, ROWS)
    for folder, stated, table in zip(folders, verify_series(series.published_folder), whole, strict=True):
        files = table_files(folder, "microdata")
        rows = [stated["files"][name_in(folder, file)]["rows"] for file in files]
        assert rows == [min(ROWS, len(table) - at) for at in range(0, len(table), ROWS)]
        assert pl.concat(map(pl.read_parquet, files)).equals(table)
        assert check_tables(folder, stated)
        subprocess.run(["sha256sum", "--check", "--quiet", SUMS], cwd=folder, check=True)
        assert "`microdata/part-*.parquet`" in (folder / "README.md").read_text()


@pytest.mark.slow("makes and audits many releases")
def test_estimates_are_those_of_whole_tables(series):
    folder = series.published_folder
    whole = estimate(folder, "age >= 40", by="sex")
    others = estimate(folder, change=True), pl.concat(copies(folder, 1, seed=3))
    divide(folder, ROWS)
    assert estimate(folder, change=True).equals(others[0])
    assert pl.concat(copies(folder, 1, seed=3)).equals(others[1])
    assert estimate(folder, "age >= 40", by="sex").equals(whole)


@pytest.mark.slow("makes and audits many releases")
def test_an_audit_finds_what_it_finds_in_whole_tables(series, hospital, tmp_path):
    whole = audited(hospital, series, tmp_path / "whole")
    divide(series.published_folder, ROWS)
    parts = audited(hospital, series, tmp_path / "parts")
    (_, by_files), (_, by_parts) = whole, parts
    for of_files in ("file metadata", "manifest claims"):
        assert by_files.pop(of_files)["holds"]
        assert by_parts.pop(of_files)["holds"]
    assert parts == whole


@pytest.mark.slow("makes and audits many releases")
def test_an_audit_sees_parts_in_another_order_and_more_in_one_of_them(series, hospital, tmp_path, divided):
    first, second = (divided / "microdata" / part_name(number) for number in range(2))
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    seal(divided)
    _, rows = audited(hospital, series, tmp_path / "swapped", private=False)
    assert [name for name, row in rows.items() if not row["holds"]] == ["row order"]
    pl.read_parquet(second).write_parquet(second, compression="zstd", metadata={"note": "flu"})
    seal(divided)
    _, rows = audited(hospital, series, tmp_path / "noted", private=False)
    assert [name for name, row in rows.items() if not row["holds"]] == ["row order", "file metadata"]


def test_what_a_person_is_told_and_what_other_products_are_compared_with_is_the_same(series, hospital):
    person = hospital.snapshot(RELEASES[1])["patient_id"].min()
    told, columns = find(series, person).series, OtherProduct(series.home, "hospital", (series,)).columns
    divide(series.published_folder, ROWS)
    assert find(series, person).series == told
    assert OtherProduct(series.home, "hospital", (series,)).columns == columns


def renamed(folder, stated):
    file = folder / "microdata" / part_name(1)
    pl.read_parquet(file).rename({"disease": "P1"}).write_parquet(file)


def of_another_type(folder, stated):
    file = folder / "microdata" / part_name(1)
    pl.read_parquet(file).cast({"group_id": pl.Int32}).write_parquet(file)


def shorter(folder, stated):
    file = folder / "microdata" / part_name(1)
    pl.read_parquet(file)[:50].write_parquet(file)
    stated["files"][f"microdata/{file.name}"]["rows"] = 50


def without_one(folder, stated):
    (folder / "microdata" / part_name(1)).unlink()
    del stated["files"][f"microdata/{part_name(1)}"]


def whole_too(folder, stated):
    (folder / "microdata" / part_name(0)).rename(folder / "microdata.parquet")
    stated["files"]["microdata.parquet"] = stated["files"].pop(f"microdata/{part_name(0)}")


def more_rows(folder, stated):
    for one in stated["files"].values():
        if "rows" in one:
            one["rows"] += 1


def rows_in_words(_, stated):
    stated["files"][f"microdata/{part_name(0)}"]["rows"] = "P1 has flu"


def linked_folder(folder, stated):
    elsewhere = (folder / "microdata").rename(folder.parents[1] / "elsewhere")
    (folder / "microdata").symlink_to(elsewhere)


def linked_part(folder, stated):
    file = folder / "microdata" / part_name(1)
    file.symlink_to(file.rename(folder.parents[1] / "elsewhere.parquet"))


def stray(name, is_named=False):
    def tamper(folder, stated):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("everybody's value")
        if is_named:
            stated["files"][name] = {"sha256": "0" * 64} | ({"rows": 1} if name.endswith("parquet") else {})

    return tamper


DAMAGED = {
    "a part that is gone": (lambda folder, _: (folder / "microdata" / part_name(2)).unlink(),
        "microdata/part-0002.parquet: is in the manifest and missing"),
    "a part left out": (without_one, "parts of microdata that are not those from part-0000.parquet on"),
    "a table that is there twice": (whole_too, "names both microdata.parquet and parts of it"),
    "other columns": (renamed, "part-0001.parquet: has other columns than the first"),
    "another type": (of_another_type, "part-0001.parquet: has other columns than the first"),
    "a part of other size": (shorter, "states parts of microdata of different sizes"),
    "other numbers of rows": (more_rows, "rows, and its manifest states another number"),
    "rows in words": (rows_in_words,
        "must state sha256 of microdata/part-0000.parquet, and rows"),
    "a folder that is a link": (linked_folder, "microdata: is a link"),
    "a part that is a link": (linked_part, "microdata/part-0001.parquet: is a link"),
    "a stranger beside parts": (stray("microdata/truth.csv"), "microdata/truth.csv: is not in the manifest"),
    "one that is named": (stray("microdata/truth.csv", is_named=True), "names a file microdata/truth.csv"),
    "a part of no name": (stray("microdata/part-3.parquet", is_named=True), "names a file microdata/part-3"),
    "a further folder": (stray("truth/part-0000.parquet"), "truth/part-0000.parquet: is not in the manifest"),
    "a table that there is not": (stray("truth/part-0000.parquet", is_named=True), "names a file truth/part"),
    "an empty folder": (lambda folder, _: (folder / "truth").mkdir(), "truth: is not in the manifest"),
    "a folder below": (lambda folder, _: (folder / "microdata/more").mkdir(), "microdata/more: is not in"),
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGED)
def test_damage_is_refused_in_one_line(what, series, divided):
    tamper, said = DAMAGED[what]
    stated = json.loads((divided / MANIFEST).read_text())
    tamper(divided, stated)
    for name, one in stated["files"].items():
        one["sha256"] = sha256(divided / name) if (divided / name).is_file() else one["sha256"]
    (divided / MANIFEST).write_text(json.dumps(stated))
    (divided / SUMS).write_text(sums(divided, stated))
    with pytest.raises(PublishedFolderError) as refused:
        verify_release(divided)
    assert said in str(refused.value)
    assert str(refused.value).isprintable()
    assert "flu" not in str(refused.value)


def test_more_than_the_rows_of_a_part_is_seen(divided):
    file = divided / "microdata" / part_name(1)
    pl.read_parquet(file).write_parquet(file, compression="zstd", metadata={"note": "flu"})
    seal(divided)
    with pytest.raises(PublishedFolderError, match=r"part-0001\.parquet: has more in it than its rows"):
        check_tables(divided, verify_release(divided))


def test_a_package_that_names_other_parts_is_refused(divided):
    file = divided / "datapackage.json"
    file.write_text(file.read_text().replace("microdata/part-0001", "microdata/part-0007"))
    seal(divided)
    with pytest.raises(PublishedFolderError, match=r"has other columns than datapackage\.json describes"):
        check_tables(divided, verify_release(divided))


def test_limits_hold_for_a_part_where_parts_are_read_and_for_all_where_a_table_is(divided, monkeypatch):
    monkeypatch.setenv(VARIABLE, "")
    raise_limits([f"rows={ROWS}"])
    check_tables(divided, verify_release(divided))
    with pytest.raises(LimitError, match=r"microdata: has \d+ rows, and 100 are read at most"):
        estimate(divided)
    raise_limits([f"rows={ROWS - 1}"])
    with pytest.raises(LimitError, match=r"part-0000\.parquet: has 100 rows"):
        verify_release(divided)
