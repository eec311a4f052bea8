"""The report: what an officer reads before signing, and what others are given."""

import html
import io
import json
import re
import shutil
import subprocess
from dataclasses import fields, is_dataclass, replace
from types import SimpleNamespace

import pytest
import yaml
from pypdf import PdfReader
from rich.console import Console

from republish.orchestration.audit import command
from republish.orchestration.audit.findings import AttackedSeries, Gap
from republish.orchestration.audit.gaps import _hosts_unknown
from republish.orchestration.audit.report.conclusion import READING, conclusion
from republish.orchestration.audit.report.document import _environment, describe, told
from republish.orchestration.audit.report.handout import SMALL, public_names, without_small
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


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of an audit of three releases, with the private folder, and what its report says."""
    folder = tmp_path_factory.mktemp("audited")
    write_series(folder)
    declared = yaml.safe_load((folder / "contract.yaml").read_text())
    declared["governance"] = GOVERNANCE | {"auditor": "Somebody else"}
    (folder / "contract.yaml").write_text(yaml.safe_dump(declared))
    said = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "describe", lambda *asked: said.append(describe(*asked)) or said[-1])
        run(folder, auditor="Ada Officer", purpose="Yearly review.")
    return folder, *said


@pytest.fixture(scope="module")
def audited(made):
    return made[0]


@pytest.fixture(scope="module")
def report(made):
    return made[1]


@pytest.fixture(scope="module")
def page(audited):
    return (audited / "report/audit.html").read_text()


@pytest.fixture(scope="module")
def described(audited):
    return json.loads((audited / "report/audit.json").read_text())


def section(page, title):
    """What is between a heading and the next one of its kind."""
    _, _, after = page.partition(f"<h2>{title}</h2>")
    assert after, title
    return after.partition("<h2>")[0]


def test_it_says_when_by_whom_what_for_and_with_what(page, described):
    for part in ("date", "auditor", "purpose", "software"):
        assert described[part] in page
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", described["date"])
    assert (described["auditor"], described["purpose"]) == ("Ada Officer", "Yearly review.")


def test_the_first_page_of_both_versions_says_in_sentences_what_the_contract_promises(audited):
    for name in ("audit", "handout"):
        before, _, _ = (audited / f"report/{name}.html").read_text().partition("<h2>Conclusion</h2>")
        assert "Each person keeps at least 3 possible values" in before
        assert "The contract promises" in before


def test_nothing_is_green_but_promises_that_were_kept(page, described):
    body = page.partition("<body>")[2]
    promised = section(page, "What was promised, and what was found")
    assert body.count('class="yes"') == promised.count('class="yes"') == len(described["promises"])
    assert body.count("good") == section(page, "Conclusion").count("good") == 1


def test_what_is_not_promised_stands_apart_and_beside_no_line_of_what_is(page, described):
    figures = section(page, "Figures that are not promised")
    assert (
        described["series"][0]["releases"][-1]["figures"]["largest_breach_probability"] > 1 / 3
    )  # above the largest share, which is promised
    for not_promised in ("Largest breach probability", "Smallest equivalence attack", "ever had it"):
        assert not_promised in figures
        assert not_promised not in section(page, "What was promised, and what was found")
    assert "promised: at" not in figures
    assert "promised: at least" in section(page, "What was promised, and what was found")


def test_the_handout_has_no_chart_of_what_is_not_promised_and_says_so_of_each_figure(audited, page):
    handout = (audited / "report/handout.html").read_text()
    captions = [re.findall(r"<figcaption>(.*?)</figcaption>", one) for one in (page, handout)]
    assert len([one for one in captions[0] if "Not promised." in one]) >= 2
    assert captions[1] == [one for one in captions[0] if "Not promised." not in one]
    said = "Nothing is promised about these figures"
    for title in ("What is left", "Measures of each release by itself", "What the releases are worth"):
        assert said in section(handout, title)
    assert "The contract promises nothing about what follows." in section(
        handout, "Figures that are not promised"
    )


def test_what_does_not_move_over_the_releases_is_said_and_not_drawn(page, described):
    risk = [one["figures"]["risk_by_host"] for one in described["series"][0]["releases"]]
    assert len(set(risk)) == 1
    promised = section(page, "What was promised, and what was found")
    assert f"The same in every release: knowing quasi-identifiers: {risk[0]:.4g}" in promised
    for chart in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        lines = re.findall(r'stroke="#(?:1f77b4|ff7f0e|2ca02c|d62728)"', chart)
        heights = set(re.findall(r'cy="([^"]*)"', chart))
        assert not lines or len(heights) > 1


def test_a_breach_probability_that_is_promised_is_no_mere_figure(audited, tmp_path):
    folder = shutil.copytree(audited, tmp_path / "copy")
    declared = yaml.safe_load((folder / "contract.yaml").read_text())
    declared["principle"] = {"name": "global_guarantee", "l": 2, "strategy": "geometric", "a": 0.5}
    (folder / "contract.yaml").write_text(yaml.safe_dump(declared))
    code, broken = run(folder)
    assert (code, broken) == (3, {"breach probability"})
    page = (folder / "report/audit.html").read_text()
    promised = section(page, "What was promised, and what was found")
    figures = section(page, "Figures that are not promised")
    assert "ever had it" in promised
    assert "promised: at most 0.5" in promised
    assert "ever had it" not in figures
    assert "candidate values" in figures
    assert "promised: at" not in figures
    assert "the largest share that is promised" not in figures


def test_an_attack_that_learns_is_a_figure_beside_what_is_guessed_without(page, described):
    guesses = described["series"][0]["releases"][-1]["guesses"]
    assert guesses["at_random"] == pytest.approx(1 / 3, abs=0.02)
    text = " ".join(section(page, "Figures that are not promised").split())
    assert f"is right about {100 * guesses['learned']:.1f} % of the people" in text
    assert "(the largest share that is promised for a group is 33.3 %)" in text
    assert f"{100 * guesses['most_frequent']:.1f} % by always naming the most frequent value" in text
    assert re.search(r"The first share is larger by -?[\d.]+ percentage points", text)


def test_where_one_group_covers_each_person_it_says_what_was_not_checked(audited, tmp_path):
    folder = shutil.copytree(audited, tmp_path / "copy")
    run(folder, linked=False)
    gaps = json.loads((folder / "report/audit.json").read_text())["not_covered"]
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
    said = described["conclusion"]
    assert f"<p>{said.replace(chr(39), '&#39;')}</p>" in page
    assert "\n" not in said
    assert "Ada Officer attacked 3 releases (2024-01-01 to 2024-03-01)" in said
    assert "Every promise holds." in said
    assert "Promised: at least 3; found: 3. This keeps the promise." in said
    assert (
        f"Not covered by this audit: {len(described['not_covered'])} things, listed below with the reasons."
        in said
    )


def test_vulnerable_people_below_promises_that_hold_are_explained(described):
    template = _environment().get_template("report.html.j2")
    plots = [[] for _ in described["series"]]
    words = "takes values before and after a change for one, and is not promised"
    for vulnerable in (0, 12):
        (series,) = described["series"]
        rows = [
            row | {"vulnerable": vulnerable * (row["linked"] == "person")} for row in series["intersection"]
        ]
        told = described | {"series": [series | {"intersection": rows}]}
        assert (words in template.render(**told, plots=plots, is_internal=True)) == (vulnerable > 0)
        told["promises"] = [row for row in told["promises"] if "candidates" not in row["promise"]]
        elsewhere = "is not promised here" in template.render(**told, plots=plots, is_internal=True)
        assert elsewhere == (vulnerable > 0)


def test_every_table_of_promises_says_how_it_is_to_be_read(audited, tmp_path, page):
    printed = io.StringIO()
    run(shutil.copytree(audited, tmp_path / "copy"), console=Console(file=printed, width=140))
    for shown in (page, (audited / "report/handout.html").read_text(), printed.getvalue()):
        assert READING in " ".join(shown.split())


def test_a_broken_promise_is_in_the_conclusion_and_nothing_is_praised(audited, tmp_path):
    folder = shutil.copytree(audited, tmp_path / "copy")
    forge(folder / f"published/hospital/v1/{NAMES[-1]}", tuples=1)
    code, broken = run(folder)
    assert (code, broken) == (3, {"manifest claims"})
    told = json.loads((folder / "report/audit.json").read_text())
    assert (
        "1 of 22 promises is broken. Broken: manifest claims. Releases concerned: 2024-03-01."
        in told["conclusion"]
    )
    page = (folder / "report/audit.html").read_text()
    assert "good" not in page.partition("<body>")[2]
    assert 'class="verdict bad"' in page


def test_what_could_not_be_decided_is_not_green(report):
    row = replace(report.promises[0], undecided=3)
    verdict = "No promise is broken; 1 could not be decided."
    told = conclusion(replace(report, promises=[row], verdict=verdict), is_internal=True)
    assert "Every promise holds" not in told
    assert "1 could not be decided" in told


def test_every_column_is_there_with_what_became_of_it(page, described):
    rows = {row["name"]: row for row in described["columns"]}
    assert list(rows) == ["patient", "age", "zipcode", "sex", "disease"]
    assert rows["patient"]["published"] == "removed"
    assert rows["age"]["domain"] == "0 to 99, whole numbers"
    assert rows["sex"]["domain"] == "F, M"
    assert rows["sex"]["hierarchy"] == "declared order"
    assert rows["age"]["published"].startswith("age_low: lowest age in the group; age_high")
    assert rows["disease"]["domain"] == "8 declared values"
    for row in rows.values():
        assert row["published"] in section(page, "How columns are transformed")


def test_it_says_what_the_releases_are_worth(page, described):
    worth = section(page, "What the releases are worth")
    for release in described["series"][0]["releases"]:
        assert release["useful"]["query_error"] > 0
        assert f"{100 * release['useful']['query_error']:.1f} %" in worth
    assert "mean interval width" in worth
    assert "people held back" in worth


@pytest.mark.parametrize("name", ["audit", "handout"])
def test_the_contract_says_who_answers_for_the_releases(audited, name):
    told = json.loads((audited / f"report/{name}.json").read_text())
    assert told["governance"] == GOVERNANCE
    assert told["auditor"] == "Ada Officer"  # who the audit is told, before whom the contract names
    page = html.unescape((audited / f"report/{name}.html").read_text())
    assert all(f"<td>{words}</td>" in page for words in GOVERNANCE.values())


def test_the_contract_may_name_the_auditor(audited, tmp_path):
    folder = shutil.copytree(audited, tmp_path / "copy")
    run(folder)
    assert json.loads((folder / "report/audit.json").read_text())["auditor"] == "Somebody else"


@pytest.mark.parametrize("name", ["audit", "handout"])
def test_every_audit_has_the_measures_of_one_table(audited, name):
    told = json.loads((audited / f"report/{name}.json").read_text())
    figures = section((audited / f"report/{name}.html").read_text(), "Measures of each release by itself")
    for release in told["series"][0]["releases"]:
        risks = release["reidentification"]
        assert (risks["k"], risks["l"]) == (3, 3)
        assert risks["prosecutor_risk"] == pytest.approx(1 / 3)
        assert risks["marketer_risk"] <= risks["journalist_risk"] <= risks["prosecutor_risk"]
        assert f">{100 * risks['marketer_risk']:.1f} %<" in figures


@pytest.mark.parametrize("name", ["audit", "handout"])
def test_the_conclusion_says_what_risk_remains_on_a_scale(audited, name):
    told = json.loads((audited / f"report/{name}.json").read_text())
    risk = told["residual_risk"]
    worst = max((one["guesses"] for one in told["series"][0]["releases"]), key=lambda one: one["learned"])
    assert (risk["guessed"], risk["without"]) == (worst["learned"], worst["most_frequent"])
    assert risk["promised"] == pytest.approx(1 / 3)
    assert f"guesses {100 * worst['learned']:.0f} % of the people's values right" in told["conclusion"]
    assert f"the most frequent value, {100 * worst['most_frequent']:.0f} %." in told["conclusion"]
    assert "33 % is the most that the contract allows" in told["conclusion"]
    assert "Learning is not limited: " in told["conclusion"]


def test_without_a_promise_and_without_a_guess_the_conclusion_claims_no_limit(report):
    limitless = replace(report, residual_risk=replace(report.residual_risk, promised=None))
    assert "The contract does not limit it." in conclusion(limitless, is_internal=True)
    assert "Residual risk" not in conclusion(replace(report, residual_risk=None), is_internal=True)


@pytest.mark.parametrize(
    ("guessed", "said"),
    [
        (0.38, "Learning is not limited: to be right more often breaks no promise."),
        (0.34, "it is as often right, but for chance."),
        (0.30, "is right less often."),
    ],
)
def test_a_guess_above_what_is_promised_is_said_to_be_no_breach(report, guessed, said):
    risk = replace(report.residual_risk, guessed=guessed, promised=1 / 3, error=0.007)
    assert said in conclusion(replace(report, residual_risk=risk), is_internal=True)


@pytest.mark.parametrize(
    ("is_internal", "said"), [(True, "signature: 3."), (False, "signature: fewer than 10.")]
)
def test_people_with_two_values_under_one_signature_are_named_in_the_conclusion(report, is_internal, said):
    assert "under one signature" not in conclusion(report, is_internal=is_internal)
    *before, series = report.series
    last = series.releases[-1]
    changed = replace(last, figures={**last.figures, "alike": 3})
    series = replace(series, releases=[*series.releases[:-1], changed])
    said_of = conclusion(replace(report, series=[*before, series]), is_internal=is_internal)
    assert f"People of {last.release} with two values under one {said}" in said_of


def test_it_ends_with_a_glossary_and_a_place_to_sign(page):
    for term in ("Quasi-identifier", "Counterfeit", "Signature", "Candidate values", "Breach probability"):
        assert f"<dt>{term}</dt>" in section(page, "Glossary")
    assert "Place and date" in section(page, "Signatures")
    assert page.index("<h2>Glossary</h2>") < page.index("<h2>Annex: equivalence, by signature</h2>")
    assert page.index("<h2>Glossary</h2>") < page.index("<h2>Annex: what was read</h2>")


# ---- the version to hand out


def test_what_is_handed_out_has_no_path_and_no_private_file(audited):
    for name in ("handout.html", "handout.json"):
        told = (audited / "report" / name).read_text()
        assert str(audited) not in told
        assert not re.search(r"linkage|truth/|contract\.yaml|/tmp|/private/", told)
    read = json.loads((audited / "report/handout.json").read_text())["read"]
    files = ("counterfeits.parquet", "manifest.json", "microdata.parquet")
    assert [file["file"] for file in read] == [
        f"hospital/v1/{name}/{file}" for name in NAMES for file in files
    ]


def small_counts(told, within=""):
    """Where a count of people from 1 to 9 is left."""
    people = ("people", "broken", "undecided", "held_back", "vulnerable", "attacked", "empty", "changed")
    if isinstance(told, dict) and told.get("of_people") is False:
        return []
    if isinstance(told, dict):
        return [found for key, part in told.items() for found in small_counts(part, key)]
    if isinstance(told, list):
        return [found for part in told for found in small_counts(part, within)]
    is_small = isinstance(told, int) and not isinstance(told, bool) and 0 < told < SMALL
    return [(within, told)] if within in people and is_small else []


def test_what_is_handed_out_has_no_small_count(audited, report):
    few = [replace(row, people=9, broken=2, undecided=1) for row in report.promises]
    asked = [replace(row, holds=False, promise=f"{row.promise}, asked") for row in few]
    gap = Gap("the groups of {} of {} people", "…", (3, 300), "hospital/v1")
    (series,) = report.series
    first, *others = series.releases
    series = replace(series, releases=[replace(first, useful=replace(first.useful, held_back=4)), *others])
    with_few = replace(report, promises=few, asked=asked, not_covered=[gap], series=[series])
    assert small_counts(told(with_few, is_internal=True))  # there would be some
    shown = told(with_few, is_internal=False)
    assert small_counts(shown) == []
    (coverage,) = [row for row in shown["promises"] if row["promise"] == "coverage"]
    assert [coverage[part] for part in ("people", "broken", "undecided")] == ["fewer than 10"] * 3
    assert shown["not_covered"][0]["people"] == ["fewer than 10", 300]
    assert shown["series"][0]["releases"][0]["useful"]["held_back"] == "fewer than 10"
    assert "coverage, asked: asked for everybody, missed for fewer than 10" in shown["conclusion"]
    written = json.loads((audited / "report/handout.json").read_text())
    for version in (shown, written):
        (one,) = version["series"]
        assert not {"candidates", "columns", "exact_risks"} & one.keys()
        assert not {"findings", "figures"} & {key for release in one["releases"] for key in release}
        assert one["equivalence"] == one["intersection"] == []
    assert small_counts(written) == []


def test_a_series_that_is_known_by_its_path_is_named_without_it_wherever_it_is_named(report):
    def named(part):
        if is_dataclass(part):
            return replace(part, **{one.name: named(getattr(part, one.name)) for one in fields(part)})
        if isinstance(part, list):
            return [named(one) for one in part]
        return "/home/ada/v1" if part == "hospital/v1" else part

    assert "/home/ada" in json.dumps(told(named(report), is_internal=True))
    shown = json.dumps(told(named(report), is_internal=False))
    assert "/home/ada" not in shown
    assert '"series": "v1"' in shown


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


@needs_chromium
@pytest.mark.parametrize("name", ["audit", "handout"])
def test_it_prints_on_a4_with_page_numbers_and_no_cut_column(audited, tmp_path, name):
    page = (audited / f"report/{name}.html").read_text()
    document = printed(audited / f"report/{name}.html", tmp_path / "report.pdf")
    sheets, pieces = read_pdf(document)
    assert {tuple(round(side) for side in sheet.mediabox[2:]) for sheet in document.pages} == {(595, 842)}
    for number, sheet in enumerate(sheets, start=1):
        assert f"Page {number} of {len(sheets)}" in " ".join(sheet.split())
    assert not is_cut(document, pieces)
    assert "Handwritten signature" in sheets[0]
    everything = plain("".join(sheets))
    for heading in re.findall(r"<th[^>]*>([^<{]+)</th>", page):
        assert plain(html.unescape(heading)) in everything, heading


@needs_chromium
@pytest.mark.parametrize("lines", range(0, 48, 6))
def test_a_place_to_sign_is_never_alone_on_a_page(audited, tmp_path, lines):
    """However far the text before it goes, it comes with what is signed, and some of what was not covered."""
    page = (audited / "report/handout.html").read_text()
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


@needs_chromium
def test_a_column_that_is_cut_would_be_found(tmp_path):
    cells = "".join(f"<td style='white-space: nowrap'>column {number}</td>" for number in range(40))
    (tmp_path / "wide.html").write_text(
        f"<style>@page {{ size: A4; margin: 15mm }}</style><table><tr>{cells}</table>"
    )
    document = printed(tmp_path / "wide.html", tmp_path / "wide.pdf")
    (sheet,), pieces = read_pdf(document)
    assert is_cut(document, pieces)
    assert "column 39" not in sheet
