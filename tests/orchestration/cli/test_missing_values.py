"""A table with missing values, from the contract to the audit, on the command line."""

import datetime as dt
import json

import numpy as np
import polars as pl
import pytest
import yaml

from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.dagster.metadata import _report
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.store import read_table

FIRST, SECOND = "2024-01-01", "2024-04-01"
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


@pytest.fixture
def clinic(tmp_path):
    """Two snapshots: of those in the first, some have left, some came, and some lost a value or got one."""
    first = patients(600, 0, seed=1)
    again = first[100:].with_columns(
        disease=pl.when(pl.int_range(pl.len()) % 50 == 0).then(None).otherwise("disease")
    )
    first.write_csv(tmp_path / f"{FIRST}.csv")
    pl.concat([again, patients(200, 600, seed=2)]).write_csv(tmp_path / f"{SECOND}.csv")
    return tmp_path


def write(folder, contract):
    (folder / "clinic.yaml").write_text(yaml.safe_dump(contract))
    return folder / "clinic.yaml"


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize(
    ("principle", "rule"), list(zip(("intervals", *PRINCIPLES), ("leave_out", "publish") * 3, strict=False))
)
def test_a_table_with_missing_values_is_released_and_audited(republish, clinic, principle, rule):
    contract, home = write(clinic, declared(principle, disease=rule)), clinic / "home"
    code, told, _ = republish("validate", contract, "--home", home)
    assert code == 0
    truth = pl.read_csv(clinic / f"{FIRST}.csv")
    lacks_ward = truth["ward"].null_count()
    assert f"{lacks_ward} of ward" in "\n".join(told)
    code, told, faults = republish("release", contract, "--home", home)
    assert (code, faults) == (0, [])
    assert "left out" in told[0]
    assert republish("release", contract, "--home", home)[0] == 0  # the second time, nothing is to be done
    published = home / "published" / "clinic" / "v1"
    stated = json.loads((published / FIRST / "manifest.json").read_text())
    stay = truth.filter(pl.col("ward").is_not_null())
    also = {"disease": stay["disease"].null_count()} if rule == "leave_out" else {}
    assert stated["left_out"] == {**also, "ward": lacks_ward}
    assert stated["tuples"] - stated["counterfeits"] + stated["held_back"] == len(truth) - sum(
        stated["left_out"].values()
    )
    assert republish("verify", published)[0] == 0
    private = home / "private" / "clinic" / "v1"
    for linked in ([], ["--private", private]):
        code, told, faults = republish(
            "audit", published, "--contract", contract, "--truth", clinic, *linked, "--seconds", "1"
        )
        assert (code, [line for line in faults if not line.startswith("attacking")]) == (0, [])
    left_out = read_table(private / FIRST / "left_out.parquet")
    assert sorted(left_out["identifier"]) == sorted(
        truth.filter(pl.any_horizontal(pl.col(name).is_null() for name in stated["left_out"]))["patient"]
    )
    noted = read_table(private / "people.parquet")  # the source has them still
    assert len(noted) == 800


@pytest.mark.slow("makes and audits many releases")
def test_audit_status_and_publication_count_who_is_left_out_of_all_releases(republish, clinic):
    contract, home = write(clinic, declared(disease="leave_out")), clinic / "home"
    assert republish("release", contract, "--home", home)[0] == 0
    published = home / "published" / "clinic" / "v1"
    told = republish("audit", published, "--contract", contract, "--out", clinic / "report", "--seconds", "1")
    assert told[0] == 0
    stated = [json.loads((published / one / "manifest.json").read_text()) for one in (FIRST, SECOND)]
    people = {name: sum(one["left_out"][name] for one in stated) for name in ("disease", "ward")}
    assert people["disease"] > stated[1]["left_out"]["disease"]
    gaps = json.loads((clinic / "report/audit.json").read_text())["not_covered"]
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
def test_whoever_is_left_out_may_ask_and_be_forgotten(republish, clinic):
    contract, home = write(clinic, declared()), clinic / "home"
    assert republish("release", contract, "--home", home)[0] == 0
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
    assert republish("release", contract, "--home", home)[0] == 0


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("principle", ["intervals", "exact"])
def test_readers_count_people_whose_value_is_missing(republish, clinic, principle):
    contract, home = write(clinic, declared(principle)), clinic / "home"
    assert republish("release", contract, "--home", home)[0] == 0
    release = home / "published" / "clinic" / "v1" / FIRST
    there = pl.read_csv(clinic / f"{FIRST}.csv", try_parse_dates=True).filter(pl.col("ward").is_not_null())

    def counted(where):
        code, told, _ = republish("estimate", release, "--where", where, "--format", "json")
        assert code == 0
        return json.loads("\n".join(told))["estimates"][0]

    age, sex = pl.col("age"), pl.col("sex")
    asked = {
        "age is missing": age.is_null(),
        "age IS NULL": age.is_null(),
        "age is not missing": age.is_not_null(),
        "age < 50": age < 50,
        "NOT age < 50": age >= 50,
        "sex is missing": sex.is_null(),
        "sex = '(missing)'": sex.is_null(),
        "sex IS NOT NULL AND admitted IS MISSING": sex.is_not_null() & pl.col("admitted").is_null(),
        "disease is missing": pl.col("disease").is_null(),
        "disease <> '(missing)' and age is null": pl.col("disease").is_not_null() & age.is_null(),
    }
    for where, condition in asked.items():
        found, true = counted(where), there.filter(condition).height
        width = max(found["high"] - found["low"], 2)
        assert abs(found["people"] - true) <= width, where  # four standard errors
    assert counted("sex is missing") == counted("sex = '(missing)'")
    package = json.loads((release / "datapackage.json").read_text())
    fields = {one["name"]: one for one in package["resources"][0]["schema"]["fields"]}
    if principle == "intervals":
        assert fields["age_missing"]["constraints"] == {"required": True, "minimum": 0}
        assert not fields["age_low"]["constraints"]["required"]
        assert "ward_missing" not in fields
    assert "(missing)" in fields["sex" if principle == "exact" else "sex_low"]["constraints"]["enum"]
    assert "people of the table are not in this release" in (release / "README.md").read_text()


class TestRefused:
    def refusal(self, republish, folder, contract):
        code, _, faults = republish("release", write(folder, contract), "--home", folder / "home")
        assert code == 2
        assert not (folder / "home" / "published" / "clinic" / "v1" / FIRST).exists()
        return " ".join(faults)

    def test_by_default_and_the_ways_out_are_named(self, republish, clinic):
        said = self.refusal(republish, clinic, declared(age="refuse"))
        assert "age: " in said
        assert "missing: publish" in said
        assert "missing: leave_out" in said

    @pytest.mark.slow("makes and audits many releases")
    @pytest.mark.parametrize("shards", [1, 3])
    @pytest.mark.parametrize("rule", ["publish", "leave_out"])
    @pytest.mark.parametrize("column", ["age", "sex", "disease"])
    def test_where_nobody_has_a_value(self, republish, clinic, column, rule, shards):
        table = pl.read_csv(clinic / f"{FIRST}.csv").with_columns(pl.lit(None, pl.String).alias(column))
        table.write_csv(clinic / f"{FIRST}.csv")
        said = self.refusal(republish, clinic, declared(**{column: rule}) | {"shards": shards})
        assert f"{column}: 600 of 600 rows have no value; nobody has one" in said

    def test_of_an_identifier_always(self, republish, clinic):
        table = pl.read_csv(clinic / f"{FIRST}.csv")
        table.with_columns(patient=pl.when(pl.int_range(pl.len()) > 0).then("patient")).write_csv(
            clinic / f"{FIRST}.csv"
        )
        said = self.refusal(republish, clinic, declared())
        assert (
            "patient: 1 of 600 rows have no value; fill them in the source, or leave these rows out" in said
        )
        assert "missing: publish" not in said

    def test_a_label_that_is_called_so(self, republish, clinic):
        contract = declared()
        contract["quasi_identifiers"][2]["order"] = ["F", "M", "(missing)"]
        assert "(missing) is a label of sex" in self.refusal(republish, clinic, contract)

    def test_a_value_that_is_called_so_in_the_source(self, republish, clinic):
        table = pl.read_csv(clinic / f"{FIRST}.csv").with_columns(pl.col("disease").fill_null("(missing)"))
        table.write_csv(clinic / f"{FIRST}.csv")
        assert "disease: " in self.refusal(republish, clinic, declared())

    def test_whole_numbers_beside_a_label(self, republish, clinic):
        contract = declared()
        contract["sensitive"]["values"] = [1, 2, 3, 4]
        assert "write them in quotes, or choose missing: leave_out" in self.refusal(
            republish, clinic, contract
        )


@pytest.mark.slow("makes and audits many releases")
def test_a_condition_that_finds_missing_labels_without_a_word_of_them_is_told_so(republish, clinic):
    contract, home = write(clinic, declared("exact")), clinic / "home"
    assert republish("release", contract, "--through", FIRST, "--home", home)[0] == 0
    release = home / "published" / "clinic" / "v1" / FIRST

    def asked(where):
        code, told, faults = republish("estimate", release, "--where", where, "--format", "csv")
        return code, told, " ".join(faults)

    silent = ["sex = 'F'", "sex <> '(missing)'", "sex <> 'F' and sex is not missing", "not age < 50"]
    assert [asked(where)[::2] for where in silent] == [(0, "")] * len(silent)
    for where in ("sex <> 'F'", "not sex = 'F'", "sex not in ('F')", "sex not like 'F%' and age is null"):
        code, _, said = asked(where)
        assert (code, said[:20], "sex IS NOT MISSING" in said) == (0, "Where sex is missing", True)
    there = pl.read_csv(clinic / f"{FIRST}.csv").filter(pl.col("ward").is_not_null())
    (found,) = pl.read_csv("\n".join(asked("coalesce(sex, 'F') = 'F'")[1]).encode())["people"]
    assert found == there.filter(pl.col("sex").fill_null("F") == "F").height


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("where", ["sex = true", "sex in (1, 2)", "1 <> sex"])
def test_a_number_beside_a_label_is_said_in_words(republish, clinic, where):
    contract, home = write(clinic, declared()), clinic / "home"
    assert republish("release", contract, "--through", FIRST, "--home", home)[0] == 0
    release = home / "published" / "clinic" / "v1" / FIRST
    code, _, (fault,) = republish("estimate", release, "--where", where)
    assert (code, "sex is text: write '" in fault) == (2, True)
    code, _, (fault,) = republish("estimate", release, "--by", "year(sex)")
    assert (code, "--where" in fault, "--by year(sex)" in fault) == (2, False, True)
