"""The three lines that say what an audit was given, what it looked at, and what it could not read."""

import html
import io
import json

import polars as pl
import pytest
from rich.console import Console

from republish.orchestration.audit.command import audit
from tests.orchestration.audit.bench import table, write
from tests.orchestration.audit.published_folders import run, write_series

pytestmark = pytest.mark.usefixtures("only_verdicts")


def reported(folder, **options):
    """The lines on the terminal, in the JSON and on the page."""
    console = Console(file=io.StringIO(), width=200)
    options = {"mapping": folder / "mapping.yaml"} | options
    audit(
        [folder / "published"],
        folder / "truth",
        folder / "contract.yaml",
        out=folder / "report",
        console=console,
        **options,
    )
    printed = console.file.getvalue().splitlines()
    written = json.loads((folder / "report/audit.json").read_text())["account"]
    page = html.unescape((folder / "report/audit.html").read_text())
    shown = [line.partition("</p>")[0] for line in page.split('<p class="account">')[1:]]
    in_json = [one["what"].format(*(f"{count:,}" for count in one["people"])) for one in written]
    return printed[:3], in_json, shown


def test_a_plain_table_is_accounted_for_in_the_same_words_everywhere(tmp_path):
    write(table(k=4), "dash", tmp_path)
    printed, in_json, shown = reported(tmp_path)
    assert printed == in_json == shown
    assert printed == [
        "Given: 1 release in 1 file, 48 rows; true tables of 48 people.",
        "Looked at: columns AGE, TOWN, VALUE. Searched for identifiers alone: none.",
        "Not read, or without a person: nothing.",
    ]


def test_what_says_nothing_and_what_is_ignored_is_counted(tmp_path):
    tried = table(k=4, releases=2)
    for one in tried.releases:
        for row in one.rows[:12]:
            row.cell, row.towns = "*", ["NA"]
        for row in one.rows[12:16]:
            row.towns = ["*"]
        one.rows[20].shown = ""
        for row in one.rows:
            row.more["NOTE {x}"] = "a"
    write(tried, "dash", tmp_path)
    printed, in_json, shown = reported(tmp_path)
    assert printed == in_json
    given, looked, rest = printed
    assert given.endswith("96 rows; true tables of 96 people, each counted in every release that has them.")
    assert looked == "Looked at: columns AGE, TOWN, VALUE. Searched for identifiers alone: NOTE {x}."
    assert rest.startswith("Not read, or without a person: 2 missing or unreadable entries; 56 cells that")
    assert rest.endswith("stand for anything; 24 rows that say nothing of anybody.")
    assert shown == [given, looked, rest.replace("2 missing", "fewer than 10 missing")]


def test_rows_that_their_spelling_may_tell_apart_are_counted(tmp_path):
    tried = table(k=4)
    for row in tried.first.rows:
        row.cell = f"{row.low} - {row.high}" if row.age % 2 and row.group > 3 else None
    write(tried, "dash", tmp_path)
    printed, *_ = reported(tmp_path)
    assert printed[2].endswith(": 32 rows that others of their class spell otherwise.")
    gaps = json.loads((tmp_path / "report/audit.json").read_text())["not_covered"]
    assert [gap["people"] for gap in gaps if "spelt in several ways" in gap["what"]] == [[32]]


def test_people_whom_nothing_covers_are_counted(tmp_path):
    tried = table(k=4)
    for row in tried.first.rows:
        row.low += 1
    write(tried, "dash", tmp_path)
    assert reported(tmp_path)[0][2].endswith(": 12 people whom no row with their value covers.")


@pytest.mark.slow("makes and audits three releases")
def test_a_published_folder_is_accounted_for(tmp_path):
    write_series(tmp_path)
    run(tmp_path)
    given, looked, rest = json.loads((tmp_path / "report/audit.json").read_text())["account"]
    truth = sum(pl.read_parquet(file).height for file in (tmp_path / "truth").iterdir())
    assert given["what"].startswith("Given: 3 releases in 9 files")
    assert given["people"][1] == truth
    assert looked["what"].startswith("Looked at: columns group_id, ")
    assert rest["what"] == "Not read, or without a person: nothing."


@pytest.mark.slow("takes more than a second")
def test_a_true_table_of_no_release_that_was_given_leaves_the_verdict_open(tmp_path):
    write(table(k=4, releases=3), "dash", tmp_path)
    (tmp_path / "truth/notes.csv").write_text("no,table\n")
    assert "Every promise holds." in verdict_of(tmp_path)
    for number, gone in enumerate(sorted((tmp_path / "published").iterdir())[:2], start=1):
        gone.unlink()
        printed, in_json, _ = reported(tmp_path)
        assert printed[2] == in_json[2]
        assert printed[2].endswith(f": {number} true tables of no release that was given.")
        assert verdict_of(tmp_path).startswith("No promise is broken; 1 could not be decided.")


def verdict_of(folder):
    reported(folder)
    return json.loads((folder / "report/audit.json").read_text())["verdict"]
