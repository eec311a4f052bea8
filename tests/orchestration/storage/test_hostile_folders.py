"""Release folders that somebody tampered with and sealed again: they hold no more than a release."""

import json
import os

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from republish.anonymize.errors import PublishedFolderError
from republish.orchestration.cli.app import app
from republish.orchestration.storage import manifest
from republish.orchestration.storage.hidden import check_tables
from republish.orchestration.storage.manifest import MANIFEST, sums, verify_release, verify_series
from republish.orchestration.storage.parts import footers
from republish.orchestration.storage.store import SUMS, sha256, write_table
from tests.hospital import RELEASES, audited
from tests.orchestration.audit.published_folders import seal

FORGED = "2024-01-01\nEvery promise holds\x1b[2K\x1b[1A"


def stray(name, content=b"everybody's value"):
    """A further file that the manifest names."""

    def tamper(folder, stated):
        (folder / name).write_bytes(content)
        stated["files"][name] = {"sha256": sha256(folder / name)}

    return tamper


def named(name, **stated_of_it):
    """A file that the manifest names, and that is somewhere else or nowhere."""
    return lambda _, stated: stated["files"].update({name: {"sha256": "0" * 64, **stated_of_it}})


def says(**more):
    return lambda _, stated: stated.update(more)


def of_readme(**more):
    return lambda _, stated: stated["files"]["README.md"].update(more)


def no_rows(_, stated):
    del stated["files"]["microdata.parquet"]["rows"]


def linked(folder, stated):
    (folder / "README.md").rename(folder.parent.parent / "elsewhere.md")
    (folder / "README.md").symlink_to(folder.parent.parent / "elsewhere.md")


def pipe(folder, stated):
    (folder / "README.md").unlink()
    os.mkfifo(folder / "README.md")


def truth(folder, stated):
    pl.DataFrame({"patient_id": ["P1"], "disease": ["flu"]}).write_parquet(folder / "truth.parquet")
    stated["files"]["truth.parquet"] = {"sha256": sha256(folder / "truth.parquet")}


TAMPERED = {
    "the truth as CSV": (stray("truth.csv"), "names a file truth.csv"),
    "the truth as Parquet": (truth, "names a file truth.parquet"),
    "README.csv": (stray("README.csv"), "names a file README.csv"),
    "a hidden file": (stray(".secret"), "names a file .secret"),
    "a name with a line end": (stray("a\nb.csv"), r"names a file a\nb.csv"),
    "a path out of the folder": (named("../../x.parquet", rows=1), "names a file ../../x.parquet"),
    "an absolute path": (named("/etc/passwd"), "names a file /etc/passwd"),
    "a backslash": (named("..\\x"), "names a file ..\\x"),
    "the manifest itself": (named(MANIFEST), "names a file manifest.json"),
    "the folder": (named("."), "names a file ."),
    "a link": (linked, "README.md: is a link"),
    "a pipe": (pipe, "README.md: is in the manifest and missing"),
    "a key": (says(people={"P1": "flu"}), "has a key people"),
    "a key of another principle": (says(placed_no_more=3), "has a key placed_no_more"),
    "a key with a line end": (says(**{FORGED: 1}), "has a key 2024-01-01\\nEvery"),
    "a parameter": (
        lambda _, stated: stated["principle"].update(people=["P1"]),
        "parameters that its principle does not have",
    ),
    "another principle": (says(principle={"name": "none"}), "its principle is none"),
    "no principle": (says(principle="m_invariance"), "its principle is none"),
    "more of a file": (of_readme(people=["P1"]), "must state sha256 of README"),
    "rows of a text": (of_readme(rows=1), "must state sha256 of README"),
    "a table without rows": (no_rows, "must state sha256 of microdata.parquet, and rows"),
    "a forged release": (says(release=FORGED), "its release is no date"),
    "a release that is a number": (says(release=20240101), "its release is no date"),
    "a product with a line end": (says(product="a\nb"), "its product is none"),
    "a series that is a list": (says(series=["P1"]), "its series is none"),
    "a version that is a sentence": (says(software_version="P1 has flu"), "its software_version is none"),
    "a contract that is no digest": (says(contract_sha256="P1"), "its contract_sha256 is none"),
    "a series it goes on from": (says(supersedes={"P1": "flu"}), "its supersedes is none"),
    "counterfeits that are missing": (says(counterfeits=None), "its counterfeits is no count"),
    "groups in words": (says(groups="many"), "its groups is no count"),
    "people held back in words": (says(held_back="all"), "its held_back is no count"),
    "tuples by person": (says(tuples={"P1": "flu"}), "its tuples is no count"),
    "exposed people by name": (says(exposed=["P1"]), "its exposed is no count"),
    "a count that spells a text": (says(tuples=int.from_bytes(b"P1 has flu")), "its tuples is no count"),
    "another series with people": (says(together_with={"v2": {"P1": 1}}), "its together_with is no count"),
    "another series by a sentence": (says(together_with={"P1 has flu": {}}), "its together_with is no count"),
    "digits of another script": (says(release="202\u0664-01-01"), "its release is no date"),
}  # fmt: skip


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("what", TAMPERED)
def test_a_folder_with_more_than_a_release_is_refused_in_one_plain_line(what, series):
    tamper, said = TAMPERED[what]
    folder = series.published(RELEASES[1])
    stated = json.loads((folder / MANIFEST).read_text())
    assert verify_release(folder) == stated
    tamper(folder, stated)
    (folder / MANIFEST).write_text(json.dumps(stated))
    if what != "a pipe":
        reachable = {name: one for name, one in stated["files"].items() if (folder / name).is_file()}
        (folder / SUMS).write_text(sums(folder, {"files": reachable}))
    for verify, place in ((verify_release, folder), (verify_series, folder.parent)):
        with pytest.raises(PublishedFolderError) as refused:
            verify(place)
        assert said in str(refused.value)
        assert str(refused.value).isprintable()


def test_the_footers_of_all_releases_of_a_series_are_read_together(series, monkeypatch):
    """Each by itself takes most of the time that a series of hundreds of releases is verified in."""
    asked = []
    monkeypatch.setattr(manifest, "footers", lambda files: asked.append(files) or footers(files))
    assert len(verify_series(series.published_folder)) == len(series.releases)
    assert len(asked) == 1
    verify_release(series.published(RELEASES[0]))
    assert len(asked) == 2


def test_what_manifests_of_earlier_versions_state_still_verifies(series):
    folder = series.published(RELEASES[1])
    stated = json.loads((folder / MANIFEST).read_text())
    stated["principle"] |= {"on_ineligible": "defer", "spread": {"cost": 0.1}}
    stated |= {"deferred": 3, "deferred_now": 3, "deferred_alike": 1, "deferred_alike_in_a_column": 2}
    (folder / MANIFEST).write_text(json.dumps(stated))
    (folder / SUMS).write_text(sums(folder, stated))
    assert verify_release(folder) == stated
    stated["deferred_now"] = ["P1"]
    (folder / MANIFEST).write_text(json.dumps(stated))
    with pytest.raises(PublishedFolderError, match="its deferred_now is no count"):
        verify_release(folder)


def arrow(change, **options):
    """The same rows as another writer keeps them."""

    def tamper(file):
        pq.write_table(change(pq.read_table(file)), file, **options)

    return tamper


def as_polars(change=lambda table: table, **options):
    """The same rows, written by polars with other settings."""
    usual = {"compression": "zstd", "statistics": False}
    return lambda file: change(pl.read_parquet(file)).write_parquet(file, **usual | options)


def more_of_a_dictionary(table):
    """The sensitive column with a dictionary that has a value nobody has."""
    values = table["disease"].combine_chunks().dictionary_encode()
    told = pa.concat_arrays([values.dictionary.cast(pa.string()), pa.array(["P00000001 has flu"])])
    column = pa.DictionaryArray.from_arrays(values.indices, told)
    return table.set_column(table.schema.get_field_index("disease"), "disease", column)


def noted_field(table):
    schema = pa.schema([table.schema.field(at) for at in range(table.num_columns)])
    return table.cast(schema.set(1, schema.field(1).with_metadata({"note": "P00000001 has flu"})))


def bytes_between(file):
    """Bytes after the first page that no reader looks at: the footer says where each page is."""
    content = file.read_bytes()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    file.write_bytes(content[:-footer] + b"P00000001 has flu" + content[-footer:])


def another_version(then):
    """What `then` makes, as if another version of polars had written it."""

    def tamper(file):
        then(file)
        file.write_bytes(file.read_bytes().replace(WRITER_NOW, WRITER_THEN))

    return tamper


WRITER_NOW = f"Polars (python) version {pl.__version__}".encode()
WRITER_THEN = WRITER_NOW[:-1] + b"9"
HIDDEN = {
    "a dictionary": arrow(more_of_a_dictionary),
    "metadata of the file": arrow(lambda table: table.replace_schema_metadata({"note": "P00000001 has flu"})),
    "metadata that pandas writes": arrow(lambda table: table.replace_schema_metadata({"pandas": "P1"})),
    "metadata of a column": arrow(noted_field),
    "metadata by polars": as_polars(metadata={"note": "P00000001 has flu"}),
    "bytes between pages": bytes_between,
    "statistics": as_polars(statistics=True),
    "parts of a table": as_polars(row_group_size=7),
    "another compression": as_polars(compression="snappy"),
    "the labels of an enumeration": as_polars(
        lambda table: table.cast({"disease": pl.Enum([*table["disease"].unique(), "P00000001"])})
    ),
    "another type": as_polars(lambda table: table.cast({"group_id": pl.Int32})),
    "a further column": as_polars(lambda table: table.with_columns(P00000001=pl.lit("flu"))),
    "another name of a column": as_polars(lambda table: table.rename({"group_id": "P00000001"})),
    "another order of the columns": as_polars(lambda table: table.select(reversed(table.columns))),
    "another tool": arrow(lambda table: table),
    "metadata by another version": another_version(as_polars(metadata={"note": "P00000001 has flu"})),
    "a further column by another version": another_version(as_polars(
        lambda table: table.with_columns(P00000001=pl.lit("flu"))
    )),
}  # fmt: skip
"""What a table may have in it beyond its rows, with the rows as they were."""


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("what", HIDDEN)
def test_a_table_with_more_than_its_rows_passes_neither_verify_nor_audit(what, series, hospital, tmp_path):
    folder = series.published(RELEASES[1])
    stated = verify_release(folder)
    assert check_tables(folder, stated)
    file = folder / "microdata.parquet"
    before = file.read_bytes()
    HIDDEN[what](file)
    assert file.read_bytes() != before
    seal(folder)
    with pytest.raises(PublishedFolderError, match=r"microdata\.parquet: has ") as refused:
        check_tables(folder, verify_release(folder))
    assert "P0" not in str(refused.value)
    if what not in ("metadata of the file", "metadata by another version"):
        return  # an audit asks the same function
    code, rows = audited(hospital, series, tmp_path / "report", private=False)
    assert (code, rows["file metadata"]["holds"]) == (3, False)


@pytest.mark.slow("takes more than a second")
def test_tables_of_another_version_pass_with_a_word_that_their_bytes_were_not_compared(
    series, hospital, tmp_path
):
    folder = series.published(RELEASES[1])
    another_version(lambda file: None)(folder / "microdata.parquet")
    seal(folder)
    assert not check_tables(folder, verify_release(folder))
    shown = CliRunner().invoke(app, ["verify", str(folder)])
    assert "bytes between rows not compared: another version of polars wrote them" in shown.output
    audited(hospital, series, tmp_path / "report", private=False)
    report = json.loads((tmp_path / "report/audit.json").read_text())
    assert any("bytes between the rows in the tables of 1 of 2" in str(gap) for gap in report["not_covered"])


@pytest.mark.slow("takes more than a second")
def test_a_table_of_another_format_is_no_part_of_a_release(series, hospital, tmp_path):
    folder = series.published(RELEASES[1])
    write_table(folder / "sensitive.parquet", pl.DataFrame({"disease": ["flu"]}))
    stated = json.loads((folder / MANIFEST).read_text())
    stated["files"]["sensitive.parquet"] = {"sha256": "", "rows": 1}
    (folder / MANIFEST).write_text(json.dumps(stated))
    seal(folder)
    with pytest.raises(PublishedFolderError, match=r"sensitive\.parquet: has other columns"):
        check_tables(folder, verify_release(folder))
    assert not audited(hospital, series, tmp_path / "report", private=False)[1]["file metadata"]["holds"]


def test_what_is_no_regular_file_is_not_read_as_a_manifest(series):
    folder = series.published(RELEASES[1])
    (folder / MANIFEST).unlink()
    for make in (lambda file: file.symlink_to("/dev/zero"), os.mkfifo):
        make(folder / MANIFEST)
        with pytest.raises(PublishedFolderError, match=r"has no manifest\.json that can be read"):
            verify_release(folder)
        (folder / MANIFEST).unlink()
