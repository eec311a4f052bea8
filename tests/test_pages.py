"""The pages for readers: each link leads somewhere, and each file of the project that they name is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OURS = "anonymize|benchmarks|data_contracts|docs|orchestration|sql|tests"
PAGES = sorted(path.relative_to(ROOT) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


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
