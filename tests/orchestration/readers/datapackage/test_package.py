"""A release can be read with nothing but its folder, and the folder says no more than tables and contract."""

import json
import os
import shutil
import stat
import subprocess

import duckdb
import frictionless
import polars as pl
import pytest

from republish.anonymize.errors import PublishedFolderError
from republish.orchestration.cli.main import main
from republish.orchestration.readers.datapackage.dated import dated, undated
from republish.orchestration.storage.manifest import verify_release, verify_series
from republish.orchestration.storage.store import sha256
from tests.hospital import RELEASES, make
from tests.orchestration.audit.published_folders import divide

WORDS = {
    "title": "Inpatients | a hospital",
    "licence": "CC-BY-4.0",
    "contact": "data@example.org",
    "citation": "A Hospital (2024): Inpatients.",
}
NEW = {"datapackage.json", "README.md", "SHA256SUMS"}


@pytest.fixture
def folder(series):
    return series.published(RELEASES[1])


def package(folder):
    return json.loads((folder / "datapackage.json").read_text())


def fields(folder, table="microdata"):
    (resource,) = (one for one in package(folder)["resources"] if one["name"] == table)
    return {field["name"]: field for field in resource["schema"]["fields"]}


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("rows", [None, 100])
def test_frictionless_finds_the_tables_to_be_what_the_package_says(folder, rows):
    if rows is not None:
        divide(folder.parent, rows)
    report = frictionless.validate(str(folder / "datapackage.json"))
    assert report.valid, report.flatten(["title", "note"])
    assert report.stats["tasks"] == 2


@pytest.mark.slow("takes more than a second")
def test_the_package_says_what_the_contract_declares(hospital, tmp_path):
    hospital.declare(**WORDS, sensitive={"description": "the main diagnosis"})
    series = make(hospital.series(tmp_path / "new"), RELEASES[0])
    folder = series.published(RELEASES[0])
    said = package(folder)
    assert said["title"] == WORDS["title"]
    assert said["licenses"] == [{"name": "CC-BY-4.0"}]
    assert said["contributors"][0]["email"] == WORDS["contact"]
    assert said["citation"] == WORDS["citation"]
    assert fields(folder)["disease"]["description"].endswith("the main diagnosis")
    assert fields(folder)["age_low"]["constraints"] == {"required": True, "minimum": 0, "maximum": 120}
    assert fields(folder)["sex_low"]["constraints"]["enum"] == ["F", "M"]
    attributes = {one["name"]: one for one in said["republish"]["attributes"]}
    assert attributes["birthplace"]["hierarchy"][0][-1] == "Europe"
    assert attributes["zipcode"]["min_width"] == 2000
    assert [name for name, one in attributes.items() if one.get("ends") == "grid"] == ["age", "zipcode"]
    text = (folder / "README.md").read_text()
    assert (
        "An interval of sex, birthplace begins and ends with the value of a person in the group. 0 of" in text
    )
    assert all(words in text for words in WORDS.values())
    assert "at least 3 possible values" in text
    assert "as a chronic disease does" in text


def test_readers_are_told_the_principle_and_not_that_people_are_anonymous(folder):
    text = (folder / "README.md").read_text()
    assert "It is treated under m-invariance: no row says which value a person has." in text
    assert "anonym" not in text.lower()


@pytest.mark.slow("takes more than a second")
def test_words_for_readers_change_nothing_that_was_promised(series, hospital):
    before = series.contract.privacy_digest()
    hospital.declare(**WORDS, sensitive={"description": "the main diagnosis"})
    again = hospital.series(series.home.path)
    assert again.contract.privacy_digest() == before
    make(again, *RELEASES)  # the published ones are found to be so, and the series goes on
    assert len(verify_series(again.published_folder)) == 3


def test_coreutils_alone_check_the_folder(folder):
    subprocess.run(["sha256sum", "-c", "--quiet", "--strict", "SHA256SUMS"], cwd=folder, check=True)
    listed = {line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    assert listed == {file.name for file in folder.iterdir()} - {"SHA256SUMS"}


@pytest.mark.parametrize("name", sorted(NEW))
def test_a_text_that_is_changed_or_missing_is_found(folder, name):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content.replace(b"a", b"b", 1))
    with pytest.raises(PublishedFolderError, match=f"{name}: was changed"):
        verify_release(folder)
    (folder / name).unlink()
    with pytest.raises(PublishedFolderError, match=name):
        verify_release(folder)


def test_a_release_made_before_there_were_such_texts_still_verifies(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in NEW:
        (folder / name).unlink()
        manifest["files"].pop(name, None)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert verify_release(folder) == manifest


def test_all_releases_read_as_one_dated_table(series):
    table = duckdb.read_parquet(f"{series.published_folder}/*/microdata.parquet")
    tables = table.aggregate("release, count(*)", "release").order("release").fetchall()
    assert [(str(release), rows > 0) for release, rows in tables] == [(name, True) for name in RELEASES[:2]]
    assert fields(series.published(RELEASES[0]))["release"]["type"] == "date"


def test_a_copy_can_be_read_and_the_home_can_not(series, folder):
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o644}
    above = [folder, folder.parent, folder.parent.parent, series.home.path / "published"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in above} == {0o755}
    assert stat.S_IMODE(series.private(RELEASES[0]).stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_another_user_reads_a_copy(series, tmp_path_factory):
    place = tmp_path_factory.mktemp("given")
    for path in (place, *place.parents):
        if path.stat().st_mode & 0o055 != 0o055:
            path.chmod(0o755)
    subprocess.run(["cp", "-a", str(series.published_folder), str(place)], check=True)
    command = ["cat", str(place / "v1" / RELEASES[0] / "README.md")]
    subprocess.run(command, user="nobody", capture_output=True, check=True)


def test_a_release_column_that_says_anything_else_is_not_taken_for_the_date():
    table = pl.DataFrame({"group_id": [1, 1]})
    release = dated(table, RELEASES[0])
    assert undated(release, RELEASES[0]).equals(table)
    assert "release" in undated(release, RELEASES[1]).columns
    mixed = pl.concat([release, dated(table, RELEASES[1])])
    assert "release" in undated(mixed, RELEASES[0]).columns
    assert "release" in undated(table.with_columns(release=pl.lit("x")), RELEASES[0]).columns


def audit(hospital, series, tmp_path, monkeypatch):
    """The exit code of an audit of the whole series, and what its report says."""
    truth = hospital.file(RELEASES[0]).parent
    arguments = [str(series.published_folder), "--truth", str(truth), "--contract", str(hospital.contract)]
    report = tmp_path / "report"
    monkeypatch.setattr(
        "sys.argv", ["republish", "audit", *arguments, "--out", str(report), "--seconds", "1"]
    )
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code or 0, json.loads((report / "audit.json").read_text())


def broken(report):
    return {row["promise"] for row in report["promises"] if not row["holds"]}


def vouch(folder):
    """Let manifest and sums say of the files what they are by now."""
    from republish.orchestration.storage.manifest import sums

    manifest = json.loads((folder / "manifest.json").read_text())
    for name, stated in manifest["files"].items():
        stated["sha256"] = sha256(folder / name)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "SHA256SUMS").write_text(sums(folder, manifest))


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.usefixtures("only_verdicts")
def test_an_audit_acquits_the_texts_and_their_words_once_the_contract_changed(
    hospital, series, tmp_path, monkeypatch
):
    code, report = audit(hospital, series, tmp_path, monkeypatch)
    assert (code, broken(report)) == (0, set())
    assert not [gap for gap in report["not_covered"] if "titles" in gap["what"]]
    hospital.declare(title="Another title")
    code, report = audit(hospital, series, tmp_path, monkeypatch)
    assert (code, broken(report)) == (0, set())
    assert [gap for gap in report["not_covered"] if "titles" in gap["what"]]


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize(
    ("name", "old", "new", "revised"),
    [
        ("datapackage.json", '"profile"', '"patients": "P00000001 has the flu",\n  "profile"', True),
        ("datapackage.json", '"name": "microdata"', '"name":  "microdata"', False),
        ("datapackage.json", "at least 3", "at least 9", False),
        ("datapackage.json", "at least 3", "at least 9", True),
        ("README.md", "# ", "# P00000001 has the flu ", False),
        ("README.md", "# ", "# P00000001 has the flu ", True),
    ],
)
@pytest.mark.usefixtures("only_verdicts")
def test_an_audit_finds_a_text_that_says_more_although_the_manifest_vouches_for_it(
    hospital, series, tmp_path, monkeypatch, name, old, new, revised
):
    folder = series.published(RELEASES[1])
    file = folder / name
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    vouch(folder)
    if revised:
        hospital.declare(title="Another title")
    code, report = audit(hospital, series, tmp_path, monkeypatch)
    assert code == 3
    assert broken(report) == {"file metadata"}


def test_what_is_published_of_a_series_is_the_same_bytes_when_copied(series, tmp_path):
    copy = shutil.copytree(series.published_folder, tmp_path / "copy")
    assert len(verify_series(copy)) == 2
