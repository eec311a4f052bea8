"""Columns that are called as patterns are, from every kind of source, in every command that reads them."""

import sys

import duckdb
import polars as pl
import pytest
import yaml

from republish.orchestration.cli import main as cli
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.snapshots.sources import enter, source_of
from republish.orchestration.snapshots.validation import conform
from tests.sources import read_snapshot
from tests.versioned import write_delta

NAMES = ("^a$", "^b.*$", "*", "^c$")
"""The identifier, two quasi-identifiers and the sensitive column. No pattern but `*` finds itself."""
DATES = ("2024-01-01", "2025-01-01")
BEGIN = {
    "product": "named",
    "series": "v1",
    "releases": {"first": DATES[0], "cron": "0 0 1 1 *", "last": DATES[1]},
}


def people(release):
    who, born, sex, value = NAMES
    first = DATES.index(release) * 5
    rows = range(first, first + 60)
    return pl.DataFrame(
        {
            value: [("flu", "gout", "mumps", "angina")[row % 4] for row in rows],
            sex: ["FM"[row % 2] for row in rows],
            "not asked for": "x",
            who: [f"P{row:02}" for row in rows],
            born: [1950 + row for row in rows],
        }
    )


def parquet(folder):
    for release in DATES:
        people(release).write_parquet(folder / f"{release}.parquet")
    return {"path": "{release}.parquet"}


def csv(folder):
    for release in DATES:
        people(release).write_csv(folder / f"{release}.csv")
    return {"path": "{release}.csv"}


def parts(folder):
    for release in DATES:
        (folder / release).mkdir()
        for at, part in enumerate(people(release).iter_slices(40)):
            part[part.columns[:: 1 - 2 * at]].write_parquet(folder / release / f"{at}.parquet")
    return {"path": "{release}/*.parquet"}


def query(folder):
    with duckdb.connect(folder / "x.duckdb") as database:
        for release in DATES:
            those = people(release)  # noqa: F841 - by its name in the query
            database.execute(f"CREATE TABLE \"{release}\" AS SELECT *, '{release}' AS seen FROM those")  # noqa: S608
    asked = f'SELECT * FROM (FROM "{DATES[0]}" UNION ALL FROM "{DATES[1]}") WHERE seen = :release'  # noqa: S608
    return {"dsn": "duckdb:///x.duckdb", "query": asked}


def delta(folder):
    pytest.importorskip("deltalake", reason="needs deltalake: pip install 'republish[delta]'")
    write_delta(folder / "people", {f"{release} 00:00": people(release).to_arrow() for release in DATES})
    return {"table": "delta:people"}


@pytest.fixture
def run(monkeypatch, capfd, tmp_path):
    """What a command says; it has to end with 0."""

    def command(*words):
        monkeypatch.setattr(sys, "argv", ["republish", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capfd.readouterr()
        assert not ended.value.code, (words, said.out + said.err)
        return said.out

    return command


SOURCES = [parquet, parts, csv, query, delta]


def declared(folder, source, shards=1):
    """The contract's file."""
    who, born, sex, value = NAMES
    words = BEGIN | {
        "source": source(folder),
        "identifier": who,
        "quasi_identifiers": [
            {"name": born, "kind": "number", "domain": [1900, 2024], "min_width": 5},
            {"name": sex, "kind": "category", "order": ["F", "M"]},
        ],
        "sensitive": {"name": value, "values": ["flu", "gout", "mumps", "angina"]},
        "principle": {"name": "m_invariance", "m": 2},
        "shards": shards,
    }
    file = folder / "named.yaml"
    file.write_text(yaml.safe_dump(words, allow_unicode=True))
    return file


@pytest.mark.parametrize("source", SOURCES)
def test_columns_that_are_called_as_patterns_are_read_from_every_source(source, tmp_path):
    file = load_contract(declared(tmp_path, source))
    table = people(DATES[0])
    expected = [table[name].to_list() for name in NAMES]
    read = read_snapshot(file, DATES[0])
    assert [read[column].to_list() for column in file.contract.column_names()] == expected
    pieces = source_of(file, DATES[0]).pieces(2).pieces
    divided = [enter(piece.read().table, file.contract) for piece in pieces]
    whole = conform(pl.concat(divided, how="vertical_relaxed"), file.contract)
    assert [whole[column].to_list() for column in file.contract.column_names()] == expected


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize(("source", "shards"), [(csv, 1), (parts, 2)])
def test_every_command_takes_columns_that_are_called_as_patterns_are(source, shards, run, tmp_path):
    _, born, sex, value = NAMES
    contract, home = declared(tmp_path, source, shards), tmp_path / "home"
    published = home / "published/named/v1"
    run("release", contract, "--home", home)
    run("verify", published)
    run("status", contract, "--home", home)
    where = f'"{born}" < 1990'
    assert "flu" in run("estimate", published, "--where", where, "--by", value, "--by", sex)
    folder = tmp_path / "truth"
    folder.mkdir()
    parquet(folder)
    for private in ((), ("--private", home / "private/named/v1")):
        run("audit", published, "--contract", contract, "--truth", folder, *private)
    (tmp_path / "who").write_text("P07\n")
    run("person", contract, "--identifier", tmp_path / "who", "--home", home, "--out", tmp_path / "person")
    if shards == 1:
        run("validate", contract, "--home", home)
        run("copies", published, tmp_path / "copies")
        run("record", contract, "--home", home, "--out", tmp_path / "record")
        run("compare", contract, "--home", home, "--values", "2", "--principles", "m_invariance")
    run("forget", contract, "--identifiers", tmp_path / "who", "--delete", "--home", home)
