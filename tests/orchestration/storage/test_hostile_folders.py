"""Release folders that somebody tampered with and sealed again: they hold no more than a release."""

import json
import os

import polars as pl
import pytest

from anonymize.errors import PublishedFolderError
from orchestration.storage.manifest import MANIFEST, sums, verify_release, verify_series
from orchestration.storage.store import SUMS, sha256
from tests.hospital import RELEASES

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
    "digits of another script": (says(release="202\u0664-01-01"), "its release is no date"),
}  # fmt: skip


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


def test_what_is_no_regular_file_is_not_read_as_a_manifest(series):
    folder = series.published(RELEASES[1])
    (folder / MANIFEST).unlink()
    for make in (lambda file: file.symlink_to("/dev/zero"), os.mkfifo):
        make(folder / MANIFEST)
        with pytest.raises(PublishedFolderError, match=r"has no manifest\.json that can be read"):
            verify_release(folder)
        (folder / MANIFEST).unlink()
