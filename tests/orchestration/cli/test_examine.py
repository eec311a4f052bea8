"""`republish validate`: what it says of a series, its snapshots and the next release, changing nothing."""

import datetime as dt
import re
import shutil

import polars as pl
import pytest
import yaml

from republish.anonymize.principle.candidate import ReleaseFigures
from republish.orchestration.cli import terminal
from republish.orchestration.cli.examine import _would_be_released, examine
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.series import calendar
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home
from tests.hospital import IDENTIFIER, PATIENTS, RELEASES, everything, make

FIRST, SECOND, THIRD = RELEASES


@pytest.fixture
def validate(hospital):
    """What is said of the hospital's series in a home, and the exit code."""

    def run(home, **how):
        lines, before = [], everything(home)
        code = examine(Series(load_contract(hospital.contract), Home.named(home)), lines.append, **how)
        assert everything(home) == before
        said = "\n".join(lines)
        assert not IDENTIFIER.search(said.encode())
        return code, said

    return run


@pytest.mark.parametrize(
    ("policy", "code", "words"),
    [
        ("wait", 0, ["20 people held back (in the table, and not", "advice: 20 people would wait together"]),
        ("refuse", 3, ["would be refused: the 20 inserted people are not"]),
    ],
)
def test_a_batch_that_is_not_eligible_is_foreseen(validate, hospital, home, policy, code, words):
    known = hospital.snapshot(SECOND)
    new = hospital.snapshot(THIRD).join(known, on="patient_id", how="anti")
    new = new.join(hospital.snapshot(FIRST), on="patient_id", how="anti")[:20]
    hospital.deliver(THIRD, pl.concat([known, new.with_columns(disease=pl.lit("flu"))]))
    hospital.declare(principle={"on_ineligible": policy}, accept={THIRD: ["on_ineligible"]})
    found, said = validate(home)
    assert found == code
    assert all(one in said for one in words)


def test_snapshots_that_are_missing_are_counted_in_a_line(validate, hospital, home):
    hospital.declare(releases={"cron": "0 0 1 * *"})
    for release in RELEASES[1:]:
        hospital.file(release).unlink()
    code, said = validate(home / "new")
    assert code == 0
    assert said.count("no snapshot") == 2
    (line,) = (line for line in said.splitlines() if "more releases have no snapshot" in line)
    assert line.startswith("  2024-03-01 to 20")


def test_a_first_snapshot_that_comes_before_its_date_is_looked_at(validate, tmp_path, monkeypatch):
    monkeypatch.setattr(calendar, "now", lambda: dt.datetime(2023, 12, 31, 12, tzinfo=dt.UTC))
    code, said = validate(tmp_path / "nowhere")
    assert code == 0
    assert f"no release is due yet; the first is {FIRST}, and today is 2023-12-31" in said
    assert f"{FIRST}: 300 people, no faults" in said
    assert "would be released with" in said
    assert SECOND not in said


@pytest.mark.slow("takes more than a second")
def test_an_odd_snapshot_is_foreseen(validate, hospital, home):
    lower = pl.col("patient_id").str.to_lowercase()
    hospital.deliver(THIRD, hospital.snapshot(THIRD).with_columns(lower))
    code, said = validate(home)
    assert code == 2
    assert f"{THIRD}: would be refused: 0.0% of the people of the snapshot before are in this one" in said
    assert "but for small and capital letters" in said
    hospital.declare(accept={THIRD: ["carried"]})
    assert validate(home)[0] == 0


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("every", [False, True])
def test_a_fault_of_all_snapshots_is_one_line(validate, hospital, home, every):
    dates = (THIRD, "2024-10-01", "2025-01-01", "2025-04-01", "2025-07-01")
    for release in dates:
        hospital.deliver(release, hospital.snapshot(SECOND).drop("age"))
    code, said = validate(home, every=every)
    assert code == 2
    (line,) = (line for line in said.splitlines() if "refused" in line)
    assert line.startswith(f"  in 5 snapshots, {THIRD} to {dates[-1]}: would be refused: the column age is")
    assert "figures" not in line


def test_what_differs_between_bad_snapshots_is_said_of_each(validate, hospital, home):
    """Two snapshots have two faults, one of them with other figures; a third one shares a fault with them."""
    table = hospital.snapshot(SECOND)
    for release, lacking in ((THIRD, 1), ("2024-10-01", 2), ("2025-01-01", 0)):
        age = pl.when(pl.int_range(pl.len()) >= lacking).then("age")
        hospital.deliver(release, table.with_columns(age=age).drop("sex"))
    _, said = validate(home, every=True)
    age, sex = sorted(line for line in said.splitlines() if "refused" in line)
    assert age.startswith(f"  in 2 snapshots, {THIRD} and 2024-10-01: would be refused: ")
    assert age.endswith(f" (these are the figures of {THIRD})")
    assert sex.startswith(f"  in 3 snapshots, {THIRD} to 2025-01-01: would be refused: the column sex is")


@pytest.mark.slow("takes more than a second")
def test_all_releases_are_tried_from_the_first_on(validate, hospital, tmp_path):
    """What the second is refused for can't be seen in its snapshot alone: nobody may change in it."""
    for marker in hospital.folder.glob(".*.home"):
        marker.unlink()
    code, said = validate(tmp_path / "nowhere", every=True)
    assert code == 0
    assert said.count("people, would be released with") == 3
    assert "all snapshots that are there would be released (3)" in said
    assert not (tmp_path / "nowhere").exists()
    assert not [*hospital.folder.glob(".*.home")]

    hospital.declare(principle={"on_value_change": "refuse"})
    code, said = validate(tmp_path / "nowhere", every=True)
    assert code == 3
    assert f"{SECOND}: is the first that would be refused: " in said
    assert f"{THIRD}: 300 people, no faults" in said
    assert "all snapshots" not in said
    assert validate(tmp_path / "nowhere")[0] == 0  # one release alone does not show it


def test_releases_before_a_missing_snapshot_are_not_called_all(validate, hospital, home):
    hospital.deliver("2025-01-01", hospital.snapshot(THIRD))
    _, said = validate(home, every=True)
    assert "those before the missing one would be released (1)" in said
    assert "all snapshots" not in said


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 counterfeits"), (1, "1 counterfeit"), (2, "2 counterfeits")]
)
def test_one_counterfeit_is_no_plural(number, words):
    figures = ReleaseFigures(people=8, tuples=8, groups=2, counterfeits=number, held_back=0)
    assert (
        _would_be_released(figures, "people")
        == f"would be released with 2 groups, {words} and 0 people held back"
    )


@pytest.mark.slow("takes more than a second")
def test_all_releases_are_tried_after_those_that_are_published(validate, hospital, home):
    shutil.copy(hospital.file(THIRD), hospital.file("2024-10-01"))
    assert f"only {THIRD} was tried: --all tries the other snapshots (1) as well" in validate(home)[1]
    code, said = validate(home, every=True)
    assert code == 0
    assert "all snapshots that are there would be released (2)" in said
    released = make(hospital.series(home), THIRD).committed(THIRD).counts
    assert f"{THIRD}: 300 people, would be released with {released.groups:,} groups" in said


def test_a_fault_of_a_snapshot_names_no_file_that_is_gone(validate, hospital, tmp_path):
    hospital.deliver(SECOND, pl.concat([hospital.snapshot(SECOND)] * 2))
    code, said = validate(tmp_path / "nowhere", every=True)
    assert code == 2
    assert f"{SECOND}: is the first that would be refused: " in said
    assert "300 of 600 rows repeat the identifier" in said
    assert "faults.csv" not in said
    assert "republish-" not in said


def test_before_the_first_date_there_is_nothing_to_chain(validate, tmp_path, monkeypatch):
    monkeypatch.setattr(calendar, "now", lambda: dt.datetime(2023, 12, 31, 12, tzinfo=dt.UTC))
    code, said = validate(tmp_path / "nowhere", every=True)
    assert (code, f"{FIRST}: 300 people" in said) == (0, True)


@pytest.mark.slow("takes more than a second")
def test_a_snapshot_that_was_replaced_after_publication_is_said(validate, hospital, home):
    hospital.deliver(FIRST, hospital.snapshot(FIRST).reverse())  # the same people in another order
    assert "from a snapshot of" not in validate(home)[1]
    hospital.deliver(FIRST, hospital.snapshot(FIRST)[1:])
    code, said = validate(home)
    assert code == 0  # nothing stands against the next release
    assert f"{FIRST}: is published from a snapshot of 300 people, and the source now has another one" in said
    assert f"{SECOND}: is published from" not in said


def test_a_missing_snapshot_before_one_that_is_there(validate, hospital, home):
    shutil.copy(hospital.file(THIRD), hospital.file("2024-10-01"))
    hospital.file(THIRD).unlink()
    code, said = validate(home)
    assert code == 2
    assert (
        f"{THIRD}: would be refused: its snapshot is missing, {hospital.file(THIRD)}. That of 2024-10-01 is"
        in said
    )


def test_a_second_series_would_be_refused(validate, hospital, home):
    hospital.declare(series="v2")
    code, said = validate(home)
    assert code == 2
    assert "no release could be made" in said
    assert "separate_readers: true" in said


@pytest.mark.slow("takes more than a second")
def test_the_first_release_of_a_series_that_goes_on_from_another_is_foreseen_on_its_state(
    validate, hospital, home
):
    hospital.declare(series="v2", supersedes="v1", expect={"changed": 0.5})
    code, said = validate(home)
    assert code == 0
    foreseen = next(line for line in said.splitlines() if f"{FIRST}: would be released with" in line)
    figures = make(hospital.series(home), FIRST).committed(FIRST).counts
    assert f"{figures.groups:,} groups" in foreseen


@pytest.mark.slow("takes more than a second")
def test_whom_the_same_table_would_hold_back_next_time_is_forecast(validate, hospital, tmp_path):
    """Values that come and go spend a budget. Who is admitted is drawn, so the forecast is nearly right."""
    transient = {"semantics": "transient"}
    budget = {"l": 2, "strategy": "constant_ratio", "releases": 2, "on_ineligible": "wait"}
    hospital.under({"name": "global_guarantee", **budget}, sensitive=transient)
    hospital.deliver(THIRD, hospital.snapshot(SECOND))
    home = tmp_path / "new home"
    make(hospital.series(home), FIRST)
    code, said = validate(home)
    assert code == 0
    (forecast,) = re.findall(r"if the next table is the same, ([\d,]+) people are held back then", said)
    released = make(hospital.series(home), SECOND, THIRD).committed(THIRD).counts
    assert released.held_back == pytest.approx(int(forecast), abs=0.05 * PATIENTS)
    assert int(forecast) > 0.1 * PATIENTS


def test_a_home_that_has_no_key_yet_gets_none(validate, hospital, tmp_path, monkeypatch):
    monkeypatch.delenv("REPUBLISH_KEY")
    hospital.declare(series="v2", supersedes="v1")
    code, said = validate(tmp_path / "nowhere")
    assert code == 2
    assert "v1 has no releases in" in said
    assert not (tmp_path / "nowhere").exists()


def test_a_first_date_off_the_schedule(validate, hospital, tmp_path):
    declared = yaml.safe_load(hospital.contract.read_text())
    declared["releases"]["first"] = "2024-01-15"
    hospital.contract.write_text(yaml.safe_dump(declared))
    assert f"the first release is that of {SECOND}" in validate(tmp_path / "nowhere")[1]


# ---- what is in the columns


def profiled(hospital, home, *, profiles=True):
    """The rows of a profile by column, and everything that was said."""
    lines, before = [], everything(home)
    examine(hospital.series(home), lines.append, profiles=profiles)
    assert everything(home) == before
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines if line.startswith("    ")]
    return {row[0]: row for row in rows}, "\n".join(lines)


def test_each_column_is_profiled_and_identifiers_and_values_only_counted(hospital, home):
    table = hospital.snapshot(THIRD)
    rows, said = profiled(hospital, home)
    assert f"{THIRD}: 300 people, no faults" in said
    assert "was tried" not in said
    assert rows["patient_id"] == ["patient_id", "identifier", "300", "0"]
    ages = table["age"]
    share = f"{100 * ages.value_counts()['count'].max() / 300:.1f} %"
    assert rows["age"] == [
        "age",
        "number",
        str(ages.min()),
        str(ages.max()),
        str(ages.n_unique()),
        share,
        "0",
    ]
    assert rows["sex"][:3] == ["sex", "category", "2"]
    assert rows["disease"][:2] == ["disease", "sensitive"]
    assert not IDENTIFIER.search(said.encode())
    assert not [value for value in table["disease"].unique() if value in said]


@pytest.mark.slow("takes more than a second")
def test_no_profile_is_shown_unless_it_is_asked_for(hospital, home, republish):
    _, out, _ = republish("validate", hospital.contract, "--home", home)
    assert not [line for line in out if "most frequent" in line]  # no terminal
    _, out, _ = republish("validate", hospital.contract, "--home", home, "--profile")
    assert [line for line in out if "most frequent" in line]


def test_a_snapshot_that_is_refused_is_profiled_inside_its_domains(hospital, home):
    ages = pl.Series("age", [None, 999, *hospital.snapshot(THIRD)["age"][2:]])
    hospital.deliver(THIRD, hospital.snapshot(THIRD).with_columns(ages))
    rows, said = profiled(hospital, home)
    assert "would be refused" in said
    assert rows["age"][2:4] == [str(ages.min()), str(ages[2:].max())]
    assert rows["age"][-1] == "1"
    assert "999" not in said


@pytest.mark.parametrize("of_another_type", [dt.datetime(1980, 3, 1, 12, tzinfo=dt.UTC), dt.time(7), True])
def test_a_column_of_another_type_is_refused_and_profiled_without_ends(hospital, home, of_another_type):
    hospital.deliver(THIRD, hospital.snapshot(THIRD).with_columns(age=pl.lit(of_another_type)))
    rows, said = profiled(hospital, home)
    assert "age: 300 of 300 rows are not whole numbers" in said
    assert rows["age"][2:4] == ["1", "100.0 %"]


def test_numbers_in_a_column_of_dates_are_refused_and_profiled_without_ends(hospital, home):
    born = {"name": "age", "kind": "date", "domain": ["1900-01-01", "2024-12-31"]}
    hospital.declare(quasi_identifiers=[born])
    rows, said = profiled(hospital, home)
    assert "age: 300 of 300 rows are not dates" in said
    assert rows["age"][1] == "date"


def test_few_values_that_most_people_share_and_an_interval_hides(hospital, home):
    lumpy = pl.Series([40, 40, 40, 38, 38] * 60) - pl.Series([0, 1] * 150)
    hospital.deliver(THIRD, hospital.snapshot(THIRD).with_columns(age=lumpy))
    said = profiled(hospital, home, profiles=False)[1]
    assert f"{THIRD}: advice: 60 % of the people share 2 values of age, and intervals of min_width 2" in said
    text = hospital.contract.read_text()
    hospital.contract.write_text(
        re.sub("  min_width: 2\n", "", text) + f"accept: {{{THIRD}: [age.min_width]}}\n"
    )
    assert "of age, and" not in profiled(hospital, home, profiles=False)[1]


def test_expected_errors_are_said_where_they_are_asked_for(validate, hospital, tmp_path):
    _, plain = validate(tmp_path / "new")
    assert "readers would estimate" not in plain
    code, said = validate(tmp_path / "new", errors=True)
    assert code == 0
    head, *rows = said[said.index(f"{FIRST}: what readers would estimate") :].splitlines()
    assert head.endswith("and of labels of 100 people and more:")
    values = hospital.snapshot(FIRST)["disease"].n_unique()
    counted = [row.split()[0] for row in rows if row.startswith("    ")]
    assert counted.count("disease") == values
    assert counted.count("sex") == 2


def test_expected_errors_of_all_snapshots_are_those_of_the_next_release(validate, tmp_path):
    _, said = validate(tmp_path / "new", errors=True, every=True)
    assert said.count("readers would estimate") == 1
    assert f"{FIRST}: what readers would estimate" in said


@pytest.mark.parametrize(
    ("words", "is_terminal", "shown"), [([], 0, 0), ([], 1, 1), (["--errors"], 0, 1), (["--no-errors"], 1, 0)]
)
def test_a_terminal_shows_expected_errors_unless_told_otherwise(
    republish, hospital, tmp_path, monkeypatch, words, is_terminal, shown
):
    monkeypatch.setattr(terminal.out, "_force_terminal", bool(is_terminal))
    monkeypatch.setattr(terminal.out, "no_color", True)
    code, out, _ = republish(
        "validate", hospital.contract, "--home", tmp_path / "new", "--no-profile", *words
    )
    assert code == 0
    assert sum("readers would estimate" in line for line in out) == shown
