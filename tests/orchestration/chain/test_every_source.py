"""The same people published from every source: the same bytes, which verify, estimate and audit take."""

import json
import os
import sqlite3
from functools import partial
from io import BytesIO
from pathlib import Path

import duckdb
import polars as pl
import pytest
import yaml

from republish.anonymize.errors import SnapshotError
from republish.orchestration.chain.snapshot import KEPT, take_snapshot
from republish.orchestration.readers.estimate.command import estimate
from republish.orchestration.storage.manifest import MANIFEST, verify_series
from republish.orchestration.storage.store import SUMS, read_table
from tests.hospital import RELEASES, audited, make, published
from tests.versioned import date_delta, write_delta, write_iceberg

TWO = RELEASES[:2]
WIDTH = 40
QUERY = "SELECT * FROM patients WHERE seen = :release"


def csv(hospital, request):
    for release in TWO:
        hospital.snapshot(release).write_csv(hospital.folder / f"{release}.csv")
    return {"path": "{release}.csv"}


def parts(hospital, request):
    for release in TWO:
        (hospital.folder / release).mkdir()
        for at, part in enumerate(hospital.snapshot(release).iter_slices(100)):
            part.write_parquet(hospital.folder / release / f"part-{at}.parquet")
    return {"path": "{release}/*.parquet"}


def in_duckdb(hospital, request):
    with duckdb.connect(hospital.folder / "x.duckdb") as database:
        for verb, release in zip(("CREATE TABLE patients AS", "INSERT INTO patients"), TWO, strict=True):
            people = hospital.snapshot(release)  # noqa: F841 - by its name in the query
            database.execute(f"{verb} SELECT *, DATE '{release}' AS seen FROM people")  # noqa: S608
    return {"dsn": "duckdb:///x.duckdb", "query": QUERY}


def in_sqlite(hospital, request):
    with sqlite3.connect(hospital.folder / "x.sqlite") as database:
        for release in TWO:
            people = hospital.snapshot(release).with_columns(seen=pl.lit(release))
            dates = people.select(pl.col(pl.Date).cast(pl.String))  # SQLite knows no others
            people = people.with_columns(dates)
            database.execute(f"CREATE TABLE IF NOT EXISTS patients ({', '.join(people.columns)})")
            places = ", ".join("?" * people.width)
            database.executemany(f"INSERT INTO patients VALUES ({places})", people.iter_rows())  # noqa: S608
    database.close()
    return {"dsn": "sqlite:///x.sqlite", "query": QUERY}


def in_fixed_places(hospital, request):
    """Without separators: each column as wide as its widest value, and a letter between."""
    for release in TWO:
        people = hospital.snapshot(release).cast(pl.String)
        padded = [one.fill_null("").str.pad_end(WIDTH) for one in people.iter_columns()]
        lines = pl.DataFrame(padded).select(pl.concat_str(pl.all())).to_series()
        (hospital.folder / f"{release}.dat").write_text("\n".join([*lines, ""]))
    widths = {name: f"{WIDTH * at + 1}-{WIDTH * (at + 1)}" for at, name in enumerate(people.columns)}
    return {"path": "{release}.dat", "widths": widths}


def in_postgresql(hospital, request):
    import adbc_driver_postgresql.dbapi as driver

    dsn = request.getfixturevalue("postgresql")
    with driver.connect(dsn) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS patients")
        for mode, release in zip(("create", "append"), TWO, strict=True):
            cursor.adbc_ingest("arrived", hospital.snapshot(release).to_arrow(), mode="replace")
            verb = "CREATE TABLE patients AS" if mode == "create" else "INSERT INTO patients"
            cursor.execute(f"{verb} SELECT *, DATE '{release}' AS seen FROM arrived")  # noqa: S608
        connection.commit()
    return {"dsn": dsn, "query": QUERY}


def workbooks(hospital, request):
    pytest.importorskip("fastexcel", reason="needs fastexcel: pip install 'republish[excel]'")
    pytest.importorskip("xlsxwriter")
    return by_program(hospital, "xlsx", lambda table, file: table.write_excel(file))


def of_spss(hospital, request):
    return by_program(hospital, "sav", statistics().write_sav)


def of_stata(hospital, request):
    return by_program(hospital, "dta", statistics().write_dta)


def transport_files(hospital, request):
    return by_program(hospital, "xpt", partial(statistics().write_xport, file_format_version=8))


def of_sas(hospital, request):
    """Transport files stand in for data sets, which nothing but SAS writes."""
    request.getfixturevalue("monkeypatch").setattr(statistics(), "read_sas7bdat", as_data_set)
    return by_program(hospital, "sas7bdat", partial(statistics().write_xport, file_format_version=8))


def as_data_set(file, *, user_missing=False, **keys):
    read = statistics().read_xport
    return read(file, **keys)


def statistics():
    return pytest.importorskip("pyreadstat", reason="needs pyreadstat: pip install 'republish[statistics]'")


def by_program(hospital, ending, write):
    for release in TWO:
        write(hospital.snapshot(release), str(hospital.folder / f"{release}.{ending}"))
    return {"path": f"{{release}}.{ending}"}


def versions(hospital):
    return {f"{release} 00:00": hospital.snapshot(release).to_arrow() for release in TWO}


def delta(hospital, request):
    pytest.importorskip("deltalake", reason="needs deltalake: pip install 'republish[delta]'")
    write_delta(hospital.folder / "people", versions(hospital))
    return {"table": "delta:people"}


def iceberg(hospital, request):
    pytest.importorskip("pyiceberg", reason="needs pyiceberg: pip install 'republish[iceberg]'")
    write_iceberg(hospital.folder / "people", versions(hospital))
    return {"table": "iceberg:people"}


def in_a_store(hospital, request):
    bucket = request.getfixturevalue("bucket")
    for release in TWO:
        hospital.snapshot(release).write_parquet(content := BytesIO())
        bucket.put_object(Key=f"hospital/{release}.parquet", Body=content.getvalue())
    return {"path": f"s3://{bucket.name}/hospital/{{release}}.parquet"}


def delta_in_s3(hospital, request):
    bucket = request.getfixturevalue("bucket")
    pytest.importorskip("deltalake", reason="needs deltalake: pip install 'republish[delta]'")
    write_delta(folder := hospital.folder / "people", versions(hospital))
    for file in filter(Path.is_file, folder.rglob("*")):
        bucket.upload_file(str(file), f"people/{file.relative_to(folder)}")  # it has no addresses in it
    return {"table": f"delta:s3://{bucket.name}/people"}


def delta_in_azure(hospital, request):
    from obstore.store import from_url

    container = request.getfixturevalue("container")
    pytest.importorskip("deltalake", reason="needs deltalake: pip install 'republish[delta]'")
    write_delta(folder := hospital.folder / "people", versions(hospital))
    for file in filter(Path.is_file, folder.rglob("*")):
        from_url(f"az://{container}").put(f"people/{file.relative_to(folder)}", file.read_bytes())
    return {"table": f"delta:az://{container}/people"}


def iceberg_in_s3(hospital, request):
    bucket, environment = request.getfixturevalue("bucket"), request.getfixturevalue("monkeypatch")
    reason = "needs pyiceberg: pip install 'republish[iceberg]'"
    catalogs = pytest.importorskip("pyiceberg.catalog", reason=reason)
    found = {"s3.endpoint": os.environ["AWS_ENDPOINT_URL"], "s3.region": "us-east-1"}
    warehouse = f"s3://{bucket.name}/people"
    uri = write_iceberg(hospital.folder / "people", versions(hospital), warehouse, **found)
    for name, value in {"uri": uri, "type": "sql", "warehouse": warehouse, **found}.items():
        environment.setenv(f"PYICEBERG_CATALOG__MADE__{name.replace('.', '__').upper()}", value)
    environment.setattr(catalogs, "_ENV_CONFIG", type(catalogs._ENV_CONFIG)())  # read again
    return {"table": "iceberg:made.clinic.people"}


def declare(hospital, source):
    declared = yaml.safe_load(hospital.declare().contract.read_text()) | {"source": source}
    hospital.contract.write_text(yaml.safe_dump(declared))


def apart_from_the_contract(home, zone=None):
    """What is published: all bytes but for the digest of the contract's own bytes, and digests of that.

    Nor does the time zone in which a database was asked count.
    """
    files = {name: content for name, content in published(home).items() if not name.endswith(SUMS)}
    for name in [name for name in files if name.endswith(MANIFEST)]:
        stated = json.loads(files[name])
        assert stated.pop("time_zone", None) == zone
        files[name] = stated | {"contract_sha256": None, "previous": None}
    return files


@pytest.mark.slow("reads every kind of source")
@pytest.mark.parametrize(
    "source",
    [
        *(csv, workbooks, of_spss, of_stata, transport_files, of_sas, parts, delta, iceberg),
        *(in_sqlite, in_fixed_places, in_a_store, delta_in_s3, delta_in_azure, iceberg_in_s3),
        pytest.param(in_postgresql, marks=pytest.mark.postgres),
    ],
)
def test_snapshots_from_any_source_are_those_from_parquet(source, hospital, home, tmp_path, request):
    """All that a release is made from, so that releases are made and read of one source below."""
    from_parquet = hospital.series(home)
    declare(hospital, source(hospital, request))
    series = hospital.series(tmp_path / "other")
    for release in TWO:
        take_snapshot(series, release)
        files = [one.private(release) / "snapshot.parquet" for one in (series, from_parquet)]
        taken, expected = map(read_table, files)
        assert taken.equals(expected)


@pytest.mark.slow("makes and audits many releases")
def test_releases_from_a_database_are_those_from_parquet(hospital, home, tmp_path, request):
    from_parquet, expected = hospital.series(home), apart_from_the_contract(home)
    declare(hospital, in_duckdb(hospital, request))
    series = make(hospital.series(tmp_path / "other"), *TWO)
    assert apart_from_the_contract(tmp_path / "other", "UTC") == expected
    assert [stated["release"] for stated in verify_series(series.published_folder)] == list(TWO)
    answers = [estimate(one.published_folder, "age < 40") for one in (from_parquet, series)]
    assert answers[0].equals(answers[1])
    code, found = audited(hospital, series, tmp_path / "report")
    assert code == 0
    assert found


def test_a_release_made_again_reads_the_version_it_was_made_from(hospital, tmp_path):
    deltalake = pytest.importorskip("deltalake", reason="needs deltalake: pip install 'republish[delta]'")
    declare(hospital, delta(hospital, None))
    series = hospital.series(tmp_path / "other")
    take_snapshot(series, TWO[0])
    kept = json.loads((series.private(TWO[0]) / KEPT).read_text())
    assert (kept["table"], kept["version"]) == ("delta:people", 0)
    date_delta(hospital.folder / "people", 1, f"{TWO[0]} 00:00")  # as if it had been there in time
    assert take_snapshot(series, TWO[0]).stated["version"] == 0
    make(series, TWO[0])
    declare(hospital, {"table": "delta:people", "versions": {TWO[0]: 1}})
    with pytest.raises(Exception, match="is published from a snapshot of 300 people; the source now has"):
        take_snapshot(hospital.series(tmp_path / "other"), TWO[0])
    declare(hospital, {"table": "delta:people"})
    table = deltalake.DeltaTable(str(hospital.folder / "people"))
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    with pytest.raises(
        SnapshotError, match="version 0 is not there any more: it was vacuumed, or it expired"
    ):
        take_snapshot(hospital.series(tmp_path / "other"), TWO[0])
