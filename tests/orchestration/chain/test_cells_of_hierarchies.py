"""A series whose intervals of towns end where regions do: released, audited, and counted by region."""

import json

import numpy as np
import polars as pl
import pytest
import yaml
from rich.console import Console

from republish.anonymize.contract import CategoryAttribute
from republish.anonymize.errors import ContractError, PublishedFolderError
from republish.orchestration.audit.command import audit
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.readers.estimate.command import Source, answer, estimate
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.store import write_table
from tests.clinic import CLINIC
from tests.hospital import make
from tests.orchestration.audit.published_folders import seal

FIRST, SECOND = "2024-01-01", "2025-01-01"
TOWNS = [f"{region}{town}" for region, towns in (("a", 7), ("b", 6), ("c", 8)) for town in range(towns)]
PATHS = [[town, town[0], "all"] for town in TOWNS]
BEGINS = ["a0", "a3", "b0", "b3", "c0", "c3"]
PEOPLE = 400


def declare(folder, **keys):
    town = {"name": "town", "kind": "category", "hierarchy": PATHS, "min_width": 3, **keys}
    declared = CLINIC | {
        "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 99], "min_width": 5}, town],
        "sensitive": {"name": "disease"},
        "principle": {"name": "m_invariance", "m": 3},
    }
    (folder / "clinic.yaml").write_text(yaml.safe_dump(declared, sort_keys=False))
    return Series(load_contract(folder / "clinic.yaml"), Home.at(folder / "var"))


@pytest.fixture
def folder(tmp_path):
    random = np.random.default_rng(7)
    people = pl.DataFrame(
        {
            "person": [f"P{number}" for number in range(PEOPLE + 40)],
            "age": random.integers(0, 100, PEOPLE + 40),
            "town": random.choice(TOWNS, PEOPLE + 40),
            "disease": random.choice(["asthma", "flu", "gout", "mumps", "ulcer"], PEOPLE + 40),
        }
    )
    people[:PEOPLE].write_parquet(tmp_path / f"{FIRST}.parquet")
    people[40:].write_parquet(tmp_path / f"{SECOND}.parquet")
    return tmp_path


def ends(series, release):
    microdata = pl.read_parquet(series.published(release) / "microdata.parquet")
    return {*microdata["town_low"]}, {*microdata["town_high"]}


def stated(series, release):
    package = json.loads((series.published(release) / "datapackage.json").read_text())
    return package["republish"]["attributes"][1]


def audited(series, folder):
    return audit(
        [series.published_folder],
        folder,
        series.file.path,
        private=series.private_folder,
        seconds=1,
        console=Console(width=200),
    )


@pytest.mark.usefixtures("only_verdicts")
def test_intervals_end_where_regions_do_and_an_audit_holds(folder, capsys):
    series = make(declare(folder), FIRST, SECOND)
    last = {TOWNS[TOWNS.index(town) - 1] for town in BEGINS[1:]} | {TOWNS[-1]}
    for release in (FIRST, SECOND):
        low, high = ends(series, release)
        assert low <= {*BEGINS}
        assert high <= last
        assert (stated(series, release)["ends"], stated(series, release)["cells"]) == ("cells", BEGINS)
    assert audited(series, folder) == 0
    assert "Every promise holds." in capsys.readouterr().out
    truth = pl.read_parquet(folder / f"{SECOND}.parquet")["town"].str.slice(0, 1)
    found = estimate(series.published(SECOND), by="left(town, 1)")
    for (_, region, _, _, low, high, *_), people in zip(
        found.rows(), truth.value_counts().sort("town")["count"], strict=True
    ):
        assert low <= people <= high, region
    assert (found["high"] - found["low"]).max() < PEOPLE / 4
    of_towns = answer(Source.of(series.published(SECOND), 3, 1), "town = 'a0' AND age < 95", (), "count(*)")
    assert of_towns.remarks[-1] == (
        "town is known in cells of 3 labels or more, which end where groups of its hierarchy do: errors are"
        " smaller where a condition divides none."
    )


@pytest.mark.usefixtures("only_verdicts")
def test_an_audit_convicts_a_folder_with_an_interval_that_cuts_a_cell(folder, capsys):
    series = make(declare(folder), FIRST)
    file = series.published(FIRST) / "microdata.parquet"
    rows = pl.read_parquet(file)
    # b3 to b5 becomes b2 to b5: it is wider than before, and says that b2 is in it and b1 is not.
    group = rows.filter(pl.col("town_low") == "b3")["group_id"][0]
    cut = pl.when(pl.col("group_id") == group).then(pl.lit("b2")).otherwise("town_low").alias("town_low")
    write_table(file, rows.with_columns(cut).sort(pl.all()))
    seal(series.published(FIRST))
    assert audited(series, folder) == 3
    (said,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("minimum widths"))
    assert said.split()[4] == "1"  # broken, of two intervals a group
    assert " NO " in said


def test_an_audit_refuses_a_folder_that_states_other_cells(folder):
    series = make(declare(folder), FIRST)
    file = series.published(FIRST) / "datapackage.json"
    package = json.loads(file.read_text())
    package["republish"]["attributes"][1]["cells"] = ["a0", "a2"]
    file.write_text(json.dumps(package))
    seal(series.published(FIRST))
    with pytest.raises(PublishedFolderError, match="does not state the columns"):
        audited(series, folder)


@pytest.mark.usefixtures("only_verdicts")
def test_a_series_that_an_older_version_began_goes_on_on_its_grid(folder, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr(CategoryAttribute, "cells", None)
        older.setattr(CategoryAttribute, "ends_on_grid", True)
        make(declare(folder), FIRST)
    series = make(declare(folder), SECOND)
    for release in (FIRST, SECOND):
        assert ends(series, release)[0] <= {*TOWNS[::3]}
        assert stated(series, release)["ends"] == "grid"
        assert "cells" not in stated(series, release)
    assert audited(series, folder) == 0


def test_other_regions_take_consent_within_a_series(folder):
    make(declare(folder), FIRST)
    moved = [[path[0], "b", "all"] if path[0] == "a6" else path for path in PATHS]
    with pytest.raises(ContractError, match=r"town\.hierarchy"):
        make(declare(folder, hierarchy=moved), SECOND)
