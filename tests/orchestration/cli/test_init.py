"""From a file to a contract: what `republish init` drafts is accepted, and releases can be made by it."""

import datetime as dt
import errno
import gzip
import io
import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import uuid
from contextlib import suppress

import duckdb
import polars as pl
import pytest
from typer.testing import CliRunner

from republish.anonymize.errors import SnapshotError
from republish.orchestration.cli.app import app
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.contracts.yaml_text import parse_yaml
from republish.orchestration.drafts.columns import column_of
from republish.orchestration.drafts.dates import schedule_of
from republish.orchestration.drafts.found import in_files
from republish.orchestration.drafts.roles import is_weight, likely_identifier, likely_sensitive, roles_of
from republish.orchestration.storage import store
from tests.sources import read_snapshot

RELEASES = ("2024-01-01", "2024-07-01")
HEAD = ("patient_id", "surname", "born", "region", "income", "diagnosis", "notes")
ILL = ("asthma", "diabetes", "flu", "gastritis", "migraine", "epilepsy", "stroke", "gout")
DIALECTS = {
    "comma": {},
    "semicolons": {"separator": ";", "decimal": ","},
    "tabs": {"separator": "\t", "ending": "tsv"},
    "bars": {"separator": "|"},
    "latin-1": {"separator": ";", "encoding": "latin-1"},
    "byte order mark": {"encoding": "utf-8-sig"},
    "quoted, with line ends": {"quoted": True},
    "German dates": {"separator": ";", "dates": "%d.%m.%Y"},
    "American dates": {"dates": "%m/%d/%Y"},
    "compressed": {"ending": "csv.gz"},
    "UTF-16": {"encoding": "utf-16", "separator": "\t"},
}


def people(number=150):
    """Two snapshots of made-up people: some leave, and some come."""
    chance = random.Random(3)

    def person(at):
        born = dt.date(1930, 1, 1) + dt.timedelta(days=chance.randint(40, 28_000))
        name = chance.choice(("Müller", "O'Neil", "Smith, Jr", "Weiß"))
        notes = chance.choice(
            (f"seen twice,\nthen {at} said “no” and left", f"all is well with {at}, so far", "")
        )
        region = chance.choice(("north", "east", "south", "west"))
        income = chance.randint(90_000, 900_000) / 100
        return f"{at:05}", f"{name} {at}", born, region, income, ILL[at % len(ILL)], notes

    first = [person(at) for at in range(number)]
    return first, [*first[8:], *(person(at) for at in range(number, number + 16))]


def text_of(rows, separator=",", decimal=".", dates="%Y-%m-%d", quoted=False):
    def field(value):
        if isinstance(value, dt.date):
            value = value.strftime(dates)
        elif isinstance(value, float):
            value = f"{value:.2f}".replace(".", decimal)
        needs = quoted or any(sign in value for sign in (separator, '"', "\n"))
        return '"{}"'.format(value.replace('"', '""')) if needs else value

    return "".join(separator.join(map(field, row)) + "\n" for row in (HEAD, *rows))


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def deliver(tmp_path):
    """Write the two snapshots in a dialect; returns the first file."""

    def written(ending="csv", encoding="utf-8", name="{}", rows=None, **dialect):
        folder = tmp_path / "clinic"
        folder.mkdir(exist_ok=True)
        for release, some in zip(RELEASES, rows or people(), strict=True):
            content = text_of(some, **dialect).encode(encoding.replace("latin-1", "cp1252"))
            content = gzip.compress(content) if ending.endswith("gz") else content
            (folder / f"{name.format(release)}.{ending}").write_bytes(content)
        return folder / f"{name.format(RELEASES[0])}.{ending}"

    return written


def test_a_file_without_a_line_of_names_is_refused_and_nobody_is_taken_for_one(republish, tmp_path):
    table = "".join(
        f"P{at:03},{20 + at % 40},{['north', 'south'][at % 2]},{ILL[at % 4]}\n" for at in range(120)
    )
    (file := tmp_path / "2024-01-01.csv").write_text(table)
    code, _, (said,) = republish("init", file, "--yes")
    assert code == 2
    assert (
        "3 of the 4 names in its first line are values of their own columns, too: that line seems to be a row"
        in said
    )
    assert ILL[0] not in said
    file.write_text(f"person,years,side,ill\n{table}")
    assert republish("init", file, "--yes", "--sensitive", "ill")[0] == 0


@pytest.mark.slow("drafts many contracts")
@pytest.mark.parametrize("name", DIALECTS)
def test_each_dialect_is_read_without_an_edit(republish, deliver, tmp_path, name):
    code, out, err = republish("init", deliver(**DIALECTS[name]), "--yes")
    assert (code, err) == (0, [])
    contract = tmp_path / "clinic/clinic.yaml"
    assert f"republish validate --all {contract}" in out[-1]
    drafted = load_contract(contract)
    for release, some in zip(RELEASES, people(), strict=True):
        read = read_snapshot(drafted, release)
        assert sorted(read["identifier"]) == [row[0] for row in some]
        assert sorted(read["value"]) == sorted(row[5] for row in some)
        assert sorted(read.to_series(read.columns.index("qi_0"))) == sorted(row[2] for row in some)
    declared = drafted.contract
    assert (declared.identifier, declared.sensitive.name) == ("patient_id", "diagnosis")
    assert [qi.name for qi in declared.quasi_identifiers] == ["born", "region"]
    assert declared.releases.cron == "0 0 1 1,7 *"


@pytest.mark.slow("makes and audits many releases")
def test_the_command_itself_releases_what_was_drafted(republish, deliver):
    republish("init", deliver(separator=";", decimal=",", dates="%d.%m.%Y"), "--yes")
    code, out, _ = republish("validate", "--all", "clinic/clinic.yaml")
    assert (code, "  all snapshots that are there would be released (2)" in out) == (0, True)
    code, out, _ = republish("release", "clinic/clinic.yaml", "--through", RELEASES[1])
    assert (code, [line.split()[:2] for line in out]) == (0, [[release, "published"] for release in RELEASES])


def values_of_one(rows):
    """What one person, or fewer than five, have: of columns that may name nobody."""
    return {str(row[at]) for row in rows for at in (0, 1, 2, 4)} | {f"{row[4]:.2f}" for row in rows}


def test_nobodys_value_is_printed_or_in_a_comment(republish, deliver, tmp_path):
    first, later = people()
    rare = [(*row[:3], "Kleinkleckersdorf", *row[4:]) for row in first[:2]]
    file = deliver(rows=([*rare, *first[2:]], later))
    code, out, err = republish("init", file, "--yes", "--debug")
    text = (tmp_path / "clinic/clinic.yaml").read_text()
    comments = "\n".join(re.findall("#.*", text))
    assert code == 0
    for said in ("\n".join([*out, *err]), comments):
        assert not [value for value in values_of_one([*first, *later]) if value in said]
        assert "Kleinkleckersdorf" not in said
        assert not [row[6] for row in first if row[6] and row[6] in said]
    assert "? 1 of 5 labels are those of fewer than 5 rows" in text
    assert "Kleinkleckersdorf" in text  # it is a label that there is


def test_no_end_of_a_domain_is_anybodys_own(republish, deliver, tmp_path):
    republish("init", deliver(), "--yes", "--sensitive", "region")
    declared = load_contract(tmp_path / "clinic/clinic.yaml").contract
    born = next(qi for qi in declared.quasi_identifiers if qi.name == "born")
    assert not {row[2] for rows in people() for row in rows} & set(born.domain)
    assert all(day.month in (1, 12) and day.year % 10 in (0, 9) for day in born.domain)


def test_an_amount_is_published_in_bins(republish, deliver, tmp_path):
    republish("init", deliver(decimal=",", separator=";"), "--yes", "--sensitive", "income")
    text = (tmp_path / "clinic/clinic.yaml").read_text()
    declared = load_contract(tmp_path / "clinic/clinic.yaml").contract
    assert declared.source.decimal == ","
    assert len(declared.sensitive.bins) >= 5
    assert not {row[4] for rows in people() for row in rows} & set(declared.sensitive.bins)
    assert "diagnosis: looks as if nobody may learn it, either" in text
    assert republish("validate", "clinic/clinic.yaml")[0] == 0


@pytest.mark.parametrize("largest", [1e300, float("inf"), 9_000_000_000_000_000.5])
def test_numbers_that_no_contract_may_have_are_left_out(republish, tmp_path, largest):
    known = pl.DataFrame(people()[0], HEAD, orient="row")
    weighed = known.with_columns(weight=pl.Series([largest, *map(float, range(len(known) - 1))]))
    weighed.write_parquet("2024-01-01.parquet")
    code, out, _ = republish("init", "2024-01-01.parquet", "--yes", "--out", "clinic.yaml")
    assert code == 0
    assert any("left out" in line and "weight: numbers that are too large" in line for line in out)
    declared = load_contract(tmp_path / "clinic.yaml").contract
    assert "weight" not in [one.name for one in (*declared.quasi_identifiers, declared.sensitive)]


def test_a_contract_is_never_written_over_without_a_word(republish, deliver, tmp_path):
    file = deliver()
    (tmp_path / "clinic/clinic.yaml").write_text("mine")
    code, out, err = republish("init", file, "--yes")
    assert (code, out) == (2, [])
    assert "clinic.yaml is there already: --force writes over it, --out elsewhere" in err[-1]
    assert (tmp_path / "clinic/clinic.yaml").read_text() == "mine"
    assert republish("init", file, "--yes", "--out", tmp_path / "other.yaml")[0] == 0
    assert load_contract(tmp_path / "other.yaml").contract.source.path == "clinic/{release}.csv"
    assert republish("init", file, "--yes", "--force")[0] == 0
    assert load_contract(tmp_path / "clinic/clinic.yaml")


def test_names_of_columns_are_no_patterns_and_no_yaml(republish, tmp_path):
    names = ["^id.*$", "*", "a: b # c", "no", "release"]
    rows = [[f"p{at}", str(20 + at % 60), ("yes", "no", "#1")[at % 3], ILL[at % 8], "x"] for at in range(200)]
    pl.DataFrame(rows, names, orient="row").write_csv(tmp_path / "people_2024-01-01.csv")
    code, out, _ = republish(
        "init", "people_2024-01-01.csv", "--yes", "--identifier", "^id.*$", "--sensitive", "no"
    )
    assert code == 0
    declared = load_contract(tmp_path / "people.yaml").contract
    assert (declared.identifier, declared.sensitive.name) == ("^id.*$", "no")
    assert [qi.name for qi in declared.quasi_identifiers] == ["*", "a: b # c"]
    assert declared.quasi_identifiers[1].order == ("#1", "no", "yes")
    assert "release: has a name that releases use themselves" in "\n".join(out)


@pytest.mark.slow("takes more than a second")
def test_a_column_with_gaps_is_published_with_them(republish, deliver, tmp_path):
    first, later = people()
    gaps = [(*row[:3], "k.A." if at % 10 == 0 else row[3], *row[4:]) for at, row in enumerate(first)]
    republish("init", deliver(rows=(gaps, later)), "--yes")
    text = (tmp_path / "clinic/clinic.yaml").read_text()
    declared = load_contract(tmp_path / "clinic/clinic.yaml").contract
    assert [(qi.name, qi.missing) for qi in declared.quasi_identifiers] == [
        ("born", "refuse"),
        ("region", "publish"),
    ]
    assert declared.source.null_values == ("k.A.",)
    assert re.search(r"15 of \d+ rows have no value", text)
    assert republish("validate", "--all", "clinic/clinic.yaml")[0] == 0


def test_people_without_a_sensitive_value_are_left_out(republish, deliver, tmp_path):
    rows = [[(*row[:5], "" if int(row[0]) % 9 == 0 else row[5], row[6]) for row in some] for some in people()]
    republish("init", deliver(rows=rows), "--yes")
    assert load_contract(tmp_path / "clinic/clinic.yaml").contract.sensitive.missing == "leave_out"
    assert republish("validate", "clinic/clinic.yaml")[0] == 0


def test_uuids_that_rows_repeat_are_those_of_persons_unless_they_are_few():
    uuids = [str(uuid.UUID(int=random.Random(at).getrandbits(128))) for at in range(4_000)]
    rids = column_of("rid", pl.Series(uuids))
    for repeated, found in ((500, "iid"), (30, "rid")):
        iids = column_of("iid", pl.Series([uuids[at % repeated] for at in range(len(uuids))]))
        assert likely_identifier([rids, iids], ["rid"]).name == found


def test_visits_of_people_are_several_rows_of_a_person(republish, tmp_path):
    chance = random.Random(4)
    rows = [
        (f"{at + 5000}", f"P{at // 2:03}", dt.date(1950, 1, 1) + dt.timedelta(days=37 * (at // 2)),
         chance.choice(("north", "south")), ILL[chance.randrange(8)])
        for at in range(300)
    ]  # fmt: skip
    head = ("Fallnr", "PatientenNr", "Geburtsdatum", "Bezirk", "Hauptdiagnose")
    pl.DataFrame(rows, head, orient="row").write_csv(tmp_path / "visits_2024-01-01.csv", separator=";")
    assert republish("init", "visits_2024-01-01.csv", "--yes")[0] == 0
    text = (tmp_path / "visits.yaml").read_text()
    declared = load_contract(tmp_path / "visits.yaml").contract
    assert (declared.identifier, declared.rows, declared.row) == ("PatientenNr", "several", "Fallnr")
    assert declared.sensitive.name == "Hauptdiagnose"
    assert "150 of 300 rows repeat it" in text
    assert (declared.principle.values_per_person + 1) * declared.principle.m <= 8
    assert republish("validate", "visits.yaml")[0] == 0


@pytest.mark.slow("takes more than a second")
def test_an_m_is_drafted_that_the_rows_bear_that_are_published(republish, tmp_path):
    """A quarter of all rows have one value, and more of those published: who often comes has others."""
    chance = random.Random(6)
    rows = [
        (f"P{person:03}", 20 + person % 60, "flu" if at == person % 2 else f"illness {chance.randrange(16)}")
        for person in range(240)
        for at in range(2 if person % 8 else 20)
    ]
    table = pl.DataFrame(rows, ("patient", "age", "diagnosis"), orient="row").with_row_index("visit", 1000)
    table.write_csv(tmp_path / "visits_2024-01-01.csv")
    assert republish("init", "visits_2024-01-01.csv", "--yes")[0] == 0
    declared = load_contract(tmp_path / "visits.yaml").contract
    assert (declared.identifier, declared.rows, declared.principle.m) == ("patient", "several", 2)
    assert republish("validate", "visits.yaml")[0] == 0


@pytest.mark.slow("takes more than a second")
def test_visits_are_told_apart_in_several_snapshots(republish, tmp_path):
    """A visit's code repeats from file to file; it is what tells rows apart, and nothing to publish."""
    chance = random.Random(5)
    rows = [
        (f"V{at:05}", f"B{at + 4000}", f"P{at % 120:03}", chance.choice(("north", "south")),
         ILL[chance.randrange(8)])
        for at in range(360)
    ]  # fmt: skip
    head = ("visit", "booking", "patient", "region", "diagnosis")
    for release, there in (("31.12.2024", 300), ("31.03.2025", 330), ("30.06.2025", 360)):
        table = pl.DataFrame(rows[:there], head, orient="row")
        table.write_csv(tmp_path / f"visits_{release}.csv", separator=";")
    code, out, _ = republish("init", "visits_31.12.2024.csv", "--yes")
    declared = load_contract(tmp_path / "visits.yaml").contract
    assert (code, declared.rows, declared.row) == (0, "several", "visit")
    assert "  tells rows apart        visit" in out
    assert [qi.name for qi in declared.quasi_identifiers] == ["region"]
    assert "  left out                booking: has another value in each row, as identifiers have" in out
    assert declared.releases.cron == "0 0 L 3,6,9,12 *"
    code, out, _ = republish("validate", "--all", "visits.yaml")
    assert (code, "  all snapshots that are there would be released (3)" in out) == (0, True)


@pytest.mark.slow("takes more than a second")
def test_visits_without_a_number_are_told_apart_by_all_columns(republish, tmp_path):
    rows = [(f"P{at % 120:03}", 20 + at % 60, ILL[at % 7]) for at in range(240)]
    for release in RELEASES:
        table = pl.DataFrame(rows, ("patient", "age", "diagnosis"), orient="row")
        table.write_csv(tmp_path / f"visits_{release}.csv")
    code, out, _ = republish("init", f"visits_{RELEASES[0]}.csv", "--yes")
    declared = load_contract(tmp_path / "visits.yaml").contract
    assert (code, declared.rows, declared.row) == (0, "several", None)
    assert "  tells rows apart        all columns together" in out
    assert "several, told apart by all columns together" in (tmp_path / "visits.yaml").read_text()
    assert republish("validate", "--all", "visits.yaml")[0] == 0


@pytest.mark.parametrize("second", ["V{:05}", "{}"])
def test_a_second_number_of_people_is_left_out_in_several_snapshots(republish, tmp_path, second):
    rows = [(f"P{at:04}", second.format(7000 + at), 20 + at % 50, ILL[at % 8]) for at in range(100)]
    table = pl.DataFrame(rows, ("patient", "file", "age", "diagnosis"), orient="row")
    for release in RELEASES:
        table.write_csv(tmp_path / f"people_{release}.csv")
    code, out, _ = republish("init", f"people_{RELEASES[0]}.csv", "--yes")
    declared = load_contract(tmp_path / "people.yaml").contract
    assert (code, declared.identifier, declared.rows) == (0, "patient", "one")
    assert [qi.name for qi in declared.quasi_identifiers] == ["age"]
    assert "  left out                file: has another value in each row, as identifiers have" in out
    assert not [line for line in out if "tells rows apart" in line]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--identifier", "patient"], "there is no column patient; is it patient_id?"),
        (["--identifier", "patient_id,age,sex"], "names 3 columns: a draft takes one or two"),
        (["--identifier", "patient_id,patient", "--sensitive", "age"], "there is no column patient; is it"),
        (["--sensitive", "patient_id", "--identifier", "patient_id"], "names the identifier"),
        (["--sensitive", "zzz"], "there is no column zzz; there are patient_id, "),
        (["--out", "nowhere/x.yaml"], "nowhere is no folder"),
    ],
)
def test_a_word_that_is_wrong_is_named(republish, deliver, words, said):
    code, out, err = republish("init", deliver(), "--yes", *words)
    assert (code, out) == (2, [])
    assert said in err[-1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"a\n1\n", "has one column alone"),
        (b"a,b\n", "there is nobody in it"),
        (b"a,a\n1,2\n", "is in the header twice"),
        (b'a,b\n1,x"y\n', "line 2 (column b) has a quotation mark"),
        (b"a,b\n1\n", "line 2 has 1 field, and the header has 2"),
    ],
)
def test_a_file_that_is_no_table_is_refused_and_nothing_is_written(republish, tmp_path, content, said):
    (file := tmp_path / "2024-01-01.csv").write_bytes(content)
    code, _, err = republish("init", file, "--yes")
    assert (code, said in err[-1]) == (2, True), err
    assert [*tmp_path.iterdir()] == [file]
    assert republish("init", tmp_path / "nowhere.csv", "--yes")[0] == 2


def test_a_file_that_is_a_database_is_named_as_one(republish, tmp_path):
    with duckdb.connect(file := tmp_path / "clinic.duckdb") as connection:
        connection.execute("CREATE TABLE patients AS SELECT 1 AS id")
    code, _, err = republish("init", file, "--yes")
    assert (code, err) == (
        2,
        [f"republish: {file}: is a database, and no file of one table: name it duckdb:///{file}"],
    )


def test_where_no_column_is_unique_the_nearest_is_named(republish, tmp_path):
    rows = [f"{at - at % 20 // 19},{at % 5},{ILL[at % len(ILL)]}" for at in range(100)]
    (file := tmp_path / "table.csv").write_text("\n".join(("number,size,illness", *rows)))
    code, _, err = republish("init", file, "--yes")
    assert (code, "name the one that does; number has 95 values in 100 rows" in err[-1]) == (
        2,
        True,
    ), err


def test_a_script_has_to_say_that_nobody_is_asked(republish, deliver, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    code, _, err = republish("init", deliver())
    assert (code, "add --yes to take what is likely" in err[-1]) == (2, True)


def test_on_a_terminal_it_asks(republish, deliver, tmp_path, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    answers = "\nnothing\nincome\nborn, age\nborn\n"
    monkeypatch.setattr(sys, "stdin", Terminal(answers))
    code, out, _ = republish("init", deliver())
    assert code == 0
    said = "\n".join(out)
    assert "Which column identifies a person? [patient_id]" in said
    assert "There are patient_id, surname" not in said.partition("Which column must")[0]
    declared = load_contract(tmp_path / "clinic/clinic.yaml").contract
    assert (declared.identifier, declared.sensitive.name) == ("patient_id", "income")
    assert [qi.name for qi in declared.quasi_identifiers] == ["born"]
    assert "region: not chosen" in (tmp_path / "clinic/clinic.yaml").read_text()


@pytest.mark.slow("starts processes")
@pytest.mark.parametrize("words", [("init",), ("person", "--out", "page")])
def test_ctrl_c_ends_a_question_at_once(republish, deliver, tmp_path, words):
    command, *options = words
    table = deliver()
    if command == "person":
        assert republish("init", table, "--yes")[0] == 0
        table = tmp_path / "clinic/clinic.yaml"
    ours, theirs = pty.openpty()
    call = [sys.executable, "-m", "republish", command, str(table), *options]
    with subprocess.Popen(call, stdin=theirs, stdout=theirs, stderr=theirs) as asking:
        os.close(theirs)
        said = b""
        while b": " not in said:
            said += os.read(ours, 1000)
        for _ in range(20):  # the first one may come before the question waits for its answer
            asking.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                asking.wait(1)
                break
        code = asking.poll()
        asking.kill()
    os.close(ours)
    assert code == 1


@pytest.mark.parametrize(
    ("name", "path"), [("clinic_{}", "clinic_{release}.csv"), ("{} clinic", "{release} clinic.csv")]
)
def test_a_date_in_a_name_becomes_the_release(republish, deliver, tmp_path, name, path):
    republish("init", deliver(name=name), "--yes")
    assert load_contract(tmp_path / "clinic/clinic.yaml").contract.source.path == path


def test_a_folder_of_dated_files_and_other_ways_of_writing_dates(republish, deliver, tmp_path):
    deliver()
    for release in RELEASES:
        (tmp_path / f"clinic/{release}.csv").rename(tmp_path / f"clinic/p_{release[:7].replace('-', '')}.csv")
    assert republish("init", "clinic", "--yes")[0] == 0
    declared = load_contract(tmp_path / "clinic/p.yaml").contract
    assert declared.source.path == "p_{release:%Y%m}.csv"
    assert declared.releases.first == dt.date(2024, 1, 1)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize(
    ("names", "path"),
    [
        (("p_2024Q1", "p_2024Q2"), "p_{release:%YQ%q}.csv"),
        (("2024-q1 p", "2024-q2 p"), "{release:%Y-q%q} p.csv"),
    ],
)
def test_files_of_quarters_are_the_releases_of_their_first_days(republish, deliver, tmp_path, names, path):
    deliver()
    for release, name in zip(RELEASES, names, strict=True):
        (tmp_path / f"clinic/{release}.csv").rename(tmp_path / f"clinic/{name}.csv")
    assert republish("init", f"clinic/{names[1]}.csv", "--yes")[0] == 0
    declared = load_contract(tmp_path / "clinic/p.yaml").contract
    assert (declared.source.path, declared.releases.cron) == (path, "0 0 1 */3 *")
    assert declared.releases.first == dt.date(2024, 1, 1)
    code, out, _ = republish("validate", "--all", "clinic/p.yaml")
    assert (code, "  all snapshots that are there would be released (2)" in out) == (0, True)


def test_files_that_may_be_the_same_table_are_named(republish, deliver, tmp_path):
    deliver()
    for name in ("p_2023Q5", "p_Jan24", "wards"):
        (tmp_path / f"clinic/{name}.csv").write_text("patient_id\n1\n")
    for release, name in zip(RELEASES, ("p_2024Q1", "p_2024Q2"), strict=True):
        (tmp_path / f"clinic/{release}.csv").rename(tmp_path / f"clinic/{name}.csv")
    code, out, _ = republish("init", "clinic/p_2024Q1.csv", "--yes")
    said = next(line for line in out if line.startswith("Not looked at: "))
    assert (code, said.partition(".csv. ")[0]) == (0, "Not looked at: p_2023Q5")
    assert f"# {said}" in (tmp_path / "clinic/p.yaml").read_text()


def test_a_file_without_a_date_is_a_single_release(republish, deliver, tmp_path):
    deliver().rename(tmp_path / "people.csv")
    code, out, _ = republish("init", "people.csv", "--yes")
    assert (code, "a single release" in "\n".join(out)) == (0, True)
    declared = load_contract(tmp_path / "people.yaml").contract
    assert (declared.source.path, declared.releases.cron) == ("people.csv", None)
    assert republish("validate", "--all", "people.yaml")[0] == 0


@pytest.mark.slow("takes more than a second")
def test_files_that_are_written_in_another_way_later(republish, deliver, tmp_path):
    file = deliver()
    (tmp_path / f"clinic/{RELEASES[1]}.csv").write_text(text_of(people()[1], separator=";"))
    assert republish("init", file, "--yes")[0] == 0
    assert load_contract(tmp_path / "clinic/clinic.yaml").contract.sources[RELEASES[1]].separator == ";"
    assert republish("validate", "--all", "clinic/clinic.yaml")[0] == 0


@pytest.mark.slow("takes more than a second")
def test_a_table_of_a_database(republish, tmp_path):
    known = pl.DataFrame(people()[0], HEAD, orient="row")  # noqa: F841 - DuckDB finds it by its name
    with duckdb.connect(tmp_path / "clinic.duckdb") as database:
        database.execute("CREATE TABLE patients AS FROM known")
    assert republish("init", "duckdb:///clinic.duckdb", "--yes")[0] == 0
    declared = load_contract(tmp_path / "clinic.yaml").contract
    assert declared.source.query.endswith('"patients"')
    assert [qi.kind for qi in declared.quasi_identifiers] == ["date", "category"]
    assert republish("validate", "clinic.yaml")[0] == 0
    with duckdb.connect(tmp_path / "clinic.duckdb") as database:
        database.execute("CREATE TABLE others AS FROM patients")
    code, _, err = republish("init", "duckdb:///clinic.duckdb", "--yes", "--force")
    assert (code, '"others"' in err[-1]) == (2, True)


@pytest.mark.slow("starts processes")
def test_a_database_is_found_from_a_contract_in_another_folder(republish, tmp_path):
    (tmp_path / "contracts").mkdir()
    known = pl.DataFrame(people()[0], HEAD, orient="row")  # noqa: F841 - DuckDB finds it by its name
    for file in ("clinic.duckdb", tmp_path / "contracts/own.duckdb"):
        with duckdb.connect(file) as database:
            database.execute("CREATE TABLE patients AS FROM known")
    for file in ("clinic.duckdb", "contracts/own.duckdb", tmp_path / "clinic.duckdb"):
        words = ("--yes", "--force", "--out", "contracts/clinic.yaml")
        assert republish("init", f"duckdb:///{file}", *words)[0] == 0
        code, out, _ = republish("validate", "contracts/clinic.yaml")
        assert (code, any("would be released" in line for line in out)) == (0, True)


def test_a_password_is_refused_and_not_printed(republish, tmp_path):
    code, out, err = republish("init", "postgresql://me:open-sesame@host/clinic", "--yes")
    assert (code, "has a password in it" in err[-1]) == (2, True)
    assert "sesame" not in "\n".join([*out, *err])
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow("takes more than a second")
def test_a_value_of_most_people_is_said_and_may_be_known(republish, deliver, tmp_path):
    rows = [[(*row[:5], "none" if int(row[0]) % 3 else row[5], row[6]) for row in some] for some in people()]
    file = deliver(rows=rows)
    republish("init", file, "--yes")
    text = (tmp_path / "clinic/clinic.yaml").read_text()
    assert re.search("# \\? 6[5-9]% of the people have none, and no m is small enough", text)
    assert republish("init", file, "--yes", "--force", "--not-sensitive", "none")[0] == 0
    assert republish("validate", "--all", "clinic/clinic.yaml")[0] == 0


@pytest.mark.slow("takes more than a second")
def test_the_schema_accepts_what_is_drafted_and_finds_a_slip(republish, deliver, tmp_path):
    import jsonschema  # here, as it takes seconds, and each run collects all tests

    republish("init", deliver(), "--yes")
    contract = tmp_path / "clinic/clinic.yaml"
    assert contract.read_text().startswith("# yaml-language-server: $schema=republish.schema.json\n")
    schema = json.loads((tmp_path / "clinic/republish.schema.json").read_text())
    _, printed, _ = republish("schema")
    assert json.loads("\n".join(printed)) == schema
    keys = [one.get("properties", {}) for one in (*schema["anyOf"], *schema["$defs"].values())]
    assert all("description" in key for one in keys for key in one.values())  # an editor shows it
    assert keys[0]["identifier"]["description"].startswith("The column that identifies a person, or a list")
    declared, _ = parse_yaml(contract.read_bytes(), "clinic.yaml")
    valid = jsonschema.Draft202012Validator(schema)
    assert valid.is_valid(declared)
    assert not valid.is_valid(declared | {"sereis": "v1"})
    assert not valid.is_valid(declared | {"principle": declared["principle"] | {"n": 3}})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "22", "3"], "number"),
        (["1,5", "2,25"], "number"),
        (["1.234,5", "12,0"], "number"),
        (["0401", "0777"] * 20, "category"),
        (["2024-01-31", "1950-12-01"], "date"),
        (["31.01.2024", "01.12.1950"], "date"),
        (["20240131", "19501201"], "date"),
        ([*["34"] * 200, *["unknown"] * 5], "number"),
        (["yes", "no"] * 10, "category"),
        ([f"I{at % 30:02}.9" for at in range(100)], "category"),
        ([f"a sentence of several words {at}" for at in range(40)], "free text"),
        (["n/a", "-", ""], "nothing"),
    ],
)
def test_what_a_column_of_text_is(values, kind):
    assert column_of("^x.*$", pl.Series("^x.*$", values)).kind == kind


def test_a_column_of_times_has_not_one_value_alone():
    times = column_of("at", pl.Series("at", [dt.time(hour) for hour in range(24)]))
    id_, drug = (column_of(name, pl.Series(name, range(24))) for name in ("id", "drug"))
    (left_out,) = roles_of([id_, times, drug], [id_], drug, ["id"]).left_out
    assert left_out == (times, "of a type that is not read")


def test_a_query_that_finds_nobody_is_said_with_the_date_that_it_was_asked_for(republish, tmp_path):
    with duckdb.connect(tmp_path / "clinic.duckdb") as database:
        database.execute("CREATE TABLE visits AS SELECT 1 AS patient, 'flu' AS ill, DATE '2024-01-01' AS day")
    query = "SELECT * FROM visits WHERE day = :release"
    code, _, err = republish("init", "duckdb:///clinic.duckdb", "--yes", "--query", query)
    today = dt.datetime.now(dt.UTC).date()
    assert (code, f"on {today}, today: there is nobody in it" in err[-1]) == (2, True)


@pytest.mark.parametrize("second", [False, True])
def test_births_of_this_year_rows_without_a_value_and_rows_that_repeat(republish, tmp_path, second):
    rows = [
        (
            f"P{at // 2:03}",
            dt.date(1950, 1, 3) + dt.timedelta(days=180 * (at // 2)),
            "" if at < 58 else ILL[at % 8],
        )
        for at in range(300)
    ]
    table = pl.DataFrame(rows, ("PatientenNr", "Geburtsdatum", "Hauptdiagnose"), orient="row")
    for release in RELEASES[: 1 + second]:
        table.write_csv(tmp_path / f"visits_{release}.csv")
    assert republish("init", f"visits_{RELEASES[0]}.csv", "--yes")[0] == 0
    text = (tmp_path / "visits.yaml").read_text()
    assert "rows have no value: these rows are left out" in text
    (born,) = load_contract(tmp_path / "visits.yaml").contract.quasi_identifiers
    if second:
        assert "rows of one snapshot repeat it: visits" in text
        assert born.domain[1].year > int(RELEASES[1][:4])
        assert "it ends after the last snapshot, for those who are born later" in text
    else:
        assert "150 of 300 rows repeat it: visits" in text
        assert str(born.domain[1]) == f"{RELEASES[0][:4]}-12-31"


def test_a_date_that_can_be_read_in_two_ways_is_said():
    assert "%m/%d/%Y" in column_of("x", pl.Series(["01/02/1990", "03/04/1980"])).unsure


@pytest.mark.parametrize(
    ("releases", "cron"),
    [
        (["2024-01-01", "2024-07-01"], "@halfyearly"),
        (["2024-01-01", "2024-04-01", "2024-07-01"], "@quarterly"),
        (["2024-02-01", "2024-05-01"], "0 0 1 2,5,8,11 *"),
        (["2024-01-15", "2024-02-15"], "0 0 15 * *"),
        (["2024-01-31", "2024-02-29", "2024-03-31"], "0 0 L * *"),
        (["2023-02-28", "2023-03-28"], "0 0 28 * *"),
        (["2024-01-31", "2024-02-28"], None),
        (["2023-01-01", "2024-01-01"], "@yearly"),
        (["2024-01-01", "2024-01-08"], "@weekly"),
        (["2024-01-01", "2024-01-02"], "@daily"),
        (["2024-01-01", "2024-03-03"], None),
        (["2024-01-01"], None),
    ],
)
def test_the_schedule_of_dates(releases, cron):
    assert schedule_of(releases) == cron


def test_spellings_of_one_label_are_pointed_out(republish, deliver, tmp_path):
    first, later = people()
    shouted = [(*row[:3], f" {row[3].upper()}", *row[4:]) if row[3] == "north" else row for row in first]
    for rows, said in (((first, later), False), ((shouted, later), True)):
        assert republish("init", deliver(rows=rows, quoted=True), "--yes", "--force")[0] == 0
        text = " ".join((tmp_path / "clinic/clinic.yaml").read_text().replace("#", " ").split())
        assert ("? 1 of the labels differ from another by spaces, capital letters" in text) is said


def test_the_year_of_a_snapshot_is_no_quasi_identifier(republish, tmp_path):
    for year in ("2023", "2024", "2025", "2026"):
        rows = [f"p{at},{year},{20 + at % 60},{ILL[at % len(ILL)]}" for at in range(150)]
        (tmp_path / f"panel_{year}.csv").write_text("\n".join(("id,year,age,illness", *rows)))
    assert republish("init", tmp_path / "panel_2023.csv", "--yes")[0] == 0
    text = (tmp_path / "panel.yaml").read_text()
    assert "name: age" in text
    assert "name: year" not in text
    assert "#   year: has one value alone in each snapshot" in text


def test_numbers_that_are_multiples_have_cells_of_several_and_a_step_is_proposed(republish, tmp_path):
    """A hundredth of the domain is 5,000: each cell of it would have one number at most, and say it."""
    plots = [10_000 * (1 + row % 35) for row in range(200)]
    table = pl.DataFrame({"id": range(200), "plot": plots, "disease": ["flu", "cold", "gout", "angina"] * 50})
    table.write_csv("2026-01-01.csv")
    assert republish("init", "2026-01-01.csv", "--yes")[0] == 0
    (drafted,) = tmp_path.glob("*.yaml")
    assert "# ? if all are always multiples of 10000, step: 10000 helps estimates" in drafted.read_text()
    (plot,) = load_contract(drafted).contract.quasi_identifiers
    assert (plot.min_width, plot.step) == (20_000, 1)


def test_many_values_are_written_into_a_file_that_says_what_it_lacks(republish, tmp_path):
    """With a list, a value may be a counterfeit's before anybody has it."""
    codes = [f"J{at:02}.{at % 7}" for at in range(60)]
    for release in RELEASES:
        rows = [f"{at},{20 + at % 59},{codes[at % 60]}" for at in range(600)]
        (tmp_path / f"stays_{release}.csv").write_text("\n".join(("patient_id,age,diagnosis", *rows)))
    assert republish("init", f"stays_{RELEASES[0]}.csv", "--yes")[0] == 0
    assert (tmp_path / "stays.diagnosis.csv").read_text().split() == codes
    text = (tmp_path / "stays.yaml").read_text()
    assert "sensitive: {name: diagnosis, values: stays.diagnosis.csv}" in text
    assert (
        "  final_newline: false\n  # ? the last line of a file has no line end; is the file complete?" in text
    )
    assert "? stays.diagnosis.csv has the 60 values that are here. Put all that there can be into it" in text
    assert not [code for code in codes if code in text]
    assert republish("validate", "--all", "stays.yaml")[0] == 0


def test_values_in_two_spellings_are_not_listed(republish, tmp_path):
    codes = [f"J{at // 2:02}{' ' * (at % 2)}" for at in range(60)]
    rows = [f"{at},{20 + at % 59},{codes[at % 60]}" for at in range(600)]
    (tmp_path / "stays_2024-01-01.csv").write_text("\n".join(("patient_id,age,diagnosis", *rows)))
    assert republish("init", "stays_2024-01-01.csv", "--yes")[0] == 0
    assert "sensitive: {name: diagnosis}" in (tmp_path / "stays.yaml").read_text()


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("number", range(6))
def test_a_draft_that_finds_no_room_leaves_nothing_in_the_way_of_the_next(
    republish, hospital, tmp_path, monkeypatch, number
):
    table, written, sync = hospital.snapshot("2024-01-01"), iter(range(100)), store.sync
    table.write_csv(tmp_path / "people.csv")
    (tmp_path / "out").mkdir()
    draft = ("init", tmp_path / "people.csv", "--out", tmp_path / "out/people.yaml", "--yes")
    draft += ("--identifier", table.columns[0], "--sensitive", table.columns[-1])

    def full(path):
        if next(written) >= number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(path)

    monkeypatch.setattr(store, "sync", full)
    code, _, err = republish(*draft)
    assert (code, len(err)) == (2, 1)
    assert "can't be written: No space left on device. Make room there, and run again" in err[0]
    assert list((tmp_path / "out").iterdir()) == []
    monkeypatch.undo()
    assert republish(*draft)[0] == 0


@pytest.mark.parametrize(
    "ending", [".tab", ".sqlite", ".dat", ".xls", ".ods", ".json", ".rds", ".txt", ".zip"]
)
def test_a_file_that_is_no_source_is_named_with_the_way_there(tmp_path, ending):
    """Read as CSV, it would have faults of quotation marks and encodings that mean nothing."""
    (tmp_path / f"people-2024-01-01{ending}").write_bytes(b'\x00"1\xff' * 20)
    with pytest.raises(SnapshotError, match=r"source\.path must end in \.parquet.*; .{15}"):
        in_files(tmp_path / f"people-2024-01-01{ending}")


def test_weights_and_what_another_column_says_are_not_what_nobody_may_learn():
    towns = ["Ulm", "Bonn", "Kiel", "Jena"] * 30
    columns = {
        "value": ["a", "b", "c", "d", "e"] * 24,
        "town": towns,
        "stratum": [town[0] for town in towns],
        "pweight": [float(len(town)) + ord(town[0]) for town in towns],
        "rep_wt1": [float(ord(town[0])) for town in towns],
        "RB050": [float(ord(town[1])) for town in towns],
    }
    found = [column_of(name, pl.Series(values)) for name, values in columns.items()]
    assert likely_sensitive(found).name == "value"
    person = column_of("id", pl.Series([f"P{at}" for at in range(120)]))
    roles = roles_of([person, *found], [person], found[0], ["id"])
    assert [one.name for one in roles.quasi_identifiers] == ["town", "stratum"]
    assert [one.name for one, why in roles.left_out if "a weight" in why] == ["pweight", "rep_wt1", "RB050"]


@pytest.mark.parametrize(
    ("name", "middle", "is_one"),
    [
        *((name, 71.5, False) for name in ("weight", "Gewicht", "WT", "body_weight")),
        *((name, middle, True) for name in ("weight", "wt") for middle in (1.02, 1830.0)),
        ("pweight", 71.5, True),
    ],
)
def test_what_somebody_weighs_is_no_weight_of_a_survey(name, middle, is_one):
    assert is_weight(column_of(name, pl.Series([middle + at / 100 for at in range(-9, 10)]))) == is_one


def test_a_fault_of_a_draft_is_a_comment_in_it(tmp_path):
    rows = [f"{at % 60},{20 + at % 50},{'abcde'[at % 5]}" for at in range(240)]
    (tmp_path / "visits-2024-01-01.csv").write_text("\n".join(["person_id,age,diagnosis", *rows]) + "\n")
    words = ["init", str(tmp_path / "visits-2024-01-01.csv"), "--yes", "--not-sensitive", "a"]
    run = CliRunner().invoke(app, words)
    assert run.exit_code == 0, run.output
    text = (tmp_path / "visits.yaml").read_text()
    assert "# ? sensitive.not_sensitive: " in text.splitlines()[0]
    assert "it is not well formed yet: sensitive.not_sensitive" in run.output


def test_identifiers_that_floating_point_merged_are_refused_first(tmp_path):
    people = pl.DataFrame({"person": [2.0**53 + 2 * at for at in range(60)], "age": range(60)})
    people = people.with_columns(diagnosis=pl.Series(["a", "b", "c", "d", "e"] * 12))
    people.write_parquet(tmp_path / "people-2024-01-01.parquet")
    run = CliRunner().invoke(app, ["init", str(tmp_path / "people-2024-01-01.parquet"), "--yes"])
    assert "neighbours are one number" in str(run.exception)


def waves(folder, *snapshots, head="person,age,married,ill"):
    """Write snapshots of a person's identifier, age, whether married, and value; returns the folder."""
    for year, rows in enumerate(snapshots, 2021):
        lines = [head, *(f"{who},{20 + at % 37},{at // 11 % 2},{ill}" for at, (who, ill) in enumerate(rows))]
        (folder / f"panel-{year}-01-01.csv").write_text("\n".join([*lines, ""]))
    return folder


def ill(who, *values):
    """People `who` with these values, in turn."""
    return [(f"{at:04}", values[at % len(values)]) for at in who]


def drafted(republish, folder):
    assert republish("init", folder, "--yes", "--out", folder / "draft.yaml")[0] == 0
    return load_contract(folder / "draft.yaml").contract, (folder / "draft.yaml").read_text()


def test_a_draft_promises_what_each_snapshot_bears_and_its_newcomers_do(republish, tmp_path):
    """All rows together may bear more than the first snapshot, or than those who come to a later one."""
    for name, snapshots, m in (
        ("even", [ill(range(200), *ILL), ill(range(220), *ILL)], 4),
        ("first", [ill(range(99), *ILL[:3]), ill(range(900), *ILL)], 3),
        ("new", [ill(range(200), *ILL), ill(range(200), *ILL) + ill(range(200, 240), *ILL[:2])], 2),
    ):
        (tmp_path / name).mkdir()
        contract, _ = drafted(republish, waves(tmp_path / name, *snapshots))
        assert contract.principle.m == m, name
        assert contract.principle.on_ineligible == "refuse"


def test_newcomers_who_have_one_value_wait_in_a_draft(republish, tmp_path):
    snapshots = [ill(range(200), *ILL), ill(range(200), *ILL) + ill(range(200, 240), "flu")]
    contract, text = drafted(republish, waves(tmp_path, *snapshots))
    assert (contract.principle.m, contract.principle.on_ineligible) == (2, "wait")
    assert "# ? of the newcomers of a snapshot, too many have one value: they wait for later ones" in text


def test_a_draft_expects_as_many_changes_as_there_are(republish, tmp_path):
    """A snapshot in which more people have another value than usual would be refused."""
    contract, text = drafted(
        republish, waves(tmp_path, ill(range(200), *ILL), ill(range(200), *ILL[4:], *ILL[:4]))
    )
    assert contract.expect.changed == 1.0
    assert "# ? up to 100% of the people have another value than in a snapshot before" in text
    (tmp_path / "same").mkdir()
    contract, text = drafted(republish, waves(tmp_path / "same", *[ill(range(200), *ILL)] * 2))
    assert "expect" not in text


def test_a_draft_promises_the_same_where_few_rows_have_no_value(republish, tmp_path):
    """One of them does not hide how many people have another value, and which newcomers there are."""
    first = [*ill(range(200), *ILL), ("0900", "")]
    changed = waves(tmp_path, first, ill(range(200), *ILL[4:], *ILL[:4]))
    contract, text = drafted(republish, changed)
    assert contract.expect.changed == 1.0
    assert "1 of 401 rows have no value: these people are left out" in text
    (tmp_path / "new").mkdir()
    newcomers = [first, ill(range(200), *ILL) + ill(range(200, 240), "flu")]
    contract, _ = drafted(republish, waves(tmp_path / "new", *newcomers))
    assert (contract.principle.m, contract.principle.on_ineligible) == (2, "wait")


def test_labels_that_a_program_wrote_with_decimals_are_drafted_and_read_alike(republish, tmp_path):
    """Whole numbers of a column in which some are missing are written as 0.0 and 1.0."""
    ill = [f"{at % 8}.0" if at % 60 else "" for at in range(240)]
    rows = [f"p{at:03},{20 + at % 37},{('0.0', '1.0', '')[at % 3]},{ill[at]}" for at in range(240)]
    text = "\n".join(["person,age,married,ill", *rows, ""])
    (tmp_path / "members-2024-01-01.csv").write_text(text)
    (tmp_path / "members-2025-01-01.csv").write_text(text.replace(".0", ""))
    assert republish("init", tmp_path, "--yes", "--out", tmp_path / "draft.yaml")[0] == 0
    text = (tmp_path / "draft.yaml").read_text()
    assert 'order: ["0", "1"], missing: publish' in text
    assert "sensitive: {name: ill, values: [0, 1, 2, 3, 4, 5, 6, 7], missing: leave_out}" in text
    code, said, _ = republish("validate", "--all", tmp_path / "draft.yaml", "--home", tmp_path / "home")
    assert code == 0
    assert "  all snapshots that are there would be released (2)" in said


def test_digits_of_many_rows_need_no_least_width(republish, tmp_path):
    """Nobody is known by the end of an interval where hundreds of people have it."""
    rows = [f"p{at:03},{20 + at % 37},{1 + at // 11 % 4},{ILL[at % 8]}" for at in range(240)]
    (tmp_path / "members-2024-01-01.csv").write_text("\n".join(["person,age,race,ill", *rows, ""]))
    contract, _ = drafted(republish, tmp_path)
    widths = {one.name: one.min_width for one in contract.quasi_identifiers}
    assert widths == {"age": 2, "race": 0}


def numbered(folder, *heads, of=lambda one: one):
    """Write snapshots of shuffled rows, two of a family, with their numbers before; returns the folder."""
    for year, head in enumerate(heads, 2024):
        rows = sorted(range(year, year + 240), key=lambda one: one * 7919 % 1009)
        lines = [
            f"{at},{one // 2},{of(one)},{20 + one // 2 % 37},{'FM'[one // 2 % 2]},{ILL[one % 8]}"
            for at, one in enumerate(rows)
        ]
        (folder / f"members-{year}-01-01.csv").write_text("\n".join([head, *lines, ""]))
    return folder


@pytest.mark.parametrize("name", ["", "rownames", "Unnamed: 0"])
def test_the_number_of_a_row_identifies_nobody(republish, tmp_path, name):
    """Programs write one before the columns. The next snapshot has another person in its place."""
    contract, text = drafted(republish, numbered(tmp_path, *[f"{name},family,pid,age,sex,ill"] * 2))
    assert (contract.identifier, contract.rows) == ("pid", "one")
    assert f"#   {name or 'a column without a name'}: numbers the rows of each file" in text


def test_people_with_several_rows_are_found_beside_numbers_of_rows(republish, tmp_path):
    """Rows repeat the number of a person, whose sex is the same in all of them."""
    head = "rownames,id,visit,age,sex,ill"
    contract, _ = drafted(republish, numbered(tmp_path, head, head, of=lambda one: one % 2))
    assert (contract.identifier, contract.rows, contract.row) == ("id", "several", None)
    assert "rownames" not in {one.name for one in contract.quasi_identifiers}


def test_the_number_of_a_row_identifies_people_of_a_single_release_alone(republish, tmp_path):
    head = "rownames,size,rooms,age,sex,ill"
    series = numbered(tmp_path, head, head, of=lambda one: one % 7)
    code, _, said = republish("init", series, "--yes", "--out", tmp_path / "draft.yaml")
    assert code != 0
    assert "rownames numbers the rows of each file, so that a number may be another person's" in said[0]
    (tmp_path / "one").mkdir()
    contract, text = drafted(republish, numbered(tmp_path / "one", head, of=lambda one: one % 7))
    assert contract.identifier == "rownames"
    assert "# ? it numbers the rows of the file. That will do for a single release" in text


def test_two_digits_are_a_category(republish, tmp_path):
    """No interval says anything of 0 and 1, and none between them is anybody's."""
    contract, _ = drafted(republish, waves(tmp_path, ill(range(200), *ILL)))
    married = next(one for one in contract.quasi_identifiers if one.name == "married")
    assert (married.kind, list(married.labels)) == ("category", ["0", "1"])


def of_periods(write, periods=range(4)):
    """The rows of some people, once in each of several periods."""
    chance = random.Random(7)
    born = [dt.date(1930, 1, 1) + dt.timedelta(days=chance.randint(0, 28_000)) for _ in range(90)]
    rows = [
        f"{who:03},{born[who]},{['north', 'south'][chance.random() < 0.5]},{chance.choice(ILL)},{write(at)}\n"
        for at in periods
        for who in range(90)
    ]
    return "id,born,region,diagnosis,period\n" + "".join(rows)


WRITTEN = {
    "weeks": (lambda at: f"2024-W{at + 5:02}", "{release:%G-W%V}", "2024-01-29"),
    "quarter first": (lambda at: f"Q{at + 1} 2024", "{release:Q%q %Y}", "2024-01-01"),
    "month first": (lambda at: f"{at + 1:02}/2024", "{release:%m/%Y}", "2024-01-01"),
    "days": (lambda at: f"{28 - 9 * at:02}.02.2024", "{release:%d.%m.%Y}", "2024-02-01"),
}


@pytest.mark.parametrize("form", WRITTEN)
def test_a_file_of_all_releases_says_when_in_many_ways(republish, tmp_path, form):
    write, where, first = WRITTEN[form]
    (file := tmp_path / "clinic.csv").write_text(of_periods(write))
    assert republish("init", file, "--yes")[0] == 0
    contract = load_contract(tmp_path / "clinic.yaml").contract
    assert (contract.identifier, contract.source.where) == ("id", {"period": where})
    assert str(contract.releases.first) == first


UNREAD = {"a month": lambda at: f"2024-{at + 1}", "a letter": "abcd".__getitem__, "terms": "2020/{}".format}


@pytest.mark.parametrize("form", UNREAD)
def test_a_period_makes_no_people_of_the_rows_of_one(republish, tmp_path, form):
    """Each of them would have a signature of each row, in one release: together these leave one value."""
    (file := tmp_path / "clinic.csv").write_text(of_periods(UNREAD[form]))
    code, _, (said,) = republish("init", file, "--yes")
    assert code == 2
    assert "rows repeat id, and are the same people's. If a column says when a row is from, write it" in said


def test_words_that_several_have_among_numbers_are_asked_about(republish, tmp_path):
    chance = random.Random(3)
    ages = ["~ninety" if at % 25 == 3 else str(chance.randint(18, 89)) for at in range(150)]
    (file := tmp_path / "2024-01-01.csv").write_text(
        "patient_id,age,sex,diagnosis\n"
        + "".join(f"{at:03},{age},{'FM'[at % 2]},{ILL[at % len(ILL)]}\n" for at, age in enumerate(ages))
    )
    assert republish("init", file, "--yes", "--out", tmp_path / "draft.yaml")[0] == 0
    text = (tmp_path / "draft.yaml").read_text()
    assert "# ? taken for no value: ~ninety. Of a bound (> 89), write its number as bounds" in text


def test_files_that_programs_put_beside_others_are_passed_over(republish, deliver):
    first = deliver()
    for name in (f".~lock.{first.name}#", f"~${first.name}", f"._{first.name}"):
        (first.parent / name).write_text("me")
    assert republish("init", first.parent, "--yes")[0] == 0


def test_a_line_of_names_among_the_rows_is_no_persons(republish, deliver):
    first = deliver()
    first.write_text(first.read_text() + ",".join(HEAD) + "\n")
    code, _, (said,) = republish("init", first, "--yes")
    assert code == 2
    assert "a row has the names of the columns again: take it out in the source" in said


def test_columns_that_have_other_names_later_are_named(republish, deliver):
    first = deliver()
    later = first.parent / first.name.replace(*RELEASES)
    later.write_text(later.read_text().replace("born", "Birth_Date", 1))
    code, out, _ = republish("init", first, "--yes")
    said = " ".join(" ".join(out).split())
    assert (code, "has no born, and the first one no Birth_Date: if they are the same" in said) == (0, True)
    assert "sources: {2024-07-01: {names: {born: Birth_Date}}}" in said
    later.write_text(later.read_text().replace("patient_id", "No.", 1))
    out, err = republish("init", first, "--yes", "--force", "--sensitive", "diagnosis")[1:]
    said = " ".join(" ".join([*out, *err]).split())
    assert "has no patient_id, born, and the first one no No., Birth_Date" in said


def test_a_title_above_the_names_is_said_to_be_one(republish, tmp_path):
    (file := tmp_path / "2024-01-01.csv").write_text(f"Patients,,,,\n{of_periods(str)}")
    code, _, (said,) = republish("init", file, "--yes")
    assert code == 2
    assert "4 of the 5 columns have no name in the first line: if that is a title, take it out" in said


def test_rows_of_nobody_are_said_to_be_refused(republish, deliver):
    first = deliver()
    republish("init", first, "--yes", "--out", first.parent / "draft.yaml")
    assert "an identifier that is none" not in (first.parent / "draft.yaml").read_text()
    first.write_text(f"{first.read_text()}Total{',' * (len(HEAD) - 1)}\n")
    assert republish("init", first, "--yes", "--force", "--out", first.parent / "draft.yaml")[0] == 0
    text = (first.parent / "draft.yaml").read_text()
    assert "# ? 1 rows of patient_id have an identifier that is none; each is refused:" in text
    assert "#   words that say that nobody is meant (unknown, n/a, total)" in text
