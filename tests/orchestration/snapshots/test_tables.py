"""Tables that keep earlier versions: which one a release reads, and what is said where it is gone."""

import subprocess
import sys
from io import BytesIO

import polars as pl
import pyarrow as pa
import pytest

from republish.anonymize.errors import ContractError, LimitError, SnapshotError, StoreError
from republish.orchestration.contracts.contract_file import load_contract
from tests.sources import arrival_of, read_snapshot, snapshot_exists, version_of
from tests.versioned import write_delta, write_iceberg

CONTRACT = """\
product: clinic
series: v1
source: SOURCE
releases: {first: 2024-01-01, cron: "30 6 1 * *"}
identifier: name
quasi_identifiers: [{name: age, kind: number, domain: [0, 120]}]
sensitive: {name: disease, values: [flu, gout]}
principle: {name: m_invariance, m: 2}
"""
MOMENTS = ("2024-01-01 06:29", "2024-01-01 06:30", "2024-02-01 06:31", "2024-03-01 05:00")


def people(age):
    return pa.table({"name": ["a", "b"], "age": [age, age], "disease": ["flu", "gout"]})


VERSIONS = {moment: people(age) for age, moment in enumerate(MOMENTS)}


@pytest.fixture(params=[("delta", "deltalake", write_delta), ("iceberg", "pyiceberg", write_iceberg)])
def table(request, tmp_path):
    """A table's address in a contract, and how to write it."""
    kind, library, write = request.param
    pytest.importorskip(library, reason=f"needs {library}: pip install 'republish[{kind}]'")
    return kind, lambda versions=VERSIONS: write(tmp_path / "people", versions)


@pytest.fixture
def clinic(tmp_path):
    def contract_file(source):
        (tmp_path / "clinic.yaml").write_text(CONTRACT.replace("SOURCE", source))
        return load_contract(tmp_path / "clinic.yaml")

    return contract_file


def ages(contract_file, release, version=None):
    return read_snapshot(contract_file, release, version)["qi_0"].to_list()


def refusal(contract_file, release, version=None):
    with pytest.raises(SnapshotError) as refused:
        read_snapshot(contract_file, release, version)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith(f"clinic, release {release}, ")
    return str(refused.value)


@pytest.mark.slow("takes more than a second")
def test_a_release_has_the_version_of_the_moment_at_which_it_is_due(table, clinic):
    kind, write = table
    write()
    contract_file = clinic(f"{{table: '{kind}:people'}}")
    assert not snapshot_exists(contract_file, "2023-12-01")
    assert ages(contract_file, "2024-01-01") == [1, 1]  # what is written at the moment itself is in it
    assert ages(contract_file, "2024-02-01") == [1, 1]  # and what is written a minute later is not
    assert ages(contract_file, "2024-03-01") == [3, 3]
    assert ages(contract_file, "2026-01-01") == [3, 3]
    assert "no such table yet when the release was due" in refusal(contract_file, "2023-12-01")
    assert arrival_of(contract_file, "2024-01-01") != arrival_of(contract_file, "2024-03-01")


@pytest.mark.slow("takes more than a second")
def test_a_version_that_the_contract_names(table, clinic):
    kind, write = table
    write()
    first = version_of(clinic(f"{{table: '{kind}:people', versions: {{}}}}"), "2024-01-01")
    contract_file = clinic(f"{{table: '{kind}:people', versions: {{2024-03-01: {first}}}}}")
    assert ages(contract_file, "2024-03-01") == [1, 1]
    assert ages(contract_file, "2024-04-01") == [3, 3]
    assert ages(contract_file, "2024-04-01", first) == [1, 1]


def test_a_table_that_is_not_there_has_not_arrived(table, clinic):
    kind, _ = table
    contract_file = clinic(f"{{table: '{kind}:nowhere/people'}}")
    assert not snapshot_exists(contract_file, "2024-01-01")
    pinned = clinic(f"{{table: '{kind}:nowhere/people', versions: {{2024-01-01: 1}}}}")
    assert "there is no such table; correct source.table" in refusal(pinned, "2024-01-01")


def test_a_version_that_never_was(table, clinic):
    kind, write = table
    write()
    words = refusal(clinic(f"{{table: '{kind}:people', versions: {{2024-01-01: 99}}}}"), "2024-01-01")
    assert "version 99 is not there any more" in words
    assert "name another version with the people of this release under source.versions" in words


def test_a_column_that_only_a_later_version_has(table, clinic):
    kind, write = table
    early = VERSIONS[MOMENTS[0]].drop_columns("age")
    if kind == "iceberg":
        pytest.skip("an Iceberg table is not overwritten with other columns")
    write({MOMENTS[0]: early, MOMENTS[3]: people(3)})
    contract_file = clinic(f"{{table: '{kind}:people'}}")
    assert "the column age is missing" in refusal(contract_file, "2024-01-01")
    assert ages(contract_file, "2024-03-01") == [3, 3]


def test_too_many_rows_are_not_read(table, clinic, monkeypatch):
    kind, write = table
    write()
    monkeypatch.setenv("REPUBLISH_LIMITS", "rows=1")
    with pytest.raises(LimitError, match="--limit rows=2"):
        read_snapshot(clinic(f"{{table: '{kind}:people'}}"), "2024-01-01")


def test_a_vacuumed_version_of_delta(clinic, tmp_path):
    deltalake = pytest.importorskip("deltalake", reason="needs deltalake: pip install 'republish[delta]'")
    write_delta(tmp_path / "people", VERSIONS)
    contract_file = clinic("{table: 'delta:people'}")
    table = deltalake.DeltaTable(str(tmp_path / "people"))
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    assert "version 1 is not there any more: it was vacuumed" in refusal(contract_file, "2024-01-01")
    assert ages(contract_file, "2024-03-01") == [3, 3]


def test_a_log_of_delta_that_was_cleaned_up(clinic, tmp_path):
    deltalake = pytest.importorskip("deltalake", reason="needs deltalake: pip install 'republish[delta]'")
    write_delta(tmp_path / "people", VERSIONS)
    deltalake.DeltaTable(str(tmp_path / "people")).create_checkpoint()
    for version in range(3):
        (tmp_path / f"people/_delta_log/{version:020}.json").unlink()
    contract_file = clinic("{table: 'delta:people'}")
    with pytest.raises(SnapshotError, match="the version of 2024-01-01 06:30 UTC is not there any more"):
        snapshot_exists(contract_file, "2024-01-01")
    assert "version 1 is not there any more" in refusal(contract_file, "2024-01-01", 1)
    assert ages(contract_file, "2024-03-01") == [3, 3]


def test_an_expired_snapshot_of_iceberg_and_a_table_of_a_catalog(clinic, tmp_path, monkeypatch):
    reason = "needs pyiceberg: pip install 'republish[iceberg]'"
    catalogs = pytest.importorskip("pyiceberg.catalog", reason=reason)
    write_iceberg(tmp_path / "people", VERSIONS)
    monkeypatch.setenv("PYICEBERG_CATALOG__MADE__TYPE", "sql")
    monkeypatch.setenv("PYICEBERG_CATALOG__MADE__URI", f"sqlite:///{tmp_path}/people/catalog.db")
    monkeypatch.setenv("PYICEBERG_CATALOG__MADE__WAREHOUSE", (tmp_path / "people").as_uri())
    monkeypatch.setattr(catalogs, "_ENV_CONFIG", type(catalogs._ENV_CONFIG)())  # read again
    contract_file = clinic("{table: 'iceberg:made.clinic.people'}")
    first = version_of(contract_file, "2024-01-01")
    assert ages(contract_file, "2024-01-01") == [1, 1]
    table = catalogs.load_catalog("made").load_table("clinic.people")
    old = [entry.snapshot_id for entry in table.history()[:3]]
    table.maintenance.expire_snapshots().by_ids(old).commit()
    assert f"version {first} is not there any more" in refusal(contract_file, "2024-01-01", first)
    with pytest.raises(SnapshotError, match="the version of 2024-01-01 06:30 UTC is not there any more"):
        snapshot_exists(contract_file, "2024-01-01")
    assert not snapshot_exists(clinic("{table: 'iceberg:made.clinic.nobody'}"), "2024-01-01")
    unknown = clinic("{table: 'iceberg:no_catalog.clinic.people'}")
    assert "can't be read (ValueError). Open it with pyiceberg to see why" in refusal(unknown, "2024-01-01")


def test_without_its_library_a_table_names_the_command(clinic, monkeypatch, table):
    kind, _ = table
    library = {"delta": "deltalake", "iceberg": "pyiceberg"}[kind]
    for name in [name for name in sys.modules if name.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    words = refusal(clinic(f"{{table: '{kind}:people'}}"), "2024-01-01")
    assert words.endswith(
        f"{library} is not installed, which reads such tables: pip install 'republish[{kind}]'"
    )


@pytest.mark.slow("takes more than a second")
def test_nothing_of_it_is_imported_where_it_is_not_used():
    script = (
        "import sys, republish.orchestration.cli.app, republish.orchestration.snapshots.sources\n"
        "print({'deltalake', 'pyiceberg', 'obstore', 'boto3', 'croniter'} & {*sys.modules})"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("{table: people}", "source.table: must be delta:FOLDER"),
        ("{table: 'delta:'}", "source.table: must be delta:FOLDER"),
        ("{table: 'hudi:people'}", "source.table: must be delta:FOLDER"),
        ("{table: 'delta:s3://key:open-sesame@bucket/people'}", "source.table: has credentials"),
        ("{table: 'delta:az://bucket/people?sig=open-sesame'}", "source.table: has credentials"),
        ("{table: 'iceberg:s3://bucket/people'}", "source.table: names an Iceberg table by its folder"),
        ("{table: 'delta:https://host/open-sesame'}", "source.table: must be a path, or begin with s3://"),
        ("{path: 's3://key:open-sesame@bucket/{release}.csv'}", "source.path: has credentials"),
        ("{path: 's3://bucket-{release}.csv'}", "source.path: must name a bucket and a path"),
        ("{table: 'delta:p', versions: {soon: 1}}", "source.versions: soon must be the date of a release"),
        ("{table: 'delta:p', versions: {2024-01-01: -1}}", "source.versions: -1 is no version"),
        (
            "{table: 'delta:p', versions: {2024-01-01: x}}",
            "source.versions.2024-01-01: must be a whole number",
        ),
        ("{table: 'delta:p', version: 1}", "source.version: is unknown; accepted: table, versions"),
    ],
)
def test_a_source_that_is_none(clinic, source, fault):
    with pytest.raises(ContractError) as refused:
        clinic(source)
    assert fault in str(refused.value)
    assert "open-sesame" not in str(refused.value)


class TestAFolderOfFiles:
    @pytest.fixture
    def folder(self, tmp_path):
        (tmp_path / "2024-01-01").mkdir()
        return tmp_path / "2024-01-01"

    def test_all_of_them_are_one_snapshot(self, clinic, folder):
        contract_file = clinic("{path: '{release}/*.parquet'}")
        assert not snapshot_exists(contract_file, "2024-01-01")
        assert "there is no such file" in refusal(contract_file, "2024-01-01")
        one = pl.from_arrow(people(1))
        one.cast({"age": pl.UInt8, "disease": pl.Categorical}).write_parquet(folder / "part-1.parquet")
        other = one.with_columns(name=pl.col("name") + "2", age=pl.lit(30)).select("disease", "age", "name")
        other.write_parquet(folder / "part-0.parquet")
        (folder / "_SUCCESS").touch()
        (folder / ".part-0.parquet.crc").touch()
        before = arrival_of(contract_file, "2024-01-01")
        assert snapshot_exists(contract_file, "2024-01-01")
        assert sorted(ages(contract_file, "2024-01-01")) == [1, 1, 30, 30]
        other.head(1).write_parquet(folder / "part-0.parquet")
        assert arrival_of(contract_file, "2024-01-01") != before

    @pytest.mark.parametrize("unfinished", ["_temporary", "part-2.parquet"])
    def test_a_folder_that_is_still_written_has_not_arrived(self, clinic, folder, unfinished):
        contract_file = clinic("{path: '{release}/*.parquet'}")
        pl.from_arrow(people(1)).write_parquet(folder / "part-0.parquet")
        if unfinished == "_temporary":
            (folder / unfinished).mkdir()
        else:
            (folder / unfinished).touch()
        assert not snapshot_exists(contract_file, "2024-01-01")

    def test_each_has_the_same_columns(self, clinic, folder):
        contract_file = clinic("{path: '{release}/*.csv'}")
        pl.from_arrow(people(1)).write_csv(folder / "a.csv")
        pl.from_arrow(people(1).drop_columns("age")).write_csv(folder / "b.csv")
        words = refusal(contract_file, "2024-01-01")
        assert "b.csv: age is a column here or in the folder's first file, and not in both" in words

    def test_nobody_is_in_two_of_them(self, clinic, folder):
        contract_file = clinic("{path: '{release}/*.parquet'}")
        for name in "ab":
            pl.from_arrow(people(1)).write_parquet(folder / f"{name}.parquet")
        assert "name: 2 of 4 rows repeat the identifier of another row" in refusal(
            contract_file, "2024-01-01"
        )


class TestAnObjectStore:
    @pytest.mark.slow("takes more than a second")
    def test_a_file_and_a_folder_of_files(self, clinic, bucket):
        one, folder = f"s3://{bucket.name}/one/{{release}}.csv", f"s3://{bucket.name}/{{release}}/*.parquet"
        for path in (one, folder):
            contract_file = clinic(f"{{path: '{path}'}}")
            assert not snapshot_exists(contract_file, "2024-01-01")
            assert "there is no such file; deliver the snapshot" in refusal(contract_file, "2024-01-01")
        snapshot = pl.from_arrow(people(1))
        bucket.put_object(Key="one/2024-01-01.csv", Body=snapshot.write_csv().encode())
        for name in ("a", "b", ".hidden", "below/c"):
            snapshot.with_columns(pl.col("name") + name).write_parquet(content := BytesIO())
            bucket.put_object(Key=f"2024-01-01/{name}.parquet", Body=content.getvalue())
        assert ages(clinic(f"{{path: '{one}'}}"), "2024-01-01") == [1, 1]
        contract_file = clinic(f"{{path: '{folder}'}}")
        assert snapshot_exists(contract_file, "2024-01-01")
        assert read_snapshot(contract_file, "2024-01-01")["identifier"].to_list() == ["aa", "ba", "ab", "bb"]
        before = arrival_of(contract_file, "2024-01-01")
        bucket.put_object(Key="2024-01-01/b.parquet", Body=b"no Parquet")
        assert arrival_of(contract_file, "2024-01-01") != before
        assert "b.parquet: is no Parquet file that can be read" in refusal(contract_file, "2024-01-01")
        bucket.put_object(Key="2024-01-01/_temporary/c.parquet", Body=b"")
        assert not snapshot_exists(contract_file, "2024-01-01")

    def test_too_large_an_object_is_not_fetched(self, clinic, bucket, monkeypatch):
        bucket.put_object(Key="2024-01-01.csv", Body=b"x" * 2_000_000)
        monkeypatch.setenv("REPUBLISH_LIMITS", "megabytes=1")
        with pytest.raises(LimitError, match="has 2 megabytes, and 1 are read at most"):
            read_snapshot(clinic(f"{{path: 's3://{bucket.name}/{{release}}.csv'}}"), "2024-01-01")

    def test_a_delta_table(self, clinic, bucket):
        deltalake = pytest.importorskip("deltalake", reason="needs deltalake: pip install 'republish[delta]'")
        keys = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "open-sesame"}
        deltalake.write_deltalake(f"s3://{bucket.name}/people", people(1), storage_options=keys)
        contract_file = clinic(f"{{table: 'delta:s3://{bucket.name}/people'}}")
        assert not snapshot_exists(contract_file, "2024-01-01")
        assert ages(contract_file, "2100-01-01") == [1, 1]

    def test_a_store_that_cannot_be_used(self, clinic, bucket, monkeypatch):
        monkeypatch.setenv("AWS_PROFILE", "nobody")
        contract_file = clinic(f"{{path: 's3://{bucket.name}/{{release}}.csv'}}")
        with pytest.raises(
            StoreError, match=r"the store can't be used .* see to it that they are there"
        ) as refused:
            read_snapshot(contract_file, "2024-01-01")
        assert "open-sesame" not in str(refused.value)
        monkeypatch.setitem(sys.modules, "obstore.auth.boto3", None)
        with pytest.raises(StoreError, match=r"not installed.*: pip install 'republish\[stores\]'"):
            read_snapshot(contract_file, "2024-01-01")
