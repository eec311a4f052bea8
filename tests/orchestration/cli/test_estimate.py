"""`republish estimate`, as a researcher types it."""

import csv
import io
import json
import shutil

import numpy as np
import polars as pl
import pytest
import yaml

from republish.orchestration.cli import estimate as command
from republish.orchestration.cli.estimate import NOBODY
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.readers.estimate.command import remarks
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.manifest import MANIFEST
from tests.clinic import CLINIC
from tests.hospital import RELEASES, make

DATE = "2024-01-01"
PEOPLE = 60


@pytest.fixture(scope="module")
def staff(tmp_path_factory):
    """The release of a CSV file, with exact quasi-identifiers: its truth, and its folder."""
    folder = tmp_path_factory.mktemp("staff")
    people = pl.DataFrame(
        {
            "person": [f"P{number}" for number in range(PEOPLE)],
            "born": [f"{1950 + number % 40}-0{1 + number % 9}-11" for number in range(PEOPLE)],
            "hours": [(20.0, 30.1, 38.5)[number % 3] for number in range(PEOPLE)],
            "people": [("F", "M")[number // 2 % 2] for number in range(PEOPLE)],
            "cost": np.random.default_rng(1).permutation(np.repeat((7, 90, 120, 1000), PEOPLE // 4)),
        }
    )
    people.write_csv(folder / f"{DATE}.csv")
    declared = CLINIC | {
        "source": {"path": "{release}.csv"},
        "quasi_identifiers": [
            {"name": "born", "kind": "date", "domain": ["1940-01-01", "2000-01-01"]},
            {"name": "hours", "kind": "number", "domain": [18.0, 40.2]},
            {"name": "people", "kind": "category", "order": ["F", "M"]},
        ],
        "sensitive": {"name": "cost", "unit": "euro"},
        "principle": {"name": "m_invariance", "m": 4, "format": "anatomy"},
    }
    (folder / "clinic.yaml").write_text(yaml.safe_dump(declared))
    series = Series(load_contract(folder / "clinic.yaml"), Home.at(folder / "var"))
    return people.with_columns(pl.col("born").str.to_date()), make(series, DATE).published(DATE)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize(
    ("where", "meant"),
    [
        ("cost > 100", "cost > 100"),
        ("90 <= cost", "cost >= 90"),
        ("cost between 90 and 130", "cost BETWEEN 90 AND 130"),
        ("cost in (7, 1000)", "cost IN (7, 1000)"),
        ("cost * 2 - 1 > 100", "cost > 50"),
        ("abs(cost) > 100", "cost > 100"),
        ("cost::integer > 100", "cost > 100"),
        ("cast(cost as double) > 99.5", "cost > 100"),
        ("cost = '90'", "cost = 90"),
        ("cost like '1%'", "cost IN (120, 1000)"),
        ("born < date '1960-01-01'", "born < '1960-01-01'::DATE"),
        ("born < '1960-01-01'", "born < '1960-01-01'::DATE"),
        ("born + interval 10 years < date '1970-01-01'", "born < '1960-01-01'::DATE"),
        ("year(born) = 1960 or hours::integer = 20", "date_part('year', born) = 1960 OR hours = 20"),
        ("hours in (20, 30.1)", "hours IN (20.0, 30.1)"),
    ],
)
def test_numbers_compare_as_numbers_and_dates_as_dates(where, meant, staff, republish):
    truth, folder = staff
    code, out, err = republish("estimate", folder, "--where", where, "--format", "csv")
    assert (code, err) == (0, [])
    (found,) = csv.DictReader(out)
    true = truth.filter(pl.sql_expr(meant)).height
    assert 0 < true < PEOPLE
    assert float(found["low"]) <= true <= float(found["high"])
    if "cost" not in where:
        assert float(found["people"]) == true


def test_a_column_in_cells_is_named_where_it_is_asked_for(staff, tmp_path):
    _, published = staff
    folder = tmp_path / DATE
    shutil.copytree(published, folder)
    package = json.loads((folder / "datapackage.json").read_text())
    package["republish"]["attributes"][0] |= {"ends": "grid", "min_width": 365}
    (folder / "datapackage.json").write_text(json.dumps(package))
    (said,) = remarks(folder, "year(Born) > 1960", ["people"], of_rows=False)
    assert said == (
        "born is known in cells of 365 days from 1940-01-01 on: errors are smaller where a condition divides"
        " none."
    )
    assert remarks(folder, "true", ["Born"], of_rows=False) == [said]
    assert remarks(folder, "people = 'M' and hours > 20", ["hours // 1"], of_rows=False) == []
    assert remarks(published, "born > date '1960-01-01'", [], of_rows=False) == []


def test_a_column_is_not_found_in_the_name_of_another(staff, tmp_path):
    _, published = staff
    folder = tmp_path / DATE
    shutil.copytree(published, folder)
    package = json.loads((folder / "datapackage.json").read_text())
    package["republish"]["attributes"][0] |= {"name": "our", "ends": "grid", "min_width": 365}
    (folder / "datapackage.json").write_text(json.dumps(package))
    assert remarks(folder, "hours > 20", [], of_rows=False) == []
    assert len(remarks(folder, "year(our) > 1960", [], of_rows=False)) == 1


@pytest.mark.slow("takes more than a second")
def test_an_answer_has_all_its_combinations_and_entries_in_every_format(staff, republish):
    truth, folder = staff
    asked = ("estimate", folder, "--by", "cost", "--by", "hours", "--by", "people")
    heads = ["release", "cost", "hours", "people_1", "people", "standard_error", "low", "high", "share"]
    heads += ["share_error"]
    _, (head, *lines), _ = republish(*asked)
    assert head.split("  ")[0] == "release"
    _, out, _ = republish(*asked, "--format", "csv")
    rows = list(csv.DictReader(out))
    _, out, _ = republish(*asked, "--format", "json")
    objects = json.loads("\n".join(out))
    assert objects["held_back"] == {DATE: 0}
    there = truth.group_by("cost", "hours", "people").agg().sort("cost", "hours", "people")
    assert len(lines) == len(rows) == len(objects["estimates"]) >= there.height
    assert list(rows[0]) == list(objects["estimates"][0]) == heads
    assert [row["cost"] for row in objects["estimates"]] == sorted(int(row["cost"]) for row in rows)
    assert {row["hours"] for row in objects["estimates"]} == {20.0, 30.1, 38.5}
    for line, row, one in zip(lines, rows, objects["estimates"], strict=True):
        assert [float(entry) for entry in list(row.values())[4:]] == list(one.values())[4:]
        assert line.split() == [str(entry) for entry in one.values()]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("table", NOBODY),
        ("csv", "release,cost,people,standard_error,low,high,share,share_error"),
        ("json", {"estimates": [], "held_back": {DATE: 0}}),
    ],
)
def test_nobody_is_an_empty_table(form, said, staff, republish):
    where = "born < '1945-01-01'"
    code, out, err = republish("estimate", staff[1], "--where", where, "--by", "cost", "--format", form)
    assert (code, err) == (0, [])
    assert (json.loads("\n".join(out)) if form == "json" else "\n".join(out)) == said


@pytest.mark.slow("makes and audits many releases")
def test_everybody_is_counted_where_people_wait_together(republish, hospital, tmp_path):
    """Thirty people of one value come: all new people wait, and the others are a part of the table."""
    hospital.declare(principle={"on_ineligible": "wait"})
    snapshot = hospital.snapshot(RELEASES[1])
    came = ~snapshot["patient_id"].is_in(hospital.snapshot(RELEASES[0])["patient_id"].implode())
    flu = pl.when(came).then(pl.lit("flu")).otherwise("disease")
    hospital.deliver(RELEASES[1], snapshot.with_columns(disease=flu))
    series = make(hospital.series(tmp_path / "new"), *RELEASES[:2])
    folder, waiting = series.published(RELEASES[1]), int(came.sum())
    said = f"{waiting} people of the table are held back"
    assert said in (folder / "README.md").read_text()
    assert said in (folder / "estimate.sql").read_text()
    _, out, _ = republish("estimate", folder, "--everybody", "--format", "json")
    (whole,) = json.loads("\n".join(out))["estimates"]
    assert whole["people"] == snapshot.height
    by_sex = [
        json.loads("\n".join(republish("estimate", folder, "--by", "sex", *more, "--format", "json")[1]))
        for more in ([], ["--everybody"])
    ]
    assert by_sex[0]["held_back"] == {RELEASES[1]: waiting}
    for published, everybody in zip(*(one["estimates"] for one in by_sex), strict=True):
        people = snapshot.filter(pl.col("sex") == everybody["sex"]).height
        assert everybody["low"] <= people <= everybody["high"]
        assert everybody["standard_error"] > published["standard_error"]
        assert everybody["share"] == published["share"]
    sums = [sum(one["people"] for one in found["estimates"]) for found in by_sex]
    assert sums == pytest.approx([snapshot.height - waiting, snapshot.height], abs=0.2)
    # Those who wait are as unlike the others as can be: all of them have the flu.
    _, out, _ = republish("estimate", folder, "--everybody", "--by", "disease", "--format", "json")
    true = dict(snapshot.with_columns(disease=flu).group_by("disease").len().iter_rows())
    for one in json.loads("\n".join(out))["estimates"]:
        assert one["low"] <= true[one["disease"]] <= one["high"]
        assert one["standard_error"] >= waiting / (2 * 1.96) - 0.1
    # Where nobody waits, everybody is published.
    first = series.published(RELEASES[0])
    assert republish("estimate", first, "--everybody") == republish("estimate", first)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("form", list(command.Form))
def test_people_held_back_are_named(form, republish, hospital, tmp_path):
    hospital.declare(principle={"on_ineligible": "wait"})
    first, snapshot = (hospital.snapshot(release) for release in RELEASES[:2])
    came = ~pl.col("patient_id").is_in(first["patient_id"].implode())
    flu = pl.when(came).then(pl.lit("flu")).otherwise("disease")
    hospital.deliver(RELEASES[1], snapshot.with_columns(disease=flu))
    folder = make(hospital.series(tmp_path / "new"), *RELEASES[:2]).published(RELEASES[1])
    people = json.loads((folder / MANIFEST).read_text())["held_back"]
    assert people > 0
    _, out, err = republish("estimate", folder, "--format", form)
    words = f"Held back, and in no count: {people} in {RELEASES[1]}."
    if form == command.Form.json:
        assert json.loads("\n".join(out))["held_back"] == {RELEASES[1]: people}
    else:
        assert (err if form == command.Form.csv else out[2:]) == [words]


@pytest.mark.parametrize(
    ("words", "figure", "meant"),
    [
        (("--mean", "cost"), "mean", pl.col("cost").mean()),
        (("--mean", "hours"), "mean", pl.col("hours").mean()),
        (("--quantile", "cost=0.5"), "quantile", pl.col("cost").quantile(0.5, "lower")),
        (("--quantile", "born=0.25"), "quantile", pl.col("born").sort().get(PEOPLE // 4 - 1)),
    ],
)
def test_means_and_quantiles_of_everybody_are_exact(words, figure, meant, staff, republish):
    truth, folder = staff
    _, out, _ = republish("estimate", folder, *words, "--format", "json")
    (found,) = json.loads("\n".join(out))["estimates"]
    true = truth.select(meant).item()
    exact = pytest.approx(true) if isinstance(true, float) else str(true) if words[1] == "born=0.25" else true
    assert [found[name] for name in (figure, "low", "high", "people")] == [exact] * 3 + [PEOPLE]


def test_the_mean_of_some_people_has_an_error_and_one_line_for_each_combination(staff, republish):
    truth, folder = staff
    where = ("--where", "hours < 38", "--by", "people")
    _, out, _ = republish("estimate", folder, "--mean", "cost", *where, "--format", "csv")
    found = list(csv.DictReader(out))
    assert [(row["people_1"], row["people"]) for row in found] == [("F", "20"), ("M", "20")]
    for row in found:
        true = truth.filter(pl.col("hours") < 38, people=row["people_1"])["cost"].mean()
        assert float(row["low"]) < true < float(row["high"])
        assert float(row["standard_error"]) > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--mean", "people"), "--mean people: is no column of numbers"),
        (("--mean", "born"), "--mean born: is no column of numbers"),
        (("--quantile", "people=0.5"), "--quantile people: is no column of numbers or dates"),
        (("--mean", "wage"), "--mean wage: there is no such column; there are release, born"),
        (("--quantile", "cost=50"), "--quantile cost=50: write COLUMN=NUMBER, with a number between 0 and 1"),
        (("--quantile", "cost"), "--quantile cost: write COLUMN=NUMBER"),
        (("--quantile", "cost=0.5", "--mean", "cost"), "ask for one of them at a time"),
    ],
)
def test_a_measure_that_cannot_be_estimated_is_refused(words, said, staff, republish):
    code, out, (err,) = republish("estimate", staff[1], *words)
    assert (code, out) == (2, [])
    assert said in err


def test_a_terminal_shows_some_lines_and_says_how_many_more_there_are(staff, republish, monkeypatch):
    monkeypatch.setattr(command, "MOST_LINES", 3)
    _, whole, _ = republish("estimate", staff[1], "--by", "born")
    monkeypatch.setattr(command.out, "_force_terminal", True)
    monkeypatch.setattr(command.out, "no_color", True)
    _, out, _ = republish("estimate", staff[1], "--by", "born")
    assert out[1:4] == whole[1:4]
    assert (
        out[4] == f"{len(whole) - 4} more lines: --format csv prints all of them, and so does a pipe (| less)"
    )


def test_a_pipe_that_speaks_no_utf_8_is_given_utf_8(staff, monkeypatch):
    piped = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", piped)
    command.say(pl.DataFrame({"ward": ["Süd"]}), {}, command.Form.csv)
    assert piped.buffer.getvalue().decode() == "ward\nSüd\n"
