"""The report: the page that anybody may read, and all figures for the auditor."""

import copy
import html
import io
import json
import re
import shutil
import stat
import subprocess
from types import SimpleNamespace

import polars as pl
import pytest
import yaml
from pypdf import PdfReader
from rich.console import Console

from republish.orchestration.audit.findings import AttackedSeries
from republish.orchestration.audit.gaps import _hosts_unknown
from republish.orchestration.audit.report.coarse import SMALL, coarse, public_names, without_small
from republish.orchestration.audit.report.page import page as page_of
from republish.orchestration.audit.report.page import shown
from republish.orchestration.audit.report.raw import _steady
from republish.orchestration.audit.report.words import reading
from tests.orchestration.audit.published_folders import NAMES, forge, run, write_series

CHROMIUM = next(
    filter(
        None, map(shutil.which, ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"))
    ),
    None,
)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to print with")
MARGIN = 15 / 25.4 * 72
"""Of a printed page, in points."""
UNSHRUNK = 0.74
"""A pixel is 0.75 points on paper, if nothing is too wide."""

GOVERNANCE = {
    "controller": "The hospital & its board",
    "purpose": "Research on diseases.",
    "legal_basis": "Section 6 of a made-up act",
    "recipients": "Researchers of two institutes",
    "retention": "Ten years",
}
FOUND, LEFT = "What was found", "What is left"


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """The folder of an audit of three releases, with the private folder."""
    folder = tmp_path_factory.mktemp("audited")
    write_series(folder)
    declared = yaml.safe_load((folder / "contract.yaml").read_text())
    declared["governance"] = GOVERNANCE | {"auditor": "Somebody else"}
    (folder / "contract.yaml").write_text(yaml.safe_dump(declared))
    run(folder, auditor="Ada Officer", purpose="Yearly review.")
    return folder


@pytest.fixture(scope="module")
def page(audited):
    return (audited / "report/audit.html").read_text()


@pytest.fixture(scope="module")
def described(audited):
    return json.loads((audited / "report/audit.json").read_text())


@pytest.fixture(scope="module")
def again(audited, tmp_path_factory):
    """The report's folder of another audit, without the private folder, and what it printed."""
    folder = shutil.copytree(audited, tmp_path_factory.mktemp("again") / "copy")
    (folder / "report/audit.json").chmod(0o644)
    run(folder, linked=False, console=Console(file=(printed := io.StringIO()), width=140))
    return folder / "report", printed.getvalue()


def text_of(found):
    """The words of the page of what was found, without charts."""
    return words(page_of(found, [[]] * len(found["series"])))


def words(page):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.partition("<body>")[2])).split())


def section(page, title):
    """What is between a heading and the next one of its kind."""
    _, _, after = page.partition(f"<h2>{title}</h2>")
    assert after, title
    return after.partition("<h2>")[0]


@pytest.mark.slow("takes more than a second")
def test_it_says_when_by_whom_what_for_and_with_what(page, described):
    for part in ("date", "auditor", "purpose", "software"):
        assert described[part] in page
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", described["date"])
    assert (described["auditor"], described["purpose"]) == ("Ada Officer", "Yearly review.")


@pytest.mark.slow("takes more than a second")
def test_it_says_what_was_promised_against_whom_found_left_and_not_covered_and_has_a_place_to_sign(page):
    titles = re.findall(r"<h2>(.*?)</h2>", page)
    against = "What was promised, and against whom"
    assert titles[:6] == ["Conclusion", against, FOUND, LEFT, "What was not covered", "Signatures"]
    promised = section(page, against)
    assert "Each person keeps at least 3 possible values" in promised
    assert "everybody&#39;s exact quasi-identifiers" in promised
    assert "Place and date" in section(page, "Signatures")


def test_nothing_is_green_but_promises_that_were_kept(page, described):
    body, kept = page.partition("<body>")[2], 'class="yes"'
    assert body.count(kept) == section(page, FOUND).count(kept) == len(described["promises"])
    assert body.count("good") == section(page, "Conclusion").count("good") == 1


def test_what_is_not_promised_stands_apart_and_beside_no_line_of_what_is(page, described):
    largest = described["series"][0]["releases"][-1]["figures"]["largest_breach_probability"]
    assert largest > 1 / 3  # above the largest share, which is promised
    left = section(page, LEFT)
    for not_promised in ("Largest breach probability", "Smallest equivalence attack"):
        assert not_promised in left
        assert not_promised not in section(page, FOUND)
    assert "promised: at" not in left
    assert "<svg" not in left
    assert "promised: at least" in section(page, FOUND)
    assert "The contract promises nothing about what follows." in left


def test_what_does_not_move_over_the_releases_is_said_and_not_drawn(page, described):
    risk = [one["figures"]["risk_by_host"] for one in described["series"][0]["releases"]]
    assert len(set(risk)) == 1
    assert f"The same in every release: knowing quasi-identifiers: {risk[0]:.4g}" in section(page, FOUND)


@pytest.mark.slow("takes more than a second")
def test_a_breach_probability_that_is_promised_is_no_mere_figure(audited, tmp_path):
    folder = shutil.copytree(audited, tmp_path / "copy")
    declared = yaml.safe_load((folder / "contract.yaml").read_text())
    declared["principle"] = {"name": "global_guarantee", "l": 2, "strategy": "geometric", "a": 0.5}
    (folder / "contract.yaml").write_text(yaml.safe_dump(declared))
    code, broken = run(folder)
    assert (code, broken) == (3, {"breach probability"})
    page = (folder / "report/audit.html").read_text()
    assert "ever had it" in section(page, FOUND)
    assert "promised: at most 0.5" in section(page, FOUND)
    assert "<svg" in section(page, FOUND)  # it grows
    for not_said in ("ever had it", "promised: at", "the largest share that is promised"):
        assert not_said not in section(page, LEFT)


def test_an_attack_that_learns_is_a_figure_beside_what_is_guessed_without(page, described):
    guesses = described["series"][0]["releases"][-1]["guesses"]
    assert guesses["at_random"] == pytest.approx(1 / 3, abs=0.02)
    text = words(f"<body>{section(page, LEFT)}")
    for name in ("learned", "at_random", "most_frequent"):
        assert f"{100 * coarse(guesses[name], guesses['people']):.1f} %" in text
    assert "the largest share that is promised for a group is 33.3 %" in text
    assert re.search(r"in other releases, by -?[\d.]+ percentage points", text)


@pytest.mark.slow("takes more than a second")
def test_where_one_group_covers_each_person_it_says_what_was_not_checked(again):
    gaps = json.loads((again[0] / "audit.json").read_text())["not_covered"]
    about_groups = [gap for gap in gaps if "no private folder was given" in gap["why"]]
    assert about_groups
    assert all(gap["people"][:1] != [0] for gap in about_groups)
    exact = AttackedSeries("v1", [_release(people=300, hosts_known=300)], [])
    assert _hosts_unknown(exact).what == "whether people are in the groups that the publisher put them in"
    some = AttackedSeries("v1", [_release(people=300, hosts_known=290)], [])
    assert _hosts_unknown(some).people == (10, 300)


def _release(**figures):
    attack = SimpleNamespace(figures={"promises": 1, "broken_promises": 0} | figures)
    return SimpleNamespace(attack=attack)


def test_the_conclusion_is_one_paragraph_with_the_promise_that_matters(page, described):
    said = words(f"<body>{section(page, 'Conclusion')}")
    assert section(page, "Conclusion").count("<p>") == 1
    for sentence in (
        "Ada Officer attacked 3 releases (2024-01-01 to 2024-03-01)",
        "Every promise holds.",
        "Promised: at least 3; found: 3. This keeps the promise.",
        f"Not covered by this audit: {len(described['not_covered'])} things, listed below with the reasons.",
    ):
        assert sentence in said


@pytest.mark.slow("takes more than a second")
def test_every_table_of_promises_says_how_it_is_to_be_read(again, page):
    for text in (page, again[1]):
        assert reading(of_rows=False) in " ".join(text.split())


@pytest.mark.slow("takes more than a second")
@pytest.mark.usefixtures("only_verdicts")
def test_a_broken_promise_is_in_the_conclusion_and_nothing_is_praised(audited, tmp_path):
    folder = shutil.copytree(audited, tmp_path / "copy")
    forge(folder / f"published/hospital/v1/{NAMES[-1]}", tuples=1)
    code, broken = run(folder)
    assert (code, broken) == (3, {"manifest claims"})
    page = (folder / "report/audit.html").read_text()
    said = words(f"<body>{section(page, 'Conclusion')}")
    assert "1 of 22 promises is broken." in said
    assert "Broken: manifest claims." in said
    assert "manifest claims , hospital/v1, in 2024-03-01: 1 of 6." in said
    assert "good" not in page.partition("<body>")[2]
    assert 'class="verdict bad"' in page


def test_what_could_not_be_decided_is_not_green(described):
    row = described["promises"][0] | {"undecided": 300}
    told = described | {"promises": [row], "verdict": "No promise is broken; 1 could not be decided."}
    assert 'class="verdict "' in page_of(told, [[]])
    assert "This could not be decided for everybody." in text_of(told)


def test_the_contract_says_who_answers_for_the_releases(page, described):
    assert described["governance"] == GOVERNANCE
    assert described["auditor"] == "Ada Officer"  # who the audit is told, before whom the contract names
    assert all(f"<td>{said}</td>" in html.unescape(page) for said in GOVERNANCE.values())


def test_the_contract_may_name_the_auditor(again):
    assert json.loads((again[0] / "audit.json").read_text())["auditor"] == "Somebody else"


def test_every_audit_has_the_measures_of_one_table(page, described):
    (series,) = shown(described)["series"]
    assert [one["release"] for one in series["measures"]] == list(NAMES)
    for one in series["measures"]:
        assert (one["k"], one["l"]) == (3, 3)
        assert one["prosecutor"] == pytest.approx(1 / 3)
        assert one["marketer"] <= one["journalist"] <= one["prosecutor"]
        assert f">{100 * one['marketer']:.1f} %<" in section(page, LEFT)


def test_the_conclusion_says_what_risk_remains_on_a_scale(page, described):
    risk = described["residual_risk"]
    guesses = [one["guesses"] for one in described["series"][0]["releases"]]
    worst = max(guesses, key=lambda one: one["learned"])
    assert (risk["guessed"], risk["without"]) == (worst["learned"], worst["most_frequent"])
    assert risk["promised"] == pytest.approx(1 / 3)
    said = words(f"<body>{section(page, 'Conclusion')}")
    learned, frequent = (coarse(worst[name], worst["people"]) for name in ("learned", "most_frequent"))
    assert f"guesses {100 * learned:.1f} % of the people's values right" in said
    assert f"the most frequent value, {100 * frequent:.1f} %." in said
    assert "33.3 % is the most that the contract allows" in said
    assert "Learning is not limited: " in said


def test_without_a_promise_and_without_a_guess_the_conclusion_claims_no_limit(described):
    limitless = described | {"residual_risk": described["residual_risk"] | {"promised": None}}
    assert "The contract does not limit it." in text_of(limitless)
    assert "Residual risk" not in text_of(described | {"residual_risk": None})


@pytest.mark.parametrize(
    ("guessed", "said"),
    [
        (0.38, "Learning is not limited: to be right more often breaks no promise."),
        (0.34, "it is as often right, but for chance."),
        (0.30, "it is right less often."),
    ],
)
def test_a_guess_above_what_is_promised_is_said_to_be_no_breach(described, guessed, said):
    risk = described["residual_risk"] | {
        "guessed": guessed,
        "promised": 1 / 3,
        "error": 0.01,
        "people": 9_000,
    }
    assert said in text_of(described | {"residual_risk": risk})


def test_people_with_two_values_under_one_signature_are_named_in_the_conclusion(described):
    assert "under one signature" not in text_of(described)
    found = copy.deepcopy(described)
    last = found["series"][0]["releases"][-1]
    last["figures"]["alike"] = 3
    said = f"People of {last['release']} with two values under one signature: fewer than 10."
    assert said in text_of(found)


# ---- who may read what


def test_the_page_has_no_path_no_private_file_and_nobody_s_identifier(audited, page):
    assert str(audited) not in page
    assert not re.search(r"linkage|truth/|contract\.yaml|/tmp|/private/", page)
    everybody = pl.concat([pl.read_parquet(file) for file in (audited / "truth").glob("*.parquet")])
    for column in ("patient", "disease"):
        assert not any(one in page for one in everybody[column].unique())
    files = ("counterfeits.parquet", "manifest.json", "microdata.parquet")
    read = re.findall(r"<td><code>(hospital/[^<]*)</code>", section(page, "What was read"))
    assert read == [f"hospital/v1/{name}/{file}" for name in NAMES for file in files]


def test_all_figures_are_for_the_owner_of_the_file_alone(audited, again):
    for report in (audited / "report", again[0]):
        assert stat.S_IMODE((report / "audit.json").stat().st_mode) == 0o600


def small_counts(told, within=""):
    """Where a count of people from 1 to 9 is left."""
    people = ("people", "broken", "undecided", "alike", "lone_ends")
    if isinstance(told, dict) and told.get("of_people") is False:
        return []
    if isinstance(told, dict):
        return [found for key, part in told.items() for found in small_counts(part, key)]
    if isinstance(told, list):
        return [found for part in told for found in small_counts(part, within)]
    is_small = isinstance(told, int) and not isinstance(told, bool) and 0 < told < SMALL
    return [(within, told)] if within in people and is_small else []


def test_the_page_has_no_small_count(described):
    found = copy.deepcopy(described)
    for row in found["promises"]:
        row |= {"people": 9, "broken": 2, "undecided": 1}
    found["asked"] = [
        row | {"holds": False, "promise": f"{row['promise']}, asked"} for row in found["promises"]
    ]
    about = {"what": "the groups of {} of {} people", "why": "…", "people": [3, 300], "series": "hospital/v1"}
    found["not_covered"] = [about]
    found["series"][0]["releases"][0]["figures"]["lone_ends"] = 4
    deferred = {"figure": "deferred", "found": 7, "words": "Held back: {}.", "people": None}
    found["series"][0]["not_promised"] = [deferred]
    assert small_counts(found)  # there would be some
    told = shown(found)
    assert small_counts(told) == small_counts(shown(described)) == []
    (coverage,) = [row for row in told["promises"] if row["promise"] == "coverage"]
    assert [coverage[part] for part in ("people", "broken", "undecided")] == ["fewer than 10"] * 3
    said = text_of(found)
    assert "the groups of fewer than 10 of 300 people" in said
    assert "Held back: fewer than 10." in said
    assert "coverage, asked: asked for everybody, missed for fewer than 10" in said
    # Figures of the tables as a whole are not for the template at all.
    (series,) = told["series"]
    assert not {"candidates", "exact_risks", "equivalence", "intersection"} & series.keys()
    assert isinstance(series["releases"], int)


def test_a_series_that_is_known_by_its_path_is_named_without_it_wherever_it_is_named(described):
    named = json.loads(json.dumps(described).replace('"hospital/v1"', '"/home/ada/v1"'))
    assert named != described
    assert "/home/ada" not in json.dumps(shown(named))
    assert shown(named)["promises"][0]["series"] == "v1"


def test_series_that_are_known_by_their_paths_are_named_without():
    assert public_names(["/home/ada/one/v1", "/home/ada/two/v1", "hospital/v2"]) == {
        "/home/ada/one/v1": "v1 (1)",
        "/home/ada/two/v1": "v1 (2)",
        "hospital/v2": "hospital/v2",
    }


# ---- paper


def printed(file, pdf):
    words = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    told = [f"--user-data-dir={pdf.parent / 'profile'}", f"--print-to-pdf={pdf}", str(file)]
    subprocess.run([*words, *told], check=True, capture_output=True, timeout=120)
    return PdfReader(pdf)


def read_pdf(document):
    """The text of each sheet, and each piece of text that lies flat: where it begins and ends, and its
    scale."""
    pieces = []

    def look(text, cm, tm, _font, size):
        begins, is_flat = tm[4] * cm[0] + cm[4], not (tm[1] or cm[1])
        if text.strip() and is_flat:
            # No letter is narrower than a third of its height, on average.
            pieces.append((begins, begins + size * cm[0] * len(text.strip()) / 3, cm[0]))

    return [sheet.extract_text(visitor_text=look) for sheet in document.pages], pieces


def is_cut(document, pieces):
    """Whether something is too wide: then Chromium prints all of it smaller, and leaves out a part in the
    end."""
    _, _, scale = pieces[0]
    width = float(document.pages[0].mediabox.width)
    return scale < UNSHRUNK or not all(
        MARGIN - 1 <= begins <= ends <= width - MARGIN + 1 for begins, ends, _ in pieces
    )


def plain(text):
    """Letters alone: ligatures, hyphens and line breaks differ between a page and a PDF."""
    return re.sub(r"\s|-", "", text.replace("\ufb01", "fi").replace("\ufb02", "fl"))


@pytest.mark.parametrize(
    ("count", "shown"),
    [(None, None), (0, 0), (1, f"fewer than {SMALL}"), (SMALL - 1, f"fewer than {SMALL}"), (SMALL, SMALL)],
)
def test_small_counts_are_not_handed_out_and_none_at_all_is_said(count, shown):
    """Nobody for whom a promise is broken is no small count: a reader has to see that it is kept."""
    assert without_small(count) == shown


@pytest.mark.slow("takes more than a second")
@needs_chromium
def test_it_prints_on_a4_with_page_numbers_and_no_cut_column(audited, tmp_path, page):
    document = printed(audited / "report/audit.html", tmp_path / "report.pdf")
    sheets, pieces = read_pdf(document)
    assert {tuple(round(side) for side in sheet.mediabox[2:]) for sheet in document.pages} == {(595, 842)}
    for number, sheet in enumerate(sheets, start=1):
        assert f"Page {number} of {len(sheets)}" in " ".join(sheet.split())
    assert not is_cut(document, pieces)
    everything = plain("".join(sheets))
    for heading in re.findall(r"<th[^>]*>([^<{]+)</th>", page):
        assert plain(html.unescape(heading)) in everything, heading


@pytest.mark.slow("draws many pages")
@needs_chromium
@pytest.mark.parametrize("lines", range(0, 48, 6))
def test_a_place_to_sign_is_never_alone_on_a_page(page, tmp_path, lines):
    """However far the text before it goes, it comes with what is signed, and some of what was not covered."""
    (tmp_path / "long.html").write_text(
        page.replace("</ul>\n\n<section", "<li>One more.</li>" * lines + "</ul>\n\n<section")
    )
    document = printed(tmp_path / "long.html", tmp_path / "long.pdf")
    (sheet,) = (text for text in read_pdf(document)[0] if "Place and date" in text)
    around, signed, boxes = plain(sheet).partition("SignaturesAuditof")
    assert signed
    assert plain("Every promise holds.") in boxes
    assert boxes.count("Placeanddate") == 2
    assert "Onemore." in around or plain("for download") in around


def test_figures_do_not_depend_on_the_order_in_which_they_are_added_up():
    forth, back = sum([0.1, 0.2, 0.3]), sum([0.3, 0.2, 0.1])
    assert forth != back
    assert _steady({"ncp": forth, "widths": {"age": forth}, "queries": 3, "median": None}) == {
        "ncp": back,
        "widths": {"age": back},
        "queries": 3,
        "median": None,
    }
