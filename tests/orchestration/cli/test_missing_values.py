"""A table with missing values, from the contract to the audit, on the command line."""

import datetime as dt
import functools
import json
import shutil

import numpy as np
import polars as pl
import pytest
import yaml

from republish.anonymize.errors import RepublishError
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.dagster.metadata import _report
from republish.orchestration.readers.estimate.copies import copies
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.store import read_table
from tests.hospital import make
from tests.pieces import read_in_pieces

FIRST, SECOND = "2024-01-01", "2024-04-01"
PEOPLE, LATER = 240, 80
VALUES = ["angina", "asthma", "flu", "gout", "mumps", "rest"]
PRINCIPLES = {
    "intervals": {"name": "m_invariance", "m": 3},
    "exact": {"name": "m_invariance", "m": 3, "format": "anatomy"},
    "equivalence": {"name": "e_equivalence", "m": 3, "e": 2},
    "ever had": {"name": "global_guarantee", "l": 2, "strategy": "geometric"},
}


def patients(people, first, seed):
    """Patients of whom one in ten lacks a value, column by column."""
    rng = np.random.default_rng(seed)
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 1400, people)]
    table = pl.DataFrame(
        {
            "age": rng.integers(18, 100, people),
            "admitted": pl.Series(days, dtype=pl.Date),
            "sex": rng.choice(["F", "M"], people).tolist(),
            "ward": rng.choice(["A", "B"], people).tolist(),
            "disease": rng.permutation([VALUES[n % len(VALUES)] for n in range(people)]).tolist(),
        }
    )
    known = {name: pl.Series(rng.random(people) > 0.1) for name in table.columns}
    return table.select(
        pl.Series("patient", [f"p{first + n}" for n in range(people)]),
        *(pl.when(known[name]).then(pl.col(name)).alias(name) for name in known),
    )


def declared(principle="intervals", **rules):
    """The contract, with what becomes of missing values by column."""
    missing = {"age": "publish", "admitted": "publish", "sex": "publish", "ward": "leave_out"} | rules
    columns = [
        {"name": "age", "kind": "number", "domain": [0, 120]},
        {"name": "admitted", "kind": "date", "domain": ["2019-01-01", "2024-12-31"]},
        {"name": "sex", "kind": "category", "order": ["F", "M"]},
        {"name": "ward", "kind": "category", "order": ["A", "B"]},
    ]
    return {
        "product": "clinic",
        "series": "v1",
        "source": {"path": "{release}.csv"},
        "releases": {"first": FIRST, "cron": "0 0 1 */3 *", "last": SECOND},
        "identifier": "patient",
        "quasi_identifiers": [one | {"missing": missing[one["name"]]} for one in columns],
        "sensitive": {"name": "disease", "values": VALUES, "missing": missing.get("disease", "publish")},
        "principle": PRINCIPLES[principle],
    }


def write_clinic(folder):
    """Two snapshots: of those in the first, some have left, some came, and some lost a value or got one."""
    first = patients(PEOPLE, 0, seed=1)
    again = first[PEOPLE // 6 :].with_columns(
        disease=pl.when(pl.int_range(pl.len()) % 50 == 0).then(None).otherwise("disease")
    )
    first.write_csv(folder / f"{FIRST}.csv")
    pl.concat([again, patients(LATER, PEOPLE, seed=2)]).write_csv(folder / f"{SECOND}.csv")


@pytest.fixture
def clinic(tmp_path):
    write_clinic(tmp_path)
    return tmp_path


def write(folder, contract):
    (folder / "clinic.yaml").write_text(yaml.safe_dump(contract))
    return folder / "clinic.yaml"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a clinic, its contract, and a home with two releases, made once for each rule."""

    @functools.cache
    def released(principle="intervals", rule="publish"):
        folder = tmp_path_factory.mktemp("clinic")
        write_clinic(folder)
        contract = write(folder, declared(principle, disease=rule))
        make(Series(load_contract(contract), Home.at(folder / "home")), FIRST, SECOND)
        return folder, contract, folder / "home"

    return released


def audits(republish, folder, contract, *words):
    told = republish(
        "audit", folder / "home/published/clinic/v1", "--contract", contract, *words, "--seconds", "1"
    )
    return told[0], [line for line in told[2] if not line.startswith("attacking")]


@pytest.mark.slow("makes releases")
def test_a_table_with_missing_values_is_validated_and_released(republish, clinic):
    contract, home = write(clinic, declared(disease="leave_out")), clinic / "home"
    code, told, _ = republish("validate", contract, "--home", home)
    assert code == 0
    lacks_ward = pl.read_csv(clinic / f"{FIRST}.csv")["ward"].null_count()
    assert f"{lacks_ward} of ward" in "\n".join(told)
    code, told, faults = republish("release", contract, "--home", home)
    assert (code, faults) == (0, [])
    assert "left out" in told[0]
    assert republish("release", contract, "--home", home)[0] == 0  # the second time, nothing is to be done


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.usefixtures("only_verdicts")
@pytest.mark.parametrize(
    ("principle", "rule"), list(zip(("intervals", *PRINCIPLES), ("publish", "leave_out") * 3, strict=False))
)
def test_a_table_with_missing_values_keeps_what_is_promised(republish, made, principle, rule):
    folder, contract, home = made(principle, rule)
    published, private = (home / where / "clinic/v1" for where in ("published", "private"))
    truth = pl.read_csv(folder / f"{FIRST}.csv")
    stated = json.loads((published / FIRST / "manifest.json").read_text())
    stay = truth.filter(pl.col("ward").is_not_null())
    also = {"disease": stay["disease"].null_count()} if rule == "leave_out" else {}
    assert stated["left_out"] == {**also, "ward": truth["ward"].null_count()}
    assert stated["tuples"] - stated["counterfeits"] + stated["held_back"] == len(truth) - sum(
        stated["left_out"].values()
    )
    assert republish("verify", published)[0] == 0
    for linked in ([], ["--private", private]):
        assert audits(republish, folder, contract, "--truth", folder, *linked) == (0, [])
    left_out = read_table(private / FIRST / "left_out.parquet")
    assert sorted(left_out["identifier"]) == sorted(
        truth.filter(pl.any_horizontal(pl.col(name).is_null() for name in stated["left_out"]))["patient"]
    )
    noted = read_table(private / "people.parquet")  # the source has them still
    assert len(noted) == PEOPLE + LATER


@pytest.mark.slow("makes and audits many releases")
def test_audit_status_and_publication_count_who_is_left_out_of_all_releases(republish, made):
    folder, contract, home = made("intervals", "leave_out")
    published = home / "published" / "clinic" / "v1"
    assert audits(republish, folder, contract, "--out", folder / "report") == (0, [])
    stated = [json.loads((published / one / "manifest.json").read_text()) for one in (FIRST, SECOND)]
    people = {name: sum(one["left_out"][name] for one in stated) for name in ("disease", "ward")}
    assert people["disease"] > stated[1]["left_out"]["disease"]
    gaps = json.loads((folder / "report/audit.json").read_text())["not_covered"]
    for name, number in people.items():
        (said,) = [one for one in gaps if f"leave out because {name} is missing" in one["what"]]
        assert said["people"] == [number]
    code, lines, _ = republish("status", contract, "--home", home, "--json")
    (found,) = json.loads("\n".join(lines))["series"]
    by_reason = {f"without {name}": number for name, number in people.items()}
    by_reason["held back"] = sum(one["held_back"] for one in stated)
    assert (code, found["not_released"]) == (0, {why: number for why, number in by_reason.items() if number})
    (line,) = republish("status", contract, "--home", home)[1]
    assert "; not released, in all releases together: " in line
    assert f"{people['ward']} without ward" in line
    series = Series(load_contract(contract), Home.at(home))
    assert f"{people['ward']} without ward" in _report(series, SECOND, stated[1])
    assert f"{stated[0]['left_out']['ward']} without ward" in _report(series, FIRST, stated[0])


@pytest.mark.slow("makes and audits many releases")
def test_whoever_is_left_out_may_ask_and_be_forgotten(republish, made, tmp_path):
    clinic = shutil.copytree(made()[0], tmp_path / "clinic")
    contract, home = clinic / "clinic.yaml", clinic / "home"
    file = home / "private" / "clinic" / "v1" / FIRST / "left_out.parquet"
    left = read_table(file)["identifier"][0]
    (clinic / "who.txt").write_text(left)
    told = republish("person", contract, "--identifier", clinic / "who.txt", "--home", home, "--out", clinic)
    assert told[0] == 0
    assert "because a value of theirs is missing" in (clinic / "person.html").read_text()
    person = pl.read_csv(clinic / f"{FIRST}.csv").filter(
        pl.col("ward").is_not_null(), pl.col("age").is_null(), pl.col("patient") != left
    )["patient"][0]
    (clinic / "other.txt").write_text(person)
    told = republish(
        "person", contract, "--identifier", clinic / "other.txt", "--home", home, "--out", clinic
    )
    assert told[0] == 0
    assert "None" not in (clinic / "person.html").read_text()
    gone = republish("forget", contract, "--identifiers", clinic / "who.txt", "--home", home, "--delete")
    assert gone[0] == 0
    assert left not in read_table(file)["identifier"].to_list()


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("principle", ["intervals", "exact"])
def test_readers_count_people_whose_value_is_missing(republish, made, principle):
    clinic, _, home = made(principle)
    release = home / "published" / "clinic" / "v1" / FIRST
    there = pl.read_csv(clinic / f"{FIRST}.csv", try_parse_dates=True).filter(pl.col("ward").is_not_null())

    def counted(where):
        code, told, _ = republish("estimate", release, "--where", where, "--format", "json")
        assert code == 0
        return json.loads("\n".join(told))["estimates"][0]

    age, sex = pl.col("age"), pl.col("sex")
    asked = {
        "age IS NULL": age.is_null(),
        "age IS NOT NULL": age.is_not_null(),
        "age < 50": age < 50,
        "NOT age < 50": age >= 50,
        "sex = '(missing)'": sex.is_null(),
        "sex <> '(missing)' AND admitted IS NULL": sex.is_not_null() & pl.col("admitted").is_null(),
        "disease = '(missing)'": pl.col("disease").is_null(),
        "disease <> '(missing)' and age is null": pl.col("disease").is_not_null() & age.is_null(),
    }
    for where, condition in asked.items():
        found, true = counted(where), there.filter(condition).height
        width = max(found["high"] - found["low"], 2)
        assert abs(found["people"] - true) <= width, where  # four standard errors
    fakes = pl.read_parquet(release / "counterfeits.parquet")["count"].sum()
    for copy in copies(release, 2):
        for column, lacking in {
            "age": copy["age"].is_null(),
            "admitted": copy["admitted"].is_null(),
            "sex": copy["sex"] == "(missing)",
            "disease": copy["disease"] == "(missing)",
        }.items():
            assert abs(lacking.sum() - there[column].null_count()) <= fakes, column
    package = json.loads((release / "datapackage.json").read_text())
    fields = {one["name"]: one for one in package["resources"][0]["schema"]["fields"]}
    if principle == "intervals":
        assert fields["age_missing"]["constraints"] == {"required": True, "minimum": 0}
        assert not fields["age_low"]["constraints"]["required"]
        assert "ward_missing" not in fields
    assert "(missing)" in fields["sex" if principle == "exact" else "sex_low"]["constraints"]["enum"]
    assert "people of the table are not in this release" in (release / "README.md").read_text()


def refusal(folder, contract):
    """Why the first snapshot is not taken under a contract."""
    with pytest.raises(RepublishError) as refused:
        take_snapshot(Series(load_contract(write(folder, contract)), Home.at(folder / "home")), FIRST)
    return str(refused.value)


def test_a_missing_value_is_refused_by_default_and_the_ways_out_are_named(republish, clinic):
    contract = write(clinic, declared(age="refuse"))
    code, _, faults = republish("release", contract, "--home", clinic / "home")
    assert code == 2
    assert not (clinic / "home/published/clinic/v1" / FIRST).exists()
    assert all(words in " ".join(faults) for words in ("age: ", "missing: publish", "missing: leave_out"))


@pytest.mark.parametrize("rule", ["publish", "leave_out"])
@pytest.mark.parametrize("column", ["age", "sex", "disease"])
def test_a_column_in_which_nobody_has_a_value_is_refused(clinic, column, rule, monkeypatch):
    table = pl.read_csv(clinic / f"{FIRST}.csv").with_columns(pl.lit(None, pl.String).alias(column))
    table.write_csv(clinic / f"{FIRST}.csv")
    contract = declared(**{column: rule})
    said = f"{column}: {PEOPLE} of {PEOPLE} rows have no value; nobody has one"
    assert said in refusal(clinic, contract)
    with pytest.raises(RepublishError, match=said):
        read_in_pieces(monkeypatch, load_contract(clinic / "clinic.yaml"), FIRST, rows=100, block=1000)


def test_an_identifier_may_never_be_missing(clinic):
    table = pl.read_csv(clinic / f"{FIRST}.csv")
    table.with_columns(patient=pl.when(pl.int_range(pl.len()) > 0).then("patient")).write_csv(
        clinic / f"{FIRST}.csv"
    )
    said = refusal(clinic, declared())
    assert (
        f"patient: 1 of {PEOPLE} rows have no value; fill them in the source, or leave these rows out" in said
    )
    assert "missing: publish" not in said


def test_nothing_else_may_be_called_as_what_is_missing(clinic):
    contract = declared()
    contract["quasi_identifiers"][2]["order"] = ["F", "M", "(missing)"]
    assert "(missing) is a label of sex" in refusal(clinic, contract)
    contract = declared()
    contract["sensitive"]["values"] = [1, 2, 3, 4]
    assert "write them in quotes, or choose missing: leave_out" in refusal(clinic, contract)
    table = pl.read_csv(clinic / f"{FIRST}.csv").with_columns(pl.col("disease").fill_null("(missing)"))
    table.write_csv(clinic / f"{FIRST}.csv")
    assert "disease: " in refusal(clinic, declared())


@pytest.mark.slow("makes and audits many releases")
def test_a_condition_that_finds_missing_labels_without_a_word_of_them_is_told_so(republish, made):
    release = made("exact")[2] / "published" / "clinic" / "v1" / FIRST

    def asked(where):
        code, told, faults = republish("estimate", release, "--where", where, "--format", "csv")
        return code, told, " ".join(faults)

    silent = ["sex = 'F'", "sex <> '(missing)'", "sex <> 'F' and sex <> '(missing)'", "not age < 50"]
    assert [asked(where)[::2] for where in silent] == [(0, "")] * len(silent)
    for where in ("sex <> 'F'", "not sex = 'F'", "sex not in ('F')", "sex not like 'F%'", "sex is null"):
        code, _, said = asked(where)
        assert (code, said[:20], "sex <> '(missing)'" in said) == (0, "Where sex is missing", True)


@pytest.mark.slow("makes and audits many releases")
def test_a_number_beside_a_label_is_refused(republish, made):
    release = made()[2] / "published" / "clinic" / "v1" / FIRST
    for where in ("sex > 3", "1 <> sex"):
        code, _, (fault,) = republish("estimate", release, "--where", where)
        assert (code, f"--where {where}: " in fault, "Error: C" in fault) == (2, True, True), fault
    code, _, (fault,) = republish("estimate", release, "--by", "year(sex)")
    assert (code, "--where" in fault, "--by year(sex)" in fault) == (2, False, True)
