"""One table in every format: the same snapshot, so that releases of it are the same."""

import datetime as dt

import duckdb
import polars as pl
import pytest
import yaml

from republish.orchestration.chain.snapshot import Snapshot
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.snapshots.sources import read_snapshot, source_of

PEOPLE = pl.DataFrame(
    {
        "id": ["007", "P1", "Zoë", "P3", "P4", "P5"],
        "born": [dt.date(1931, 5, 2), None, *(dt.date(1969, 12, 29) + dt.timedelta(at) for at in range(4))],
        "age": [92, None, 24, 25, 98, 26],  # 98 stands for none
        "cost": [0.1, 1234.5, 3.0, None, 1e6, 0.0],
        "town": ["Köln", "Ulm", None, "Ulm", "Bonn", "Köln"],
        "code": [1, 2, 2, None, 9, 1],
        "ill": ["flu", "gout", "flu", "gout", "asthma", "flu"],
    }
)
LIFETIMES = [dt.date(1930, 1, 1), dt.date(2009, 12, 31)]
CONTRACT = {
    "product": "people",
    "series": "v1",
    "releases": {"first": dt.date(2024, 1, 1)},
    "identifier": "id",
    "quasi_identifiers": [
        {"name": "born", "kind": "date", "domain": LIFETIMES, "missing": "publish"},
        {"name": "age", "kind": "number", "domain": [0, 119], "missing": "publish"},
        {"name": "cost", "kind": "number", "domain": [0.0, 2e6], "missing": "publish"},
        {"name": "town", "kind": "category", "order": ["Bonn", "Köln", "Ulm"], "missing": "publish"},
        {"name": "code", "kind": "category", "order": ["1", "2", "9"], "missing": "publish"},
    ],
    "sensitive": {"name": "ill"},
    "principle": {"name": "m_invariance", "m": 2},
}


def statistics():
    return pytest.importorskip("pyreadstat")


def write_parquet(file, _):
    PEOPLE.write_parquet(file)


def write_csv(file, _):
    PEOPLE.write_csv(file)


def write_xlsx(file, _):
    pytest.importorskip("fastexcel")
    pytest.importorskip("xlsxwriter")
    PEOPLE.write_excel(file)


def write_sav(file, _):
    statistics().write_sav(PEOPLE, file)


def write_dta(file, _):
    statistics().write_dta(PEOPLE, file)


def write_xpt(file, _):
    statistics().write_xport(PEOPLE, file)


def write_sas7bdat(file, monkeypatch):
    """A transport file stands in for a data set, which nothing but SAS writes."""
    write_xpt(file, None)
    monkeypatch.setattr(statistics(), "read_sas7bdat", as_data_set)


def as_data_set(file, *, user_missing=False, **keys):
    read, about = statistics().read_xport(file, **keys)
    if user_missing:
        about.missing_user_values = {}
    return read, about


def write_duckdb(file, _):
    with duckdb.connect(file) as database:
        database.execute("CREATE TABLE people AS SELECT * FROM PEOPLE")


WRITERS = [
    write_parquet,
    write_csv,
    write_xlsx,
    write_sav,
    write_dta,
    write_xpt,
    write_sas7bdat,
    write_duckdb,
]


@pytest.mark.parametrize("write", WRITERS)
def test_a_table_is_the_same_snapshot_in_every_format(write, tmp_path, monkeypatch):
    ending = write.__name__.removeprefix("write_")
    write(str(tmp_path / f"people.{ending}"), monkeypatch)
    source = {"path": f"people.{ending}", "null_values": ["98"]}
    if ending == "duckdb":
        query = "SELECT * REPLACE (nullif(age, 98) AS age) FROM people"
        source = {"dsn": "duckdb:///people.duckdb", "query": query}
    (tmp_path / "people.yaml").write_text(yaml.safe_dump(CONTRACT | {"source": source}, allow_unicode=True))
    file = load_contract(tmp_path / "people.yaml")
    snapshot = Snapshot.of(read_snapshot(source_of(file, "2024-01-01")), file.contract, b"key")
    assert snapshot.stated == as_it_is(file)


def as_it_is(file):
    """What is stated of the table itself, which no format has carried."""
    plain = PEOPLE.with_columns(pl.col("age").replace(98, None), pl.col("code").cast(pl.String))
    named = plain.rename({name: ours for ours, name in file.contract.column_names().items()})
    return Snapshot.of(named, file.contract, b"key").stated
