"""`republish estimate`, as a researcher types it."""

import csv
import io
import json

import numpy as np
import polars as pl
import pytest
import yaml

from republish.orchestration.cli import estimate as command
from republish.orchestration.cli.estimate import NO_NUMBER, NOBODY
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.readers.estimate.folders import Described, remarks
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


@pytest.fixture
def estimate(staff, republish):
    """Ask five copies of the staff, and read the answer as JSON."""

    def asked(*words):
        code, out, err = republish("estimate", staff[1], *words, "--copies", 5, "--format", "json")
        assert (code, err) == (0, [])
        return json.loads("\n".join(out))["estimates"]

    return asked


@pytest.mark.slow("draws copies for each condition")
@pytest.mark.parametrize(
    ("where", "meant"),
    [
        ("cost > 100", "cost > 100"),
        ("90 <= cost", "cost >= 90"),
        ("cost between 90 and 130", "cost BETWEEN 90 AND 130"),
        ("cost in (7, 1000)", "cost IN (7, 1000)"),
        ("cost * 2 - 1 > 100", "cost > 50"),
        ("cost::integer > 100", "cost > 100"),
        ("cost = '90'", "cost = 90"),
        ("cost like '1%'", "cost IN (120, 1000)"),
        ("born < date '1960-01-01'", "born < '1960-01-01'::DATE"),
        ("born < '1960-01-01'", "born < '1960-01-01'::DATE"),
        ("born + interval 10 years < date '1970-01-01'", "born < '1960-01-01'::DATE"),
        ("year(born) = 1960 or hours::integer = 20", "date_part('year', born) = 1960 OR hours = 20"),
        ("hours in (20, 30.1)", "hours IN (20.0, 30.1)"),
    ],
)
def test_numbers_compare_as_numbers_and_dates_as_dates(where, meant, staff, estimate):
    (found,) = estimate("--where", where)
    true = staff[0].filter(pl.sql_expr(meant)).height
    assert 0 < true < PEOPLE
    assert (found["people"], found["standard_error"]) == (true, 0)  # each by itself is published exactly
    assert found["low"] == found["high"] == true


def test_answers_of_everybody_are_exact_and_those_of_some_have_an_error(staff, estimate):
    truth, _ = staff
    for of, meant in (
        ("avg(cost)", pl.col("cost").mean()),
        ("sum(hours)", pl.col("hours").sum()),
        ("median(cost)", pl.col("cost").median()),
        ("avg((people = 'F')::int)", (pl.col("people") == "F").mean()),
    ):
        (found,) = estimate("--of", of)
        exact = pytest.approx(truth.select(meant).item())
        assert [found[name] for name in ("estimate", "standard_error", "low", "high")] == [
            exact,
            0,
            exact,
            exact,
        ]
    (found,) = estimate("--of", "quantile_disc(born, 0.25)")
    assert found["estimate"] == found["low"] == str(truth["born"].sort()[PEOPLE // 4 - 1])
    rows = estimate("--of", "avg(cost)", "--where", "hours < 38", "--by", "people")
    assert list(rows[0]) == [*("release", "people_1", "estimate", "standard_error", "low", "high")]
    for row in rows:
        true = truth.filter(pl.col("hours") < 38, people=row["people_1"])["cost"].mean()
        assert row["low"] < true < row["high"]
        assert row["standard_error"] > 0


def test_an_answer_has_all_its_combinations_and_entries_in_every_format(staff, republish):
    _, folder = staff
    asked = ("estimate", folder, "--by", "cost", "--by", "hours", "--by", "people", "--copies", 3)
    heads = ["release", "cost", "hours", "people_1", "people", "standard_error", "low", "high", "share"]
    heads += ["share_error"]
    _, (head, *lines), _ = republish(*asked)
    assert head.split("  ")[0] == "release"
    _, out, _ = republish(*asked, "--format", "csv")
    rows = list(csv.DictReader(out))
    _, out, _ = republish(*asked, "--format", "json")
    objects = json.loads("\n".join(out))
    assert objects["held_back"] == {DATE: 0}
    assert len(lines) == len(rows) == len(objects["estimates"]) > 12
    assert list(rows[0]) == list(objects["estimates"][0]) == heads
    assert [row["cost"] for row in objects["estimates"]] == sorted(int(row["cost"]) for row in rows)
    assert {row["hours"] for row in objects["estimates"]} == {20.0, 30.1, 38.5}
    assert sum(row["people"] for row in objects["estimates"]) == pytest.approx(PEOPLE, abs=1)
    assert sum(row["share"] for row in objects["estimates"]) == pytest.approx(1, abs=0.01)
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
    asked = ("--where", "born < '1945-01-01'", "--by", "cost", "--copies", 2, "--format", form)
    code, out, err = republish("estimate", staff[1], *asked)
    assert (code, err) == (0, [])
    assert (json.loads("\n".join(out)) if form == "json" else "\n".join(out)) == said


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_an_answer_that_no_copy_has_is_none(form, staff, republish):
    asked = ("--of", "corr(hours, 1)", "--copies", 2, "--format", form)
    code, out, err = republish("estimate", staff[1], *asked)
    assert code == 0
    if form == "json":
        (row,) = json.loads("\n".join(out))["estimates"]
        assert (row["estimate"], row["standard_error"], row["low"]) == (None, None, None)
    else:
        assert (err if form == "csv" else out)[-1] == NO_NUMBER
        assert out[1].split("," if form == "csv" else None)[1:] == (
            ["", "", "", ""] if form == "csv" else ["None"] * 4
        )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--where", "wage > 3"),
            "--where wage > 3: there is no column wage; there are release, born, hours",
        ),
        (("--by", "born, cost"), "--by born, cost: must be one expression of SQL"),
        (("--of", "avg(people)"), "--of avg(people): Binder Error: No function matches"),
        (("--of", "cost"), "--of cost: is no aggregate of a group of people"),
        (("--where", "people = 'W'"), "--where people = 'W': people has no value W. It has F, M"),
        (("--where", "cost = '8'"), "--where cost = '8': cost has no value 8. It has 1000, 120, 7, 90"),
        (
            ("--where", "people > 3"),
            "--where people > 3: Binder Error: Cannot compare values of type VARCHAR",
        ),
        (("--change",), "a change needs two releases"),
    ],
)
def test_what_cannot_be_estimated_is_refused_in_one_line(words, said, staff, republish):
    code, out, (err,) = republish("estimate", staff[1], *words, "--copies", 2)
    assert (code, out) == (2, [])
    assert said in err


def test_copies_that_were_written_are_asked_as_those_that_are_drawn(staff, tmp_path, republish):
    for form in ("parquet", "csv"):
        place = tmp_path / form
        assert republish("copies", staff[1], place, "--copies", 3, "--format", form)[0] == 0
        asked = ("--where", "cost > 100", "--by", "people", "--of", "avg(hours)")
        assert republish("estimate", place, *asked) == republish("estimate", staff[1], *asked, "--copies", 3)


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
    assert republish("copies", folder, tmp_path / "copies", "--copies", 2)[0] == 0
    words = f"Held back, and in no count: {people} in {RELEASES[1]}."
    for place in (folder, tmp_path / "copies"):
        _, out, err = republish("estimate", place, "--copies", 2, "--format", form)
        if form == command.Form.json:
            assert json.loads("\n".join(out))["held_back"] == {RELEASES[1]: people}
        else:
            assert (err if form == command.Form.csv else out[2:]) == [words]


def test_a_column_in_cells_is_named_where_it_is_asked_for(staff, tmp_path, republish):
    folder = tmp_path / "copies"
    assert republish("copies", staff[1], folder, "--copies", 2)[0] == 0
    beside = json.loads((folder / "copies.json").read_text())
    beside["releases"][0]["cells"] = {"born": "365 days from 1940-01-01 on"}
    (folder / "copies.json").write_text(json.dumps(beside))
    said = (
        "born is known in cells of 365 days from 1940-01-01 on: errors are smaller where a condition divides"
        " none."
    )
    for words, is_said in (
        (("--where", "year(Born) > 1960"), True),
        (("--by", "born > '1960-01-01'"), True),
        (("--of", "median(born)"), True),
        (("--where", "people = 'M' and hours > 20", "--by", "hours // 1"), False),
    ):
        _, out, _ = republish("estimate", folder, *words)
        assert (out[-1] == said) == is_said


def test_remarks_on_rows_and_missing_labels():
    labels = {"sex": ["(missing)", "F"], "job": ["a"]}
    said = Described(DATE, ["sex", "job"], labels, {}, 0, of_rows=True)
    rows, missing = remarks([said], {"sex", "job"}, {"sex", "job"})
    assert rows.startswith("People may have several rows")
    assert missing == (
        "Where sex is missing, its label is (missing): <> and NOT find it, and IS NULL does not. Add AND sex"
        " <> '(missing)' to leave these people out."
    )


def test_a_terminal_shows_some_lines_and_says_how_many_more_there_are(staff, republish, monkeypatch):
    asked = ("estimate", staff[1], "--by", "born", "--copies", 2)
    monkeypatch.setattr(command, "MOST_LINES", 3)
    _, whole, _ = republish(*asked)
    monkeypatch.setattr(command.out, "_force_terminal", True)
    monkeypatch.setattr(command.out, "no_color", True)
    _, out, _ = republish(*asked)
    assert out[1:4] == whole[1:4]
    assert (
        out[4] == f"{len(whole) - 4} more lines: --format csv prints all of them, and so does a pipe (| less)"
    )


def test_a_pipe_that_speaks_no_utf_8_is_given_utf_8(staff, monkeypatch):
    piped = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", piped)
    command.say(pl.DataFrame({"ward": ["Süd"]}), {}, command.Form.csv)
    assert piped.buffer.getvalue().decode() == "ward\nSüd\n"
