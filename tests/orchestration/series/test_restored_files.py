"""Files that were restored, lost or edited: the series goes on from what is certain, or refuses."""

import json
import shutil

import pytest

from republish.anonymize.errors import HomeError, PublishedFolderError
from republish.orchestration.chain.candidate import compute_candidate
from republish.orchestration.chain.delta import compare_snapshots
from republish.orchestration.chain.publication import publish
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.cli.releasing import releases_to_make
from tests.hospital import RELEASES, entered, make, published

FIRST, SECOND, THIRD = RELEASES


def prepare(series, release):
    """A release up to its committed candidate."""
    take_snapshot(series, release)
    compare_snapshots(series, release)
    compute_candidate(series, release)


def refused(error, words, work, *arguments, home):
    """Work that is refused in one line, with nothing published."""
    before = published(home)
    with pytest.raises(error, match=words) as refusal:
        work(*arguments)
    assert "\n" not in str(refusal.value)
    assert published(home) == before


# ---- the release before, put back from a copy


@pytest.mark.slow("takes more than a second")
def test_an_older_candidate_of_the_release_before_is_refused(hospital, tmp_path):
    """Its seal is whole and its audit passed; it is not the one that was published."""
    home = tmp_path / "new home"
    series = make(hospital.series(home), FIRST)
    prepare(series, SECOND)
    older = shutil.copytree(series.private(SECOND), tmp_path / "older")
    hospital.deliver(SECOND, hospital.snapshot(SECOND)[1:])
    make(series, SECOND)
    shutil.rmtree(series.private(SECOND))
    shutil.copytree(older, series.private(SECOND))
    assert series.committed(SECOND) is not None
    refused(HomeError, "are those of another candidate.*put them back", make, series, THIRD, home=home)


@pytest.mark.slow("takes more than a second")
def test_the_right_files_put_back_are_accepted(series, tmp_path):
    kept = shutil.copytree(series.private(SECOND), tmp_path / "kept")
    shutil.rmtree(series.private(SECOND))
    shutil.copytree(kept, series.private(SECOND))
    make(series, THIRD)
    assert series.is_published(THIRD)


def test_the_files_of_the_release_before_the_last_are_refused_in_its_place(series, home):
    shutil.rmtree(series.private(SECOND))
    shutil.copytree(series.private(FIRST), series.private(SECOND))
    refused(HomeError, "its working files .* are gone or were changed", make, series, THIRD, home=home)


def test_a_candidate_is_not_published_if_the_release_before_was_exchanged_meanwhile(series, home):
    prepare(series, THIRD)
    shutil.rmtree(series.private(SECOND))
    shutil.copytree(series.private(FIRST), series.private(SECOND))
    refused(HomeError, "the release before .* changed since", publish, series, THIRD, home=home)


# ---- a history that was lost


@pytest.mark.parametrize("gone", [[FIRST], [FIRST, SECOND]], ids=["the first", "all"])
def test_releases_without_a_private_folder_are_recorded_again(series, hospital, home, gone):
    before = series.history.published("hospital", "v1")
    (home / "history.duckdb").unlink()
    for release in gone:
        shutil.rmtree(series.private(release))
    again = hospital.series(home)
    releases_to_make(again, FIRST)
    releases = entered(home)
    assert releases["release"].to_list() == [FIRST, SECOND]
    assert releases["status"].to_list() == ["published", "published"]
    assert dict(releases.select("release", "manifest_sha256").iter_rows()) == before
    assert [json.loads(figures)["tuples"] >= 300 for figures in releases["figures"]] == [True, True]


@pytest.mark.parametrize("is_kept", [True, False], ids=["private folders kept", "private folders gone"])
def test_an_edited_newest_manifest_is_refused_without_a_history(series, hospital, home, is_kept):
    (home / "history.duckdb").unlink()
    if not is_kept:
        for release in (FIRST, SECOND):
            shutil.rmtree(series.private(release))
    manifest = series.published(SECOND) / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"held_back": 0', '"held_back": 1'))
    words = r"manifest.json: was changed after publication.*Put it back from a copy"
    refused(PublishedFolderError, words, releases_to_make, hospital.series(home), None, home=home)
    refused(PublishedFolderError, words, make, hospital.series(home), THIRD, home=home)


def test_a_release_that_is_gone_is_missed_without_a_history(series, hospital, home):
    (home / "history.duckdb").unlink()
    shutil.rmtree(series.published(SECOND))
    words = f"{SECOND}: was published, and is not there any more"
    refused(PublishedFolderError, words, make, hospital.series(home), SECOND, home=home)


# ---- sealed files


def edit(file, *path, to):
    """Change one entry of a JSON file, as an editor would."""
    content = json.loads(file.read_text())
    part = content
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = to
    file.write_text(json.dumps(content, indent=2))


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("terms", "sensitive"), "age"),
        (("published", SECOND), "0" * 64),
        (("published",), {}),
        (("seal",), "0" * 64),
        (("seal",), None),
    ],
)
def test_what_a_series_was_begun_with_cannot_be_edited(series, home, path, to):
    edit(series.private_folder / "series.json", *path, to=to)
    words = "series.json: says what series hospital/v1 was begun with, and is not there or was changed"
    refused(HomeError, words, make, series, THIRD, home=home)


@pytest.mark.slow("takes more than a second")
def test_an_edited_candidate_is_not_published(series, home):
    prepare(series, THIRD)
    file = series.private(THIRD) / "candidate.json"
    whole = file.read_text()
    edits = {("promises",): [], ("parameters", "m"): 9, ("figures", "held_back"): 7, ("files",): {}}
    for path, to in edits.items():
        edit(file, *path, to=to)
        refused(HomeError, "no candidate with an audit passed", publish, series, THIRD, home=home)
        file.write_text(whole)
    publish(series, THIRD)


def test_nothing_is_built_on_a_candidate_that_was_edited(series, home):
    edit(series.private(SECOND) / "candidate.json", "promises", to=[])
    refused(HomeError, "working files .* are gone or were changed", make, series, THIRD, home=home)


def test_files_formatted_anew_with_the_same_content_are_accepted(series):
    for file in (series.private_folder / "series.json", series.private(SECOND) / "candidate.json"):
        file.write_text(json.dumps(json.loads(file.read_text()), indent=None))
    make(series, THIRD)
    assert series.is_published(THIRD)
