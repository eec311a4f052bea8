"""Visits from the contract to the third release: validated, published, audited, found, forgotten, counted."""

import functools
import json
import shutil

import polars as pl
import pytest
import yaml

from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.dagster.figures import named
from republish.orchestration.readers.datapackage.words import OF_ROWS
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.store import read_table
from tests.hospital import make
from tests.visits import DECLARED, visits

pytestmark = pytest.mark.slow("makes and audits many releases")

WAITS = DECLARED["principle"] | {"on_ineligible": "wait"}


def write(folder, releases=2, change=lambda table: table, people=40, **changes):
    """Write a contract and its snapshots; returns the contract's file."""
    declared = {**DECLARED, "principle": WAITS, **changes}
    for date, table in visits(people, releases):
        change(table).write_csv(folder / f"{date}.csv")
    file = folder / "clinic.yaml"
    file.write_text(yaml.safe_dump({name: value for name, value in declared.items() if value is not None}))
    return file


@pytest.fixture
def clinic(tmp_path):
    return functools.partial(write, tmp_path)


@pytest.fixture(scope="module")
def _released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clinic")
    file = write(folder)
    make(Series(load_contract(file), Home.at(folder / "home")), "2024-01-01", "2024-02-01")
    return folder


@pytest.fixture
def released(_released, tmp_path):
    """The contract of a clinic whose two releases are in `home` beside it."""
    shutil.copytree(_released, tmp_path, dirs_exist_ok=True)
    return tmp_path / "clinic.yaml"


@pytest.mark.usefixtures("only_verdicts")
def test_visits_without_a_name_are_released_and_audited(clinic, republish, tmp_path):
    file, home = clinic(row=None), tmp_path / "home"
    make(Series(load_contract(file), Home.at(home)), "2024-01-01", "2024-02-01")
    series, private = home / "published/clinic/v1", home / "private/clinic/v1"
    linkage = read_table(private / "2024-02-01/linkage.parquet")
    assert linkage.columns == ["patient", "row_name", "bucket_id", "group_id"]
    assert linkage.n_unique(["patient", "row_name"]) == linkage.height > linkage["patient"].n_unique()
    audit = ("audit", series, "--truth", tmp_path, "--contract", file, "--private", private)
    assert republish(*audit, "--seconds", "1")[0] == 0


def test_visits_are_released_audited_and_counted(clinic, republish, tmp_path):
    file, home = clinic(), tmp_path / "home"
    code, said, errors = republish("validate", file, "--home", home)
    assert code == 0, errors
    assert any("rows, no faults" in line for line in said)
    code, said, errors = republish("release", file, "--home", home)
    assert code == 0, errors
    assert sum("published" in line and " rows " in line for line in said) == 2
    series, private = home / "published/clinic/v1", home / "private/clinic/v1"
    linkage = read_table(private / "2024-02-01/linkage.parquet")
    assert linkage.columns == ["patient", "visit", "bucket_id", "group_id"]
    assert linkage["visit"].n_unique() == linkage.height > linkage["patient"].n_unique()

    audit = ["audit", series, "--truth", tmp_path, "--contract", file, "--seconds", "1"]
    code, said, errors = republish(*audit, "--private", private, "--out", tmp_path / "report")
    assert code == 0, errors
    (ever,) = (line.split() for line in said if line.startswith("ever had a value"))
    assert "yes" in ever
    assert "“Looked at” counts rows" in " ".join(said)
    described = json.loads((tmp_path / "report/audit.json").read_text())
    assert described["contract"]["rows"] == "several"
    page = (tmp_path / "report/audit.html").read_text()
    assert "“Looked at” counts rows" in page
    assert republish(*audit)[0] == 0
    said, *_ = republish("status", file, "--home", home)[1]
    assert f", {linkage.height:,} rows, {linkage['patient'].n_unique():,} people, " in said
    code, said, _ = republish("verify", series)
    assert code == 0

    code, said, _ = republish("estimate", series / "2024-02-01")
    truth = pl.read_csv(tmp_path / "2024-02-01.csv").height
    assert code == 0
    assert said[-1] == OF_ROWS
    counted = json.loads("\n".join(republish("estimate", series / "2024-02-01", "--format", "json")[1]))
    held_back = counted["held_back"]["2024-02-01"]
    assert "people" not in counted["estimates"][0]
    assert counted["estimates"][0]["rows"] == pytest.approx(truth - held_back, rel=1e-6)
    code, (said, *_), _ = republish("copies", series / "2024-02-01", tmp_path / "copies", "--copies", 2)
    assert (code, said.endswith(f"2 copies of 2024-02-01, of {truth - held_back:,} rows")) == (0, True)
    readme = (series / "2024-02-01/README.md").read_text()
    assert OF_ROWS in readme
    assert "`republish estimate` counts rows, with an error bar" in readme
    assert "people share a group" not in readme
    package = json.loads((series / "2024-02-01/datapackage.json").read_text())
    assert package["republish"]["rows"] == "several"
    assert package["republish"]["sensitive"]["means"].startswith("A person may have several values")


def test_what_is_counted_of_rows_is_called_rows(clinic, republish, tmp_path):
    """And people are counted as people: of a snapshot with a few visits of everybody, nobody is missing."""
    file, home = clinic(), tmp_path / "home"
    code, said, errors = republish("compare", file, "--values", "3", "--principles", "m_invariance")
    assert code == 0, errors
    first, second = (pl.read_csv(tmp_path / f"2024-0{month}-01.csv") for month in (1, 2))
    people = max(first["patient"].n_unique(), second["patient"].n_unique())
    assert said[0].endswith(f"{max(first.height, second.height):,} rows of {people:,} people")
    assert said[1].endswith("of the rows.")
    make(Series(load_contract(file), Home.at(home)), "2024-01-01")
    few = second.join(first.select("patient").unique(), on="patient", how="semi", maintain_order="left")
    gone = few["patient"].unique(maintain_order=True).head(few["patient"].n_unique() // 2 + 10)
    few.filter(~pl.col("patient").is_in(gone.implode())).write_csv(tmp_path / "2024-02-01.csv")
    stayed = few["patient"].n_unique() - len(gone)
    code, _, errors = republish("release", file, "--home", home)
    assert code == 2
    assert f"{stayed / first['patient'].n_unique():.1%} of the people of the snapshot before" in " ".join(
        errors
    )
    contract = load_contract(file).contract
    assert named({"people": 5, "different_people": 3, "inserted": 2}, contract) == {
        "rows released": 5,
        "people released": 3,
        "rows that are new": 2,
    }


@pytest.mark.usefixtures("only_verdicts")
def test_rows_that_are_held_back_are_in_the_truth_of_ones_own_audit(clinic, republish, tmp_path):
    """Whoever misses one of them is an adversary, too, where no folder is named."""
    file, home = clinic(3, principle=WAITS | {"values_per_person": 1}, people=70), tmp_path / "home"
    make(Series(load_contract(file), Home.at(home)), "2024-01-01", "2024-02-01", "2024-03-01")
    truth = pl.read_csv(tmp_path / "2024-03-01.csv").height
    for snapshot in tmp_path.glob("*.csv"):
        snapshot.unlink()
    series = home / "published/clinic/v1"
    code, _, errors = republish(
        "audit", series, "--contract", file, "--out", tmp_path / "report", "--seconds", "1"
    )
    assert code == 0, errors
    described = json.loads((tmp_path / "report/audit.json").read_text())
    found = {row["promise"]: row for row in described["promises"]}
    assert found["values of rows left out"]["people"] > 10
    assert found["values of rows left out"]["holds"]
    assert json.loads((series / "2024-03-01/manifest.json").read_text())["held_back"] > 20
    assert found["coverage"]["people"] == truth


def test_a_refusal_counts_rows(clinic, republish, tmp_path):
    file = clinic(1, principle=DECLARED["principle"])
    table = pl.read_csv(tmp_path / "2024-01-01.csv")
    table = table.with_columns(diagnosis=pl.lit(table["diagnosis"][0]))
    table.write_csv(tmp_path / "2024-01-01.csv")
    code, _, errors = republish("release", file, "--home", tmp_path / "home")
    assert code == 3
    assert f"the {table.height} inserted rows are not 3-eligible" in " ".join(errors)


def test_somebody_is_found_with_all_their_rows_and_forgotten_with_them(released, republish, tmp_path):
    file, home = released, tmp_path / "home"
    linkage = read_table(home / "private/clinic/v1/2024-02-01/linkage.parquet")
    often = linkage.group_by("patient").len().filter(pl.col("len") > 3).sort("patient")
    who, rows = often.row(0)
    asked = tmp_path / "who"
    asked.write_text(f"{who}\n")
    code, said, errors = republish(
        "person", file, "--home", home, "--identifier", asked, "--out", tmp_path / "sheet"
    )
    assert code == 0, errors
    assert said[0].startswith("clinic/v1  in 2 of 2 releases")
    (series,) = json.loads((tmp_path / "sheet/person.json").read_text())["series"]
    mine = [one for one in series["releases"] if one["release"] == "2024-02-01"]
    assert sorted(one["group"] for one in mine) == sorted(linkage.filter(patient=who)["group_id"])
    assert all(set(one["left"]) == set(one["values"]) for one in mine)
    assert sum(one["release"] == "2024-02-01" for one in series["rows"]) == rows
    everything = {path for path in (home / "private").rglob("*.parquet") if _has(path, who)}
    assert len(everything) == 4  # two snapshots, and two linkages

    code, _, errors = republish("forget", file, "--home", home, "--identifiers", asked, "--delete")
    assert code == 0, errors
    left = {path.name for path in (home / "private").rglob("*.parquet") if _has(path, who)}
    assert not left - {
        "state-memory.parquet"
    }  # may be published again: the signatures stay under a pseudonym


def _has(path, who):
    return any(
        column.dtype == pl.String and who in column.drop_nulls() for column in read_table(path).get_columns()
    ) or who.encode() in path.read_bytes()  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda table: table.with_columns(visit=pl.lit("V1")),
            "have the same visit (`row`) as another row; give each row its own in the source",
        ),
        (
            lambda table: table.with_columns(
                patient=pl.when(pl.int_range(pl.len()) % 2 == 0).then("patient").otherwise(
                    pl.col("patient").str.to_lowercase()
                )
            ),
            "differ from another identifier by spaces, capital letters or signs that nobody sees alone",
        ),
        (lambda table: table.with_columns(visit=pl.lit(None, pl.String)), "visit: "),
    ],
)  # fmt: skip
def test_rows_that_can_not_be_told_apart_are_refused(clinic, republish, tmp_path, change, said):
    file = clinic(1, change)
    code, _, errors = republish("release", file, "--home", tmp_path / "home")
    assert code == 2
    assert said in "\n".join(errors)
    assert "P1" not in "\n".join(errors)


def test_rows_at_fault_are_listed_with_their_own_names(clinic, republish, tmp_path):
    file = clinic(
        1, lambda table: pl.concat([table, table[:1].with_columns(diagnosis=pl.lit(None, pl.String))])
    )
    table = pl.read_csv(tmp_path / "2024-01-01.csv")
    code, _, errors = republish("release", file, "--home", tmp_path / "home")
    assert code == 2
    assert f"visit: 2 of {table.height:,} rows have the same visit (`row`)" in "\n".join(errors)
    listed = pl.read_csv(tmp_path / "home/private/clinic/v1/2024-01-01/faults.csv")
    rows = [(1, table["visit"][0]), (table.height, table["visit"][0])]
    assert listed.filter(column="visit").select("row", "row_name").rows() == rows
    assert listed.filter(column="diagnosis").select("row", "row_name").rows()[-1:] == rows[1:]


def test_a_table_with_one_row_for_each_person_says_how_several_are_declared(clinic, republish, tmp_path):
    file = clinic(1, rows=None, row=None, principle={"name": "m_invariance", "m": 3})
    code, _, errors = republish("release", file, "--home", tmp_path / "home")
    assert code == 2
    assert "repeat the identifier of another row" in errors[0]
    assert "rows: several" in errors[0]


def test_rows_are_declared_for_a_whole_series(released, republish, tmp_path):
    file, home = released, tmp_path / "home"
    one = {**DECLARED, "principle": {"name": "m_invariance", "m": 3}}
    for name in ("rows", "row"):
        one.pop(name)
    file.write_text(yaml.safe_dump(one))
    code, _, errors = republish("release", file, "--home", home)
    assert code == 2
    assert any("rows: is one, but series v1 was begun with several" in line for line in errors)


@pytest.mark.usefixtures("only_verdicts")
def test_visits_under_the_global_guarantee_are_released_audited_and_forgotten(clinic, republish, tmp_path):
    own = {"name": "global_guarantee", "l": 2, "strategy": "minimum", "rows_per_person": 3}
    sensitive = {"name": "diagnosis", "semantics": "transient"}
    # Of few people, all have had their share of the guarantee after the first release.
    file = clinic(2, people=300, principle=own | {"on_ineligible": "wait"}, sensitive=sensitive)
    home = tmp_path / "home"
    make(Series(load_contract(file), Home.at(home)), "2024-01-01", "2024-02-01")
    series, private = home / "published/clinic/v1", home / "private/clinic/v1"
    linkage = read_table(private / "2024-01-01/linkage.parquet")
    assert linkage["patient"].n_unique() < linkage.height
    assert linkage.n_unique(["patient", "group_id"]) == linkage.height
    for more in ((), ("--private", private)):
        # What takes long is searched for where nothing is promised of it: who has the same value as whom.
        words = series, "--truth", tmp_path, "--contract", file, "--seconds", 1, *more
        code, said, errors = republish("audit", *words)
        assert code == 0, errors
        assert any(line.startswith("breach probability") and " yes" in line for line in said)
    who = linkage.filter(pl.col("patient").str.len_chars() == 3)["patient"][0]
    asked = tmp_path / "who"
    asked.write_text(f"{who}\n")
    code, said, errors = republish(
        "person", file, "--home", home, "--identifier", asked, "--out", tmp_path / "sheet"
    )
    assert code == 0, errors
    code, _, errors = republish("forget", file, "--home", home, "--identifiers", asked, "--delete")
    assert code == 0, errors
    left = {path.name for path in (home / "private").rglob("*.parquet") if _has(path, who)}
    assert not {name for name in left if not name.startswith("state-")}
