"""The pages for readers: each link leads somewhere, and each file of the project that they name is there."""

import json
import re
from pathlib import Path

import pytest
import typer
import yaml

from docs.notebook import NOTEBOOK, PAGE, as_text, with_outputs
from docs.reference import FOLDER, pages
from republish.orchestration.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
OURS = "anonymize|benchmarks|data_contracts|docs|orchestration|sql|tests"
PAGES = sorted(path.relative_to(ROOT) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


LONGEST_PAGE, MOST_WORDS = 2_500, 25_200
"""Words (by spaces) of a page, and of all pages of docs but those that benchmarks write."""


def anchors(page):
    """The names of a page's headings, as a web page of it has them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def links(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]


def leads_nowhere(page, link):
    file, _, anchor = link.partition("#")
    target = page.parent / file if file else page
    return not target.exists() or bool(anchor and anchor not in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_leads_somewhere(page):
    place = ROOT / page
    assert [link for link in links(place) if leads_nowhere(place, link)] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_file_that_is_named_is_there(page):
    named = re.findall(rf"`((?:{OURS})/[\w/.]*)`", (ROOT / page).read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_units_for_systemd_run_commands_that_there_are():
    for unit in ROOT.glob("docs/how-to/systemd/*.service"):
        (line,) = re.findall(r"^ExecStart=\S+/republish (.*)$", unit.read_text(), flags=re.MULTILINE)
        words = [word.replace("/backup/hospital", "x") for word in line.split()]
        command = typer.main.get_command(app).commands[words[0]]
        command.make_context(words[0], words[1:])


@pytest.mark.parametrize(("name", "text"), pages().items(), ids=pages())
def test_the_reference_is_made_from_the_code(name, text):
    assert (FOLDER / name).read_text() == text, "make it anew by python -m docs.reference"


@pytest.mark.slow("takes more than a second")
def test_the_notebook_prints_what_it_shows_and_so_does_its_page():
    stored = NOTEBOOK.read_text()
    notebook, page = with_outputs(json.loads(stored))
    assert as_text(notebook) == stored, "make it anew by python -m docs.notebook"
    assert page == PAGE.read_text()


def by_a_benchmark(page):
    return page.parts[1] == "measured" or "<!-- Made by `python -m benchmarks." in (ROOT / page).read_text()


def test_pages_stay_as_short_as_they_are():
    words = {page: len((ROOT / page).read_text().split()) for page in PAGES if page.parts[0] == "docs"}
    assert {page: number for page, number in words.items() if number > LONGEST_PAGE} == {}
    assert sum(number for page, number in words.items() if not by_a_benchmark(page)) <= MOST_WORDS


def test_every_page_is_in_the_site():
    """`mkdocs build --strict` says so, too; it is not part of the tests."""
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    named = re.findall(r"[\w/-]+\.md", str(site["nav"]))
    assert sorted(named) == sorted(str(page.relative_to("docs")) for page in PAGES if page.parts[0] == "docs")
