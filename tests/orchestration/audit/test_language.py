"""Reports in other languages: nothing is left in English, and every figure is the same."""

import gettext
import html
import json
import re
import string
from collections import Counter

import pytest
from babel.messages.pofile import read_po
from typer.testing import CliRunner

from republish.anonymize.text import Text
from republish.orchestration.cli import app as cli
from republish.orchestration.languages import language as languages
from republish.orchestration.languages.language import CATALOGUES, ENGLISH, LANGUAGES, NONE, Language
from tests.orchestration.audit.catalogue import every_text
from tests.orchestration.audit.published_folders import run, write_series

GERMAN = "de"
VERSIONS = ("audit", "handout")
NUMBER = re.compile(r"\d[\d.,]*\d|\d")
TAG = re.compile(r"<[^>]+>")
WORD = re.compile(r"[A-Za-z]{2,}")
UNSAID = {
    "SHA",
    "Definition",
    "republish",
    "json",
    "cuts",
    "private",
    "seconds",
    "audit",
    "max",
    "sensitive",
    "low",
    "high",
}
UNSAID |= {
    "renamed",
    "people_per_group",
    "Sweeney",
    "Machanavajjhala",
    "El",
    "Emam",
    "Dankar",
    "per",
    "group",
}
"""Names that are the same in every language: of options, files and contract keys."""


@pytest.fixture(scope="module", params=[True, False])
def folder(request, tmp_path_factory):
    """An audit in each language, with the private folder or without; the folder of the series."""
    place = tmp_path_factory.mktemp("audited")
    write_series(place)
    for name in LANGUAGES:
        run(place, linked=request.param, language=name, out=place / name)
    return place


def texts_of(page):
    """What is to be read on a page and in its charts."""
    body = re.sub(r"<(style|defs|metadata)\b.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(TAG.sub(" ", body)).split())


@pytest.mark.parametrize("name", LANGUAGES[1:])
def test_a_catalogue_has_every_text_and_no_other(name):
    with (CATALOGUES / f"{name}.po").open("rb") as file:
        said = {one.id: one.string for one in read_po(file) if one.id}
    assert set(said) == set(every_text())
    for english, other in said.items():
        assert other.strip(), english
        assert places(english) == places(other), english


def places(text):
    """What is filled in, and how."""
    return Counter((name, how) for _, name, how, _ in string.Formatter().parse(text) if name is not None)


class Blots(gettext.NullTranslations):
    """A language in which every letter of a text is a blot: what can be read is not from the catalogue."""

    def gettext(self, message):
        return re.sub(r"(\{[^{}]*\})|[^\W\d_]", lambda found: found[1] or "¤", message)


def test_nothing_is_left_in_english(folder, monkeypatch):
    blots = Language("en", Blots())
    monkeypatch.setattr(languages.Language, "of", lambda _: blots)
    run(folder, out=folder / "blots")
    for name in VERSIONS:
        page = (folder / f"blots/{name}.html").read_text()
        told = json.loads((folder / f"blots/{name}.json").read_text())
        names = [column["name"] for column in told["columns"]]
        names += [file[part] for file in told["read"] for part in ("file", "sha256")]
        names += [told["contract"]["principle"], told["product"], *(one["name"] for one in told["series"])]
        data = set(WORD.findall(json.dumps(names)))
        assert set(WORD.findall(texts_of(page))) - data - UNSAID == set()


@pytest.mark.parametrize("version", VERSIONS)
def test_figures_are_the_same_in_every_language(folder, version):
    counted = {}
    software = json.loads((folder / f"{ENGLISH}/{version}.json").read_text())["software"]
    for name in LANGUAGES:
        swapped = {",": ".", ".": ","} if name == GERMAN else {}
        page = (folder / f"{name}/{version}.html").read_text().replace(software, "")
        numbers = NUMBER.findall(re.sub(r"\b\d{4}-\d\d-\d\d\b|\b\d\d\.\d\d\.\d{4}\b", "", texts_of(page)))
        counted[name] = Counter(number.translate(str.maketrans(swapped)) for number in numbers)
    assert counted[GERMAN] == counted[ENGLISH]


def test_data_for_programs_is_in_english(folder):
    for version in VERSIONS:
        english, german = (json.loads((folder / f"{name}/{version}.json").read_text()) for name in LANGUAGES)
        assert german == english


def test_a_german_report_reads_as_german(folder):
    page = texts_of((folder / "de/handout.html").read_text())
    assert '<html lang="de">' in (folder / "de/handout.html").read_text()
    for words in ("Restrisiko: Ein Angreifer", "Unterschrift", "33,3 %"):
        assert words in page
    assert re.search(r"Datum und prüfende Stelle \d\d\.\d\d\.\d{4}", page)
    assert "0,3333" in page


def test_numbers_and_texts_within_texts_are_said_in_the_language():
    german = Language.of(GERMAN)
    within = Text("{count} ({span})", count=Text("{releases} releases", releases=2), span="2024-01-01")
    assert german.say(within) == "2 Veröffentlichungen (2024-01-01)"
    assert [german.figure(one) for one in (None, 4970, 0.25, 12345.6)] == [NONE, "4.970", "0,25", "12.346"]
    assert german.say(Text("{share:.1f} of {all:,}", share=0.5, all=1200)) == "0,5 of 1.200"
    assert german.say("no text of the catalogue, {but} data") == "no text of the catalogue, {but} data"
    assert german.day("2026-11-23") == "23.11.2026"


def test_a_language_without_a_catalogue_is_refused_in_a_line(tmp_path):
    words = ["audit", str(tmp_path), "--truth", ".", "--contract", "c.yaml", "--language", "fr"]
    found = CliRunner().invoke(cli.app, words)
    assert found.exit_code == 2
    assert "fr is none of en, de" in " ".join(found.output.split())
