import datetime as dt
import gzip
import io
import os
import subprocess
import sys
import traceback
from collections import deque
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from republish.anonymize.errors import ContractError, SnapshotError
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.snapshots.databases import ask, without_values
from republish.orchestration.snapshots.sources import enter, snapshot_faults, source_of
from tests.sources import read_snapshot, snapshot_exists

RELEASE = "2024-04-01"
CONTRACT = """\
product: hospital
series: v1
source: SOURCE
releases: {first: 2024-01-01, cron: "0 0 1 */3 *"}
identifier: patient_id
quasi_identifiers:
  - {name: age, kind: number, domain: [0, 120]}
  - {name: income, kind: number, domain: [0.0, 1000.0]}
  - {name: admitted, kind: date, domain: [2020-01-01, 2024-12-31]}
  - {name: sex, kind: category, order: [F, M]}
sensitive: {name: disease, values: [asthma, flu, gout, none]}
principle: {name: m_invariance, m: 2}
"""
PEOPLE = pl.DataFrame(
    {
        "patient_id": ["001", "002", "010"],
        "age": [34, 0, 120],
        "income": [0.0, 12.5, 1000.0],
        "admitted": [dt.date(2020, 1, 1), dt.date(2024, 2, 29), dt.date(2024, 12, 31)],
        "sex": ["F", "M", "F"],
        "disease": ["flu", "asthma", "gout"],
    }
)
READ = PEOPLE.rename(
    {
        "patient_id": "identifier",
        "age": "qi_0",
        "income": "qi_1",
        "admitted": "qi_2",
        "sex": "qi_3",
        "disease": "value",
    }
)
"""The people under our own column names, as they are read."""
PARQUET = '{path: "snapshots/{release}.parquet"}'
CSV = '{path: "snapshots/{release}.csv"}'
QUERY = "SELECT * FROM patients WHERE seen = :release"

MOMENTS = [dt.datetime(2024, *moment, tzinfo=dt.UTC) for moment in ((3, 31, 20), (4, 1, 1), (4, 1, 6))]
"""One before the release and two after it, UTC; in Lima two are before it, and in Auckland none."""


def read_elsewhere(contract_files, **environment):
    """Identifiers that a process reads on a machine with another environment, by contract."""
    reads = (
        "import sys; from pathlib import Path; from tests.sources import read_snapshot;"
        "from republish.orchestration.contracts.contract_file import load_contract;"
        "[print(*read_snapshot(load_contract(Path(one)), sys.argv[1])['identifier'], file=sys.stderr)"
        " for one in sys.argv[2:]]"
    )
    asked = [sys.executable, "-c", reads, RELEASE, *contract_files]
    done = subprocess.run(asked, capture_output=True, text=True, env=os.environ | environment, check=True)
    return done.stderr.splitlines()


@pytest.fixture
def hospital(tmp_path):
    """A hospital's contract with a source; its snapshots lie in a folder beside it."""

    def contract_file(source, *changes):
        content = CONTRACT.replace("SOURCE", source)
        for old, new in changes:
            assert old in content
            content = content.replace(old, new)
        (tmp_path / "hospital.yaml").write_text(content)
        return load_contract(tmp_path / "hospital.yaml")

    (tmp_path / "snapshots").mkdir()
    return contract_file


@pytest.fixture
def parquet(hospital, tmp_path):
    """The hospital with a Parquet snapshot of the people given."""

    def contract_file(people, *changes):
        people.write_parquet(tmp_path / "snapshots" / f"{RELEASE}.parquet")
        return hospital(PARQUET, *changes)

    return contract_file


@pytest.fixture
def csv(hospital, tmp_path):
    """The hospital with a CSV snapshot of the bytes given."""

    def contract_file(content, *changes):
        content = content if isinstance(content, bytes) else content.write_csv().encode()
        (tmp_path / "snapshots" / f"{RELEASE}.csv").write_bytes(content)
        return hospital(CSV, *changes)

    return contract_file


@pytest.fixture
def in_duckdb(hospital, tmp_path):
    """The hospital with a query on a DuckDB file that has a table of patients, seen at two releases."""

    def contract_file(query=QUERY, people=PEOPLE):
        with duckdb.connect(tmp_path / "x.duckdb") as database:
            database.execute(
                "CREATE OR REPLACE TABLE patients AS SELECT *, DATE '2024-04-01' AS seen FROM people "
                "UNION ALL SELECT *, DATE '2024-01-01' FROM people WHERE patient_id = '001'"
            )
        return hospital(f"{{dsn: 'duckdb:///x.duckdb', query: \"{query}\"}}")

    return contract_file


@pytest.fixture
def in_postgresql(hospital, postgresql):
    """The hospital with a query on a PostgreSQL table of patients, in types of PostgreSQL's own."""
    import adbc_driver_postgresql.dbapi as driver

    def execute(*statements):
        with driver.connect(postgresql) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            connection.commit()

    def contract_file(query=QUERY, dsn=postgresql):
        return hospital(f"{{dsn: '{dsn}', query: \"{query}\"}}")

    execute(
        "DROP TABLE IF EXISTS patients",
        "DROP TYPE IF EXISTS sex",
        "CREATE TYPE sex AS ENUM ('F', 'M')",
        "CREATE TABLE patients (patient_id varchar, age numeric, income real, admitted date, "
        "sex sex, disease char(6), seen date)",
        "INSERT INTO patients VALUES "
        "('001', 34, 0, '2020-01-01', 'F', 'flu', '2024-04-01'), "
        "('002', 0, 12.5, '2024-02-29', 'M', 'asthma', '2024-04-01'), "
        "('010', 120, 1000, '2024-12-31', 'F', 'gout', '2024-04-01'), "
        "('001', 33, 0, '2020-01-01', 'F', 'flu', '2024-01-01')",
    )
    yield contract_file
    execute("DROP TABLE IF EXISTS patients", "DROP TYPE IF EXISTS sex")


def refusal(contract_file, release=RELEASE):
    """The message of the error, which has no driver's or reader's error behind it."""
    with pytest.raises(SnapshotError) as refused:
        read_snapshot(contract_file, release)
    message = str(refused.value)
    assert message.startswith(f"hospital, release {release}, ")
    assert "".join(traceback.format_exception(refused.value)).count("Traceback") == 1
    return message


class TestWhatIsRead:
    def test_parquet(self, parquet):
        assert_frame_equal(read_snapshot(parquet(PEOPLE), RELEASE), READ)

    def test_csv_keeps_an_identifiers_leading_zeros(self, csv):
        assert_frame_equal(read_snapshot(csv(PEOPLE), RELEASE), READ)

    def test_duckdb(self, in_duckdb):
        assert_frame_equal(read_snapshot(in_duckdb(), RELEASE), READ)
        assert read_snapshot(in_duckdb(), "2024-01-01")["identifier"].to_list() == ["001"]

    @pytest.mark.postgres
    def test_postgresql(self, in_postgresql):
        query = QUERY.replace("*", "patient_id, age, income, admitted, sex, trim(disease) AS disease")
        people = read_snapshot(in_postgresql(query), RELEASE)
        assert_frame_equal(people.sort("identifier"), READ)
        assert read_snapshot(in_postgresql(query), "2024-01-01")["qi_0"].to_list() == [33]

    def test_the_contracts_columns_alone_in_its_order(self, parquet):
        shuffled = PEOPLE.select("disease", pl.lit("x").alias("note"), *reversed(PEOPLE.columns[:-1]))
        assert_frame_equal(read_snapshot(parquet(shuffled), RELEASE), READ)

    def test_a_snapshot_of_nobody(self, parquet, csv):
        for contract_file in (parquet(PEOPLE.clear()), csv(PEOPLE.clear())):
            assert_frame_equal(read_snapshot(contract_file, RELEASE), READ.clear())

    def test_a_snapshot_of_nobody_without_types(self, parquet):
        nobody = pl.DataFrame({column: [] for column in PEOPLE.columns})
        assert_frame_equal(read_snapshot(parquet(nobody), RELEASE), READ.clear())

    def test_whole_numbers_that_were_written_with_decimals(self, parquet, csv):
        written = PEOPLE.with_columns(pl.col("age").cast(pl.Float64))
        for contract_file in (parquet(written), csv(written)):
            assert_frame_equal(read_snapshot(contract_file, RELEASE), READ)

    @pytest.mark.parametrize(
        ("column", "dtype"),
        [
            ("age", pl.UInt8),
            ("age", pl.String),
            ("age", pl.Decimal(10, 2)),
            ("income", pl.Float32),
            ("income", pl.Decimal(10, 2)),
            ("admitted", pl.Datetime),
            ("admitted", pl.String),
            ("sex", pl.Categorical),
            ("disease", pl.Enum(["asthma", "flu", "gout"])),
        ],
    )
    def test_another_type_with_the_same_values(self, parquet, column, dtype):
        written = PEOPLE.with_columns(pl.col(column).cast(dtype))
        assert_frame_equal(read_snapshot(parquet(written), RELEASE), READ)

    @pytest.mark.parametrize(
        ("identifiers", "dtype"),
        [
            (pl.Series([1, 2, 3], dtype=pl.Int32), pl.Int64),
            (pl.Series([1, 2, 2**64 - 1], dtype=pl.UInt64), pl.String),
            (pl.Series([b"\x01", b"\x02", b"\xff"]), pl.Binary),
            (pl.Series(["a", "b", "c"], dtype=pl.Categorical), pl.String),
        ],
    )
    def test_an_identifier_as_it_is_given(self, parquet, identifiers, dtype):
        people = read_snapshot(parquet(PEOPLE.with_columns(patient_id=identifiers)), RELEASE)
        assert people["identifier"].dtype == dtype
        assert people["identifier"].n_unique() == 3

    def test_sensitive_values_that_are_whole_numbers(self, parquet, csv):
        coded = PEOPLE.with_columns(disease=pl.Series([1, 2, 3], dtype=pl.Int16))
        listed = ("values: [asthma, flu, gout, none]", "values: [1, 2, 3]")
        for contract_file in (parquet(coded, listed), csv(coded, listed)):
            assert read_snapshot(contract_file, RELEASE)["value"].dtype == pl.Int64

    def test_sensitive_values_that_nobody_listed(self, parquet, csv):
        coded = PEOPLE.with_columns(disease=pl.Series([1, 2, 3]))
        unlisted = (", values: [asthma, flu, gout, none]", "")
        assert read_snapshot(parquet(coded, unlisted), RELEASE)["value"].dtype == pl.Int64
        assert read_snapshot(csv(coded, unlisted), RELEASE)["value"].dtype == pl.String  # no guessing

    def test_a_file_in_a_folder_named_like_a_pattern(self, hospital, tmp_path):
        folder = tmp_path / "seen=2024" / "[a]*"
        folder.mkdir(parents=True)
        PEOPLE.write_parquet(folder / f"{RELEASE}.parquet")
        contract_file = hospital('{path: "seen=2024/[a]*/{release}.parquet"}')
        assert_frame_equal(read_snapshot(contract_file, RELEASE), READ)

    @pytest.mark.slow("takes more than a second")
    def test_the_release_is_bound_as_a_date_wherever_it_stands_for_one(self, in_duckdb):
        query = (
            "SELECT *, ':release' AS a, 1::int AS b /* :release */ FROM patients "
            "WHERE seen::text = :release::text -- :release"
        )
        assert read_snapshot(in_duckdb(query), "2024-01-01").height == 1

    @pytest.mark.postgres
    def test_the_release_is_bound_as_a_date_in_postgresql_too(self, in_postgresql):
        query = (
            "SELECT patient_id, age, income, admitted, sex, trim(disease) AS disease, ':release' AS a "
            "FROM patients WHERE seen::text = :release::text -- :release"
        )
        assert read_snapshot(in_postgresql(query), "2024-01-01").height == 1

    @pytest.mark.slow("makes and audits many releases")
    @pytest.mark.parametrize("zone", ["America/Lima", "Pacific/Auckland"])
    def test_no_time_zone_of_the_machine_decides_who_is_in_it(self, in_duckdb, tmp_path, zone):
        people = PEOPLE.with_columns(moment=pl.Series(MOMENTS))
        people.write_parquet(tmp_path / "people.parquet")
        in_duckdb("FROM patients", people)
        tables = {"///x.duckdb": "patients WHERE seen = :release AND", "": "'people.parquet' WHERE"}
        contract_files = [tmp_path / f"{at}.yaml" for at in range(len(tables))]
        for file, (place, table) in zip(contract_files, tables.items(), strict=True):
            source = f'{{dsn: "duckdb:{place}", query: "FROM {table} moment < :release"}}'
            file.write_text(CONTRACT.replace("SOURCE", source))
        assert read_elsewhere(contract_files, TZ=zone) == ["001", "001"]

    @pytest.mark.slow("starts a daemon or a server")
    @pytest.mark.postgres
    @pytest.mark.parametrize("zone", ["America/Lima", "Pacific/Auckland"])
    def test_nor_does_that_of_a_session_of_postgresql(self, in_postgresql, zone):
        moments = ", ".join(f"('00{at}', '{moment}'::timestamptz)" for at, moment in enumerate(MOMENTS, 1))
        query = (
            "SELECT p.patient_id, age, income, admitted, sex, trim(disease) AS disease FROM patients p"
            " JOIN (VALUES MOMENTS) AS m (patient_id, moment) USING (patient_id)"
            " WHERE seen = :release AND moment < :release"
        ).replace("MOMENTS", moments.replace("003", "010"))
        assert read_elsewhere([in_postgresql(query).path], PGTZ=zone) == ["001"]

    def test_nobody_else_reads_what_does_not_fit_into_memory(self, in_duckdb, tmp_path):
        """And not beside the database, nor in the folder that somebody is in, as DuckDB has it."""
        file = in_duckdb("SELECT current_setting('temp_directory') AS place")
        answer = ask(file.contract.source, RELEASE, tmp_path, "here")
        (place,) = (Path(row["place"]) for batch in answer.batches for row in batch.to_pylist())
        assert place.is_relative_to(gettempdir())
        assert not place.is_relative_to(tmp_path)
        assert place.stat().st_mode & 0o777 == 0o700

    def test_a_database_file_is_read_only(self, in_duckdb, tmp_path):
        contract_file = in_duckdb()
        before = (tmp_path / "x.duckdb").read_bytes()
        read_snapshot(contract_file, RELEASE)
        assert (tmp_path / "x.duckdb").read_bytes() == before

    @pytest.mark.parametrize(
        ("identifier", "text"),
        [
            ("7::hugeint", "7"),
            ("7::decimal(20, 0)", "7"),
            ("uuid '6F1C6F3E-0102-4000-8000-0000000000AB'", "6f1c6f3e-0102-4000-8000-0000000000ab"),
        ],
    )
    def test_an_identifier_of_a_databases_own_type(self, in_duckdb, identifier, text):
        query = QUERY.replace("*", f"* REPLACE ({identifier} AS patient_id)")
        assert read_snapshot(in_duckdb(query), "2024-01-01")["identifier"].to_list() == [text]

    @pytest.mark.postgres
    def test_a_semicolon_after_a_query_says_nothing(self, in_postgresql):
        query = QUERY.replace("*", "patient_id, age, income, admitted, sex, trim(disease) AS disease")
        query = query.replace(":release", "'2024-01-01'") + "; -- all; of them"
        assert read_snapshot(in_postgresql(query), RELEASE).height == 1

    @pytest.mark.postgres
    def test_a_uuid_is_an_identifier_as_it_is_written(self, in_postgresql):
        query = (
            "SELECT '6F1C6F3E-0102-4000-8000-0000000000AB'::uuid AS patient_id, age, income, admitted, sex, "
            "trim(disease) AS disease FROM patients WHERE seen = :release"
        )
        (identifier,) = read_snapshot(in_postgresql(query), "2024-01-01")["identifier"]
        assert identifier == "6f1c6f3e-0102-4000-8000-0000000000ab"


def changed(**columns):
    return PEOPLE.with_columns(**{name: pl.Series(values) for name, values in columns.items()})


class TestWhatIsRefused:
    @pytest.mark.slow("makes and audits many releases")
    @pytest.mark.parametrize(
        ("people", "words"),
        [
            (PEOPLE.drop("sex"), "the column sex is missing"),
            (changed(patient_id=["x1", None, "x2"]), "patient_id: 1 of 3 rows have no value"),
            (changed(patient_id=["x1", "", "x2"]), "patient_id: 1 of 3 rows have no value"),
            (
                changed(patient_id=["x1", "x1", "x1"]),
                "patient_id: 2 of 3 rows repeat the identifier of another row",
            ),
            (changed(patient_id=[0.5, 1.5, 2.5]), "patient_id: 3 of 3 rows are not text or whole numbers"),
            (changed(patient_id=[[1], [2], [3]]), "patient_id: 3 of 3 rows are not text or whole numbers"),
            (changed(age=[1, None, None]), "age: 2 of 3 rows have no value"),
            (changed(age=[1, 2, 121]), "age: 1 of 3 rows lie outside the domain (0 to 120)"),
            (changed(age=[1, 2, -1]), "age: 1 of 3 rows lie outside the domain (0 to 120)"),
            (changed(age=[1.0, 2.5, 3.0]), "age: 1 of 3 rows are not whole numbers"),
            (changed(age=[1.0, float("nan"), float("inf")]), "age: 2 of 3 rows are not whole numbers"),
            (changed(age=["1", "two", "3"]), "age: 1 of 3 rows are not whole numbers"),
            (changed(age=[True, False, True]), "age: 3 of 3 rows are not whole numbers"),
            (changed(income=[0.0, float("nan"), 1.0]), "income: 1 of 3 rows are not numbers"),
            (
                changed(income=[0.0, float("inf"), 1.0]),
                "income: 1 of 3 rows lie outside the domain (0.0 to 1000.0)",
            ),
            (
                changed(admitted=["2024-01-01", "2024-02-30", "1/2/2024"]),
                "admitted: 2 of 3 rows are not dates (YYYY-MM-DD, or as declared)",
            ),
            (
                PEOPLE.with_columns(
                    pl.col("admitted").cast(pl.Datetime) + pl.duration(hours=pl.col("age") % 24)
                ),
                "admitted: 1 of 3 rows are not dates (YYYY-MM-DD, or as declared)",
            ),
            (
                changed(admitted=[20240101, 2, 3]),
                "admitted: 3 of 3 rows are not dates (YYYY-MM-DD, or as declared)",
            ),
            (
                changed(admitted=[dt.date(2019, 12, 31), dt.date(2024, 1, 1), dt.date(2025, 1, 1)]),
                "admitted: 2 of 3 rows lie outside the domain (2020-01-01 to 2024-12-31)",
            ),
            (changed(sex=["F", "f", "M"]), "sex: 1 of 3 rows lie outside the domain (2 labels)"),
            (changed(sex=["F", None, "M"]), "sex: 1 of 3 rows have no value"),
            (changed(disease=["flu", None, "gout"]), "disease: 1 of 3 rows have no value"),
            (
                changed(disease=["flu", "plague", "gout"]),
                "disease: 1 of 3 rows lie outside the domain (the 4 values that the contract lists)",
            ),
            (changed(disease=[1.5, 2.5, 3.5]), "disease: 3 of 3 rows are not text"),
        ],
    )
    def test_a_column_that_breaks_its_rule(self, parquet, people, words):
        message = refusal(parquet(people))
        assert f"{RELEASE}.parquet: {words}; " in message or f"{RELEASE}.parquet: {words}: " in message
        assert "\n" not in message

    def test_every_fault_at_once(self, parquet):
        people = changed(patient_id=["x1", "x1", None], age=[None, 300, 1]).drop("sex")
        first, *faults = refusal(parquet(people)).splitlines()
        assert first.endswith("5 faults in the snapshot")
        assert [fault.split(";")[0].split(": add")[0] for fault in faults] == [
            "  the column sex is missing",
            "  patient_id: 1 of 3 rows have no value",
            "  patient_id: 1 of 3 rows repeat the identifier of another row",
            "  age: 1 of 3 rows have no value",
            "  age: 1 of 3 rows lie outside the domain (0 to 120)",
        ]

    def test_a_message_holds_nothing_of_a_person(self, parquet, csv):
        people = changed(
            patient_id=["Ann", "Ann", None],
            age=["777", "elderly", "1"],
            sex=["secret"] * 3,
            disease=["plague"] * 3,
        )
        for contract_file in (parquet(people), csv(people)):
            message = refusal(contract_file)
            assert not [each for each in ("Ann", "777", "elderly", "secret", "plague") if each in message]

    def test_a_csv_without_a_header_is_not_quoted(self, csv):
        message = refusal(csv(b"Ann,34,0.0,2020-01-01,F,flu\nBob,35,0.0,2020-01-01,M,gout\n"))
        assert "the column patient_id is missing" in message
        assert "Ann" not in message

    def test_text_where_a_number_belongs(self, csv):
        assert "age: 1 of 3 rows are not whole numbers" in refusal(csv(changed(age=["34", "young", "2"])))
        message = refusal(csv(changed(age=["34.5", "51.0", "2.25"])))
        assert "if it is a file" not in message  # they can be read as they are
        assert message.endswith("of numbers with decimals, the domain has some, too: [0.0, 100.0]")

    def test_a_value_that_is_not_there(self, csv):
        assert "age: 1 of 3 rows have no value" in refusal(csv(changed(age=["34", None, "2"])))
        assert "age: 1 of 3 rows have no value" in refusal(csv(changed(age=["34", "", "2"])))

    def test_a_column_that_is_there_twice(self, csv):
        assert "the column age is in the header twice" in refusal(csv(b"patient_id,age,age\n1,2,3\n"))

    @pytest.mark.parametrize("source", [PARQUET, CSV])
    def test_a_file_that_is_not_there(self, hospital, source):
        message = refusal(hospital(source))
        assert "there is no such file; deliver the snapshot" in message

    def test_a_database_that_is_not_there(self, hospital):
        message = refusal(hospital("{dsn: 'duckdb:///x.duckdb', query: SELECT 1}"))
        assert "there is no such database; correct source.dsn in the contract" in message

    @pytest.mark.parametrize("source", [PARQUET, CSV])
    def test_a_folder_or_an_empty_file(self, hospital, tmp_path, source):
        contract_file = hospital(source)
        file = tmp_path / "snapshots" / f"{RELEASE}.{'csv' if 'csv' in source else 'parquet'}"
        file.mkdir()
        assert "is no file; correct source.path" in refusal(contract_file)
        file.rmdir()
        file.touch()
        assert "is empty; deliver it again" in refusal(contract_file)

    @pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
    def test_a_truncated_parquet_file(self, parquet, tmp_path, part):
        contract_file = parquet(PEOPLE)
        file = tmp_path / "snapshots" / f"{RELEASE}.parquet"
        file.write_bytes(file.read_bytes()[: int(part * file.stat().st_size)])
        assert "is no Parquet file that can be read, or a part of one" in refusal(contract_file)

    def test_a_csv_in_another_encoding_is_not_quoted(self, csv):
        message = refusal(csv(b"patient_id,age\nAnn\xff,3\n"))
        assert "is not written in UTF-8" in message
        assert "Ann" not in message

    def test_a_csv_that_was_cut_off_within_a_line(self, csv):
        content = PEOPLE.write_csv().encode()
        assert "line 4 has 4 fields, and the header has 6" in refusal(csv(content[:-18]))

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
    def test_a_file_that_may_not_be_read(self, parquet, tmp_path):
        contract_file = parquet(PEOPLE)
        (tmp_path / "snapshots" / f"{RELEASE}.parquet").chmod(0)
        assert "can't be read: Permission denied" in refusal(contract_file)


class TestNumbersAndDatesAsOthersWriteThem:
    """Read as the contract says, all of a column or nothing; asked about where there are two ways."""

    INCOME = ("0", "12.5", "1000")
    ADMITTED = ("2020-01-01", "2024-02-29", "2024-12-31")

    def read(self, csv, declared, income=INCOME, admitted=ADMITTED):
        people = PEOPLE.with_columns(income=pl.Series(income), admitted=pl.Series(admitted))
        source = f'.csv", separator: ";"{declared}}}'
        return csv(people.write_csv(separator=";").encode(), ('.csv"}', source))

    @pytest.mark.parametrize(
        ("declared", "columns"),
        [
            (", decimal: ','", {"income": ["0", "12,5", "1000,0"]}),
            (", thousands: '.'", {"income": ["0", "12,5", "1.000"]}),
            (", decimal: '.', thousands: ','", {"income": ["0.", "12.5", "1,000.00"]}),
            (", thousands: ' ', decimal: ','", {"income": ["+0", "12,5", "1\u202f000"]}),
            (""", thousands: "'" """, {"income": ["0", "1.25e1", "1\u2019000"]}),
            (", date_format: '%d.%m.%Y'", {"admitted": ["01.01.2020", "29.02.2024", "31.12.2024"]}),
            (", date_format: '%m/%d/%Y'", {"admitted": ["1/1/2020", "2/29/2024", "12/31/2024"]}),
            (
                ", date_format: '%d.%m.%Y %H:%M'",
                {"admitted": ["01.01.2020 00:00", "29.02.2024 00:00", "31.12.2024 00:00"]},
            ),
            (
                ", decimal: ',', columns: {income: {decimal: '.'}, admitted: {date_format: '%Y%m%d'}}",
                {"admitted": ["20200101", "20240229", "20241231"]},
            ),
        ],
    )
    def test_read_as_declared(self, csv, declared, columns):
        assert_frame_equal(read_snapshot(self.read(csv, declared, **columns), RELEASE), READ)

    @pytest.mark.parametrize(
        ("columns", "said"),
        [
            (
                {"income": ["0", "12,5", "1000"]},
                "income: 1 of 3 rows are not numbers; if it is a file, write decimal: ',' under source",
            ),
            (
                {"income": ["0", "1,500", "1,000"]},
                "write decimal: ',' or decimal: ., thousands: ',' under source",
            ),
            (
                {"income": ["k.A.", "12,5", "1000"]},
                "2 of 3 rows are not numbers; if it is a file, write decimal: ',', null_values: [k.A.] under",
            ),
            (
                {"income": ["k.A.", "12.5", "1000"]},
                "1 of 3 rows are not numbers; if it is a file, write null_values: [k.A.] under source",
            ),
            (
                {"admitted": ["01.01.2020", "-", "31.12.2024"]},
                "write date_format: '%d.%m.%Y', null_values: ['-'] under source",
            ),
            ({"income": ["?", "n/a", "some"]}, "income: 3 of 3 rows are not numbers; correct them"),
            ({"income": ["0", "some", "1,000"]}, "income: 2 of 3 rows are not numbers; correct them"),
            ({"income": ["0", "1.250", "500.125"]}, "income: 2 of 3 rows can be read in two ways"),
            (
                {"admitted": ["01.01.2020", "29.02.2024", "31.12.2024"]},
                "if it is a file, write date_format: '%d.%m.%Y' under source; else correct them",
            ),
            (
                {"admitted": ["01/02/2020", "03/02/2024", "12/11/2024"]},
                "write date_format: '%d/%m/%Y' or date_format: '%m/%d/%Y' under source",
            ),
        ],
    )
    def test_asked_about_or_refused_with_the_line_to_write(self, csv, columns, said):
        message = refusal(self.read(csv, "", **columns))
        assert said in message
        assert "500" not in message

    @pytest.mark.parametrize(
        ("declared", "amount"),
        [
            (", decimal: ','", "12.5"),
            (", thousands: '.'", "12.50"),
            (", thousands: ','", "1,25"),
            (", decimal: '.'", "1,250"),
        ],
    )
    def test_what_is_not_written_as_declared_is_counted(self, csv, declared, amount):
        message = refusal(self.read(csv, declared, income=["0", amount, "1000"]))
        assert "income: 1 of 3 rows are not numbers" in message

    def test_what_stands_for_no_value(self, csv):
        contract_file = self.read(csv, ', null_values: [k.A., "-"]', income=["k.A.", "12.5", "-"])
        assert "income: 2 of 3 rows have no value" in refusal(contract_file)

    @pytest.mark.parametrize(
        ("dtype", "codes"), [(pl.Int16, "98, 99.0"), (pl.Float64, "98, 99"), (pl.String, "98, 99")]
    )
    def test_what_stands_for_no_value_among_numbers(self, parquet, dtype, codes):
        people = PEOPLE.with_columns(age=pl.Series([98, 30, 99]).cast(dtype))
        words = ", ".join(f"'{code}'" for code in codes.split(", "))
        contract_file = parquet(people, ('.parquet"}', f'.parquet", null_values: [{words}]}}'))
        assert "age: 2 of 3 rows have no value" in refusal(contract_file)

    @pytest.mark.parametrize(
        "admitted",
        [
            pl.Series([dt.date(2020, 1, 1), dt.date(2024, 2, 29), dt.date(9999, 12, 31)]),
            pl.Series([dt.date(2020, 1, 1), dt.date(2024, 2, 29), dt.date(9999, 12, 31)]).cast(pl.Datetime),
            pl.Series([20200101, 20240229, 99991231]),
        ],
        ids=("days", "moments", "numbers"),
    )
    def test_what_stands_for_no_date(self, parquet, admitted):
        people = PEOPLE.with_columns(admitted=admitted)
        declared = ".parquet\", date_format: '%Y%m%d', null_values: ['99991231']}"
        assert "admitted: 1 of 3 rows have no value" in refusal(parquet(people, ('.parquet"}', declared)))

    def test_text_in_a_parquet_file(self, parquet):
        people = PEOPLE.with_columns(admitted=pl.col("admitted").dt.to_string("%d.%m.%Y"))
        contract_file = parquet(people, ('.parquet"}', ".parquet\", date_format: '%d.%m.%Y'}"))
        assert_frame_equal(read_snapshot(contract_file, RELEASE), READ)


HOSTILE = [
    "SELECT 1) AS a LIMIT 1; COPY (SELECT 42) TO 'FILE'; SELECT * FROM (SELECT 1",
    "SELECT 1; COPY (SELECT 42) TO 'FILE'",
    "COPY (SELECT 42) TO 'FILE'",
    "SELECT 1) AS a; -- \\nCOPY (SELECT 42) TO 'FILE'",
    "SELECT 1 /*) AS a; COPY (SELECT 42) TO 'FILE' -- */; COPY (SELECT 42) TO 'FILE'",
    "SELECT ';' AS a; CREATE TABLE more AS SELECT 42 AS a",
    "SELECT 1) AS a; DROP TABLE patients; SELECT * FROM (SELECT 1",
    "WITH more AS (DELETE FROM patients RETURNING *) SELECT * FROM more",
    "CALL enable_logging(storage_path = 'FILE', storage = 'file')",
    "FROM enable_logging(storage_path = 'FILE', storage = 'file')",
    "ATTACH 'FILE' AS more",
    "INSTALL spatial",
    "SELECT set_config('transaction_read_only', 'off', false)",
]
"""Queries that would write something: a file, or a table."""
WITH_A_COPY = "WITH more AS (COPY (SELECT 42) TO 'FILE') SELECT 42"
"""To DuckDB, a single SELECT."""
IN_TEXT = f"""FROM json_execute_serialized_sql(json_serialize_sql('{WITH_A_COPY.replace("'", "''")}'))"""
IN_POSTGRESQL = [
    "SELECT 1) TO STDOUT; DROP TABLE patients; COPY (SELECT 1",
    "DO $$BEGIN COPY (SELECT 42) TO 'FILE'; END$$",
    "COPY (SELECT 42) TO PROGRAM 'cat > FILE'",
    "EXPLAIN ANALYZE DELETE FROM patients",
    "SELECT * INTO more FROM patients",
    "WITH more AS (INSERT INTO patients SELECT * FROM patients RETURNING *) SELECT * FROM more",
    "DELETE FROM patients RETURNING *",
    "SET default_transaction_read_only = off",
]


class TestQueriesThatWrite:
    @pytest.mark.slow("takes more than a second")
    @pytest.mark.parametrize(
        ("query", "look"),
        [
            *((query, read_snapshot) for query in (*HOSTILE, WITH_A_COPY, IN_TEXT)),
            (HOSTILE[0], snapshot_exists),
        ],
    )
    def test_in_duckdb(self, in_duckdb, tmp_path, query, look):
        contract_file = in_duckdb(query.replace("FILE", str(tmp_path / "written")))
        before = (tmp_path / "x.duckdb").read_bytes()
        with pytest.raises(SnapshotError, match="quer"):
            look(contract_file, RELEASE)
        assert not (tmp_path / "written").exists()
        assert (tmp_path / "x.duckdb").read_bytes() == before

    @pytest.mark.parametrize("query", [WITH_A_COPY, IN_TEXT])
    def test_in_a_view_of_duckdb(self, in_duckdb, tmp_path, query):
        """A database may come with the contract. DuckDB itself keeps a COPY out of a view, but not a text."""
        contract_file = in_duckdb("FROM hidden")
        query = query.replace("FILE", str(tmp_path / "written"))
        with duckdb.connect(tmp_path / "x.duckdb") as database, suppress(duckdb.BinderException):
            database.execute(f"CREATE VIEW hidden AS {query}")
        with pytest.raises(SnapshotError, match="query"):
            read_snapshot(contract_file, RELEASE)
        assert not (tmp_path / "written").exists()

    @pytest.mark.slow("takes more than a second")
    @pytest.mark.parametrize(
        "query",
        [
            "SELECT 1) AS a; COPY (SELECT 2",
            "SELECT 1 -- ;\\n; SELECT 2",
            "SELECT 1)); --",
            "SELECT 1 /* ",
            "PRAGMA table_info('patients')",
            "CALL pragma_version()",
            "SET threads = 1",
            "EXPLAIN ANALYZE FROM patients",
            "FROM sqlite_scan('a.sqlite', 'a')",
            "SELECT nextval('numbers')",
        ],
    )
    def test_what_is_no_select_is_refused_in_one_line(self, in_duckdb, query):
        assert "\n" not in refusal(in_duckdb(query))

    @pytest.mark.parametrize(
        "query",
        [
            "FROM patients; -- and no more;",
            "WITH RECURSIVE r AS (SELECT 1 n UNION FROM r SELECT n + 1 WHERE n < 3) FROM patients, r; /*)*/",
            "SELECT patients.* FROM patients, range(1), json_each('[1]'), unnest([1]) WHERE ');' <> '--'",
            "FROM patients QUALIFY row_number() OVER (PARTITION BY disease ORDER BY age) > 0",
            "FROM patients WHERE EXISTS (FROM information_schema.tables)",
            "SELECT DISTINCT ON (patient_id) * FROM patients ORDER BY ALL",
            "FROM patients SEMI JOIN (SELECT patient_id FROM patients) USING (patient_id)",
        ],
    )
    def test_what_only_reads_is_asked(self, in_duckdb, query):
        assert snapshot_exists(in_duckdb(query), RELEASE)

    def test_two_may_ask_one_file_at_once(self, in_duckdb):
        contract_file = in_duckdb("FROM patients, range(100000)")
        first = ask(contract_file.contract.source, RELEASE, contract_file.path.parent, "first")
        assert snapshot_exists(contract_file, RELEASE)
        assert sum(batch.num_rows for batch in first.batches) > 100_000

    @pytest.mark.slow("takes more than a second")
    @pytest.mark.postgres
    @pytest.mark.parametrize(
        ("query", "look"),
        [*((query, read_snapshot) for query in (*HOSTILE, *IN_POSTGRESQL)), (HOSTILE[0], snapshot_exists)],
    )
    def test_in_postgresql(self, in_postgresql, tmp_path, query, look):
        tmp_path.chmod(0o777)
        with pytest.raises(SnapshotError, match="quer"):
            look(in_postgresql(query.replace("FILE", str(tmp_path / "written"))), RELEASE)
        assert not (tmp_path / "written").exists()
        assert snapshot_exists(in_postgresql("SELECT * FROM patients"), RELEASE)


class TestQueriesThatFail:
    @pytest.mark.parametrize(
        ("query", "words"),
        [
            ("SELEC 1", "the query fails: Parser Error: syntax error"),
            (
                "SELECT * FROM nowhere",
                "the query fails: Catalog Error: Table with name nowhere does not exist",
            ),
            ("SELECT nothing FROM patients", "the query fails: Binder Error: Referenced column"),
            ("SELECT 1; SELECT 2", "the query must be one SELECT"),
            (" ", "the query must be one SELECT"),
            ("DELETE FROM patients", "the query must be one SELECT"),
            ("SELECT patient_id, age FROM patients", "the column income is missing"),
            ("SELECT age, patients.* FROM patients", "the query answers with age twice"),
        ],
    )
    def test_in_duckdb(self, in_duckdb, query, words):
        assert words in refusal(in_duckdb(query))

    def test_what_duckdb_says_of_a_persons_value_is_not_passed_on(self, in_duckdb):
        message = refusal(in_duckdb("SELECT CAST(disease AS int) FROM patients"))
        said = "Could not convert string '…' to INT32 when casting from source column disease; try it on"
        assert f"the query fails (ConversionException): Conversion Error: {said}" in message
        assert not [disease for disease in PEOPLE["disease"] if disease in message]

    # A query that may name a file is asked in another process.
    @pytest.mark.slow("makes and audits many releases")
    @pytest.mark.parametrize("more", ["", " WHERE '*.csv' <> ''"])
    def test_nor_is_it_after_many_rows(self, in_duckdb, capfd, more):
        numbers = f"range(300000) AS numbers(n){more}"
        query = f"SELECT CAST(if(n < 250000, 1::varchar, 'gout') AS int) FROM {numbers}"  # noqa: S608
        said = (
            "the query fails (ConversionException): Conversion Error: Could not convert string '…' to INT32"
        )
        assert said in refusal(in_duckdb(query))
        with pytest.raises(SnapshotError) as refused:
            deque(piece.read() for piece in source_of(in_duckdb(query), RELEASE).pieces().pieces)
        assert said in str(refused.value)
        assert "gout" not in "".join(capfd.readouterr())

    @pytest.mark.slow("makes and audits many releases")
    @pytest.mark.parametrize(
        ("query", "said"),
        [
            ("SELECT error(disease) FROM patients", "Invalid Input Error: …"),
            ("SELECT error('of ' || disease) FROM patients", "Invalid Input Error: of …"),
            ("SELECT strptime(disease, '%Y') FROM patients", "Could not parse string '…' according to"),
            (
                "SELECT CAST(age * 1000 AS tinyint) FROM patients",
                "value is out of range for the destination type INT8",
            ),
            ("SELECT * FROM read_csv('nowhere.csv')", "there is no file nowhere.csv; a relative"),
            ("SELECT * FROM read_csv('nowhere' || '.csv')", "there is no file …; a relative path begins"),
        ],
    )
    def test_duckdb_says_the_cause_in_its_own_words(self, in_duckdb, query, said):
        message = refusal(in_duckdb(query))
        assert said in message.replace('"', "'")
        assert not [value for value in [*PEOPLE["disease"], "34000"] if value in message]

    @pytest.mark.slow("makes and audits many releases")
    def test_a_relative_path_begins_in_the_contracts_folder(self, in_duckdb, tmp_path, monkeypatch):
        """DuckDB itself would take the file of that name in the working folder."""
        (tmp_path / "elsewhere").mkdir()
        PEOPLE.write_csv(tmp_path / "people.csv")
        PEOPLE[:1].write_csv(tmp_path / "elsewhere/people.csv")
        for folder in (tmp_path, tmp_path / "elsewhere"):
            monkeypatch.chdir(folder)
            for table in ("read_csv('people.csv')", "'people.csv'", "read_csv('people' || '.csv')"):
                query = f"FROM {table} WHERE :release > DATE '2000-01-01'"
                assert read_snapshot(in_duckdb(query), RELEASE).height == PEOPLE.height
                assert snapshot_exists(in_duckdb(query), RELEASE)

    def test_a_duckdb_file_that_is_open_for_writing(self, in_duckdb, tmp_path):
        contract_file = in_duckdb()
        writer = "import duckdb, sys; open_ = duckdb.connect(sys.argv[1]); print(); input()"
        command = [sys.executable, "-c", writer, tmp_path / "x.duckdb"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            other.stdout.readline()
            message = refusal(contract_file)
            other.communicate(b"\n")
        assert "is open elsewhere for writing; try again when that is done" in message
        with duckdb.connect(tmp_path / "x.duckdb"):
            assert "is open elsewhere for writing" in refusal(contract_file)

    @pytest.mark.parametrize("part", [0.3, 0.9])
    def test_a_truncated_duckdb_file(self, in_duckdb, tmp_path, part):
        contract_file = in_duckdb()
        file = tmp_path / "x.duckdb"
        file.write_bytes(file.read_bytes()[: int(part * file.stat().st_size)])
        assert "is no DuckDB file that can be read, or a part of one" in refusal(contract_file)

    @pytest.mark.postgres
    @pytest.mark.parametrize(
        ("query", "words"),
        [
            ("SELEC 1", "the query fails: syntax error at or near"),
            ("SELECT * FROM nowhere", 'the query fails: relation "nowhere" does not exist'),
            ("SELECT nothing FROM patients", 'the query fails: column "nothing" does not exist'),
            ("SELECT 1; SELECT 2", "the query fails: cannot insert multiple commands"),
            ("DELETE FROM patients RETURNING *", 'near "DELETE"; it must be one SELECT'),
            ("SELECT patient_id, age FROM patients", "the column income is missing"),
            ("SELECT age, patients.* FROM patients", "the query answers with age twice"),
        ],
    )
    def test_in_postgresql(self, in_postgresql, query, words):
        message = refusal(in_postgresql(query.replace('"', '\\"')))
        assert words in message
        assert "open-sesame" not in message

    @pytest.mark.postgres
    def test_what_postgresql_says_of_a_persons_value_is_not_passed_on(self, in_postgresql):
        message = refusal(in_postgresql("SELECT CAST(disease AS int) FROM patients"))
        assert 'the query fails (SQLSTATE 22P02): invalid input syntax for type integer: "…"; try' in message
        assert not [disease for disease in PEOPLE["disease"] if disease in message]

    @pytest.mark.parametrize(
        ("dsn", "words"),
        [
            (
                "postgresql://open-sesame@127.0.0.1:1/hospital",
                "127.0.0.1:1/hospital: no connection to the database: Connection refused",
            ),
            (
                "postgresql://open-sesame@nowhere.invalid/hospital",
                "no connection to the database: no such host",
            ),
            ("postgresql://open%zzsesame@127.0.0.1/hospital", "the dsn is no address that can be used"),
            ("postgresql://open/sesame@127.0.0.1/hospital", "no connection to the database"),
            ("postgresql://me@127.0.0.1:port/hospital", "the dsn is no address that can be used"),
        ],
    )
    def test_a_server_that_is_not_there(self, hospital, dsn, words):
        message = refusal(hospital(f"{{dsn: '{dsn}', query: SELECT 1}}"))
        assert words in message
        assert "open" not in message
        assert "sesame" not in message

    @pytest.mark.postgres
    def test_a_database_that_is_not_there(self, in_postgresql, postgresql):
        message = refusal(in_postgresql(dsn=postgresql.replace("/postgres", "/nowhere")))
        assert 'database "nowhere" does not exist' in message
        assert "open-sesame" not in message


UNDECLARED = (", values: [asthma, flu, gout, none]", "")


class TestSpellings:
    """Where no values are declared, a spelling of another value is no value of its own."""

    @pytest.mark.parametrize(
        "value", [" flu", "flu ", "Flu", "FLU", "n/a", "N/A", "NULL", "null", "nan", "-", "?"]
    )
    def test_a_value_that_is_hardly_one_of_its_own(self, parquet, value):
        others = changed(patient_id=["a", "b", "c"], disease=[value, "asthma", "gout"])
        message = refusal(parquet(pl.concat([PEOPLE, others]), UNDECLARED))
        assert "disease: " in message
        assert "rows have spaces around them, differ from another value by capital letters alone" in message
        assert "or list every value under sensitive.values" in message

    @pytest.mark.parametrize("twin", ["fl\u200bu", "\uff46lu", "flu\0", "flu\xad"])
    def test_two_spellings_that_look_the_same_are_named(self, parquet, twin):
        several = [
            changed(patient_id=[f"{at}{one}" for one in "abc"], disease=["flu", "gout", twin])
            for at in range(5)
        ]
        message = refusal(parquet(pl.concat(several), UNDECLARED))
        assert f"disease: 1 value is spelled in two ways: flu / {twin!a}; 10 of 15 rows" in message

    def test_a_spelling_that_few_people_have_is_counted_and_not_named(self, parquet):
        message = refusal(parquet(changed(disease=["flu", "gout", "fl\u200bu"]), UNDECLARED))
        assert "disease: 1 value is spelled in two ways; 2 of 3 rows" in message
        assert "flu" not in message

    def test_labels_outside_a_domain_are_named_where_several_have_them(self, parquet):
        several = [
            changed(
                patient_id=[f"{at}{one}" for one in "abc"],
                sex=["F", "D", "X" if at else "Y"],
                disease=["flu", "gout: hand", "asthma"],
            )
            for at in range(5)
        ]
        message = refusal(parquet(pl.concat(several)))
        assert "sex: 10 of 15 rows lie outside the domain (2 labels)" in message
        assert "to add to order: D (5 people and more have each)" in message
        assert "to add to values: 'gout: hand' (5" in message
        assert "X" not in message.replace("XXX", "")
        assert "Y" not in message

    def test_no_two_spellings_of_one_value_may_be_listed(self, parquet):
        with pytest.raises(
            ContractError, match="lists twins: 'FLU' and 'flu' are one value in two spellings"
        ):
            parquet(PEOPLE, ("[asthma, flu, gout, none]", "[asthma, flu, gout, none, FLU]"))

    @pytest.mark.parametrize("twin", ["X1", "x1 ", " x1", "x\u200b1", "x1\0", "\uff581"])
    def test_identifiers_that_look_the_same_are_one_person_s(self, parquet, twin):
        assert "patient_id: 1 of 3 rows repeat" in refusal(parquet(changed(patient_id=["x1", twin, "x2"])))

    def test_values_that_are_listed_may_be_spelt_so(self, parquet):
        others = changed(patient_id=["a", "b", "c"], disease=["Ulcer", "n/a", " croup"])
        listed = ("[asthma, flu, gout, none]", "[asthma, flu, gout, none, Ulcer, n/a, ' croup']")
        assert read_snapshot(parquet(pl.concat([PEOPLE, others]), listed), RELEASE).height == 6

    def test_values_that_differ_in_more_than_that_are_values(self, parquet):
        people = changed(disease=["flu", "flu b", "influenza"])
        assert read_snapshot(parquet(people, UNDECLARED), RELEASE).height == 3


class TestValuesThatTheSourceRenamed:
    def test_they_have_the_name_of_the_series(self, parquet):
        people = changed(disease=["influenza", "asthma", "gout"])
        renamed = ("none]}", "none], renamed: {flu: influenza}}")
        assert read_snapshot(parquet(people, renamed), RELEASE)["value"].to_list() == [
            "flu",
            "asthma",
            "gout",
        ]
        assert "disease: 1 of 3 rows lie outside the domain" in refusal(parquet(people))


class TestSeparatorsAndEncodings:
    """What other programs write as CSV: named if the contract says otherwise, and read if it says so."""

    @pytest.mark.parametrize(
        ("separator", "name", "declared"),
        [(";", "semicolons", "';'"), ("\t", "tabs", '"\\t"'), ("|", "bars", "'|'")],
    )
    def test_another_separator(self, csv, separator, name, declared):
        content = PEOPLE.write_csv(separator=separator).encode()
        message = refusal(csv(content))
        assert f"is separated by {name}; say so (separator: {separator!r})" in message
        contract_file = csv(content, ('.csv"}', f'.csv", separator: {declared}}}'))
        assert_frame_equal(read_snapshot(contract_file, RELEASE), READ)

    def test_commas_where_semicolons_are_declared(self, csv):
        message = refusal(csv(PEOPLE, ('.csv"}', ".csv\", separator: ';'}")))
        assert "is separated by commas" in message

    @pytest.mark.parametrize(
        ("encoding", "likely"), [("utf-16", "utf-16"), ("latin-1", "latin-1"), ("windows-1252", "latin-1")]
    )
    def test_another_encoding(self, csv, encoding, likely):
        people = changed(disease=["flu", "Ménière", "gout"])
        content, values = people.write_csv().encode(encoding), ("gout, none]", "gout, Ménière]")
        message = refusal(csv(content, values))
        assert f"is not written in UTF-8, and may be {likely}; say so (encoding: {likely})" in message
        assert "Ménière" not in message
        contract_file = csv(content, values, ('.csv"}', f'.csv", encoding: {encoding}}}'))
        assert read_snapshot(contract_file, RELEASE)["value"].to_list() == ["flu", "Ménière", "gout"]

    @pytest.mark.parametrize(
        "name", ["cp1252", "Windows-1252", "ISO-8859-1", "mac_roman", "utf_8_sig", "utf-32"]
    )
    def test_an_encoding_by_any_of_its_names(self, csv, name):
        content = changed(disease=["flu", "Ménière", "gout"]).write_csv().encode(name)
        values = ("gout, none]", "gout, Ménière]")
        contract_file = csv(content, values, ('.csv"}', f'.csv", encoding: {name}}}'))
        assert read_snapshot(contract_file, RELEASE)["value"].to_list() == ["flu", "Ménière", "gout"]

    def test_an_encoding_that_it_is_not_written_in(self, csv):
        content = PEOPLE.write_csv().encode()
        odd = content if len(content) % 2 else content[:-1]
        message = refusal(csv(odd, ('.csv"}', '.csv", encoding: utf-16}')))
        assert "is not written in utf-16; correct encoding" in message

    def test_a_byte_order_mark_is_no_part_of_a_name(self, csv):
        content = "\ufeff".encode() + PEOPLE.write_csv().encode()
        assert_frame_equal(read_snapshot(csv(content), RELEASE), READ)
        content = PEOPLE.write_csv().encode("utf-16")
        contract_file = csv(content, ('.csv"}', '.csv", encoding: utf-16}'))
        assert_frame_equal(read_snapshot(contract_file, RELEASE), READ)

    @pytest.mark.parametrize("written", ["Patient_ID", " patient_id", "patientid", "PATIENT_ID "])
    def test_a_header_that_is_almost_right_is_named(self, csv, written):
        content = PEOPLE.rename({"patient_id": written}).write_csv().encode()
        message = refusal(csv(content))
        assert "the column patient_id is missing: add or rename it in the source" in message
        assert f"the source has {written}, is that the one?" in message

    def test_a_header_that_is_quite_another_is_found_by_what_is_below_it(self, csv):
        twins = pl.concat([PEOPLE, PEOPLE.with_columns(pl.col("patient_id") + "b")])
        people = twins.rename({"patient_id": "case", "disease": "icd"})
        message = refusal(csv(people))
        assert "of the source's other columns, only case has such values. If that is it, write" in message
        assert "under source, or sources from a release on: names: {patient_id: case}" in message
        assert "names: {disease: icd}" in message

    def test_a_header_that_is_quite_another_is_among_those_that_nobody_declared(self, csv):
        people = PEOPLE.rename({"patient_id": "case"}).with_columns(bed="case")  # either may be it
        assert "the contract does not name these of the source: case, bed" in refusal(csv(people))

    def test_a_header_that_would_do_something_to_a_terminal_is_shown_as_it_is_written(self, csv):
        content = PEOPLE.rename({"patient_id": "\x1b[2K"}).write_csv().encode()
        assert "only \\x1b[2K has such values" in refusal(csv(content))

    def test_a_header_with_doubled_quotes(self, csv):
        content = PEOPLE.write_csv().replace("disease", '"the ""disease"""', 1).encode()
        contract_file = csv(content, ("name: disease", "name: 'the \"disease\"'"))
        assert read_snapshot(contract_file, RELEASE)["value"].to_list() == ["flu", "asthma", "gout"]


def grows(file, change):
    """What is done to a file while it is read."""
    content = file.read_bytes()
    if change == "grows":
        file.write_bytes(content + content.splitlines(keepends=True)[-1].replace(b"010", b"011"))
    elif change == "is replaced by one like it":
        before = file.stat()
        (beside := file.with_name("beside")).write_bytes(content)
        os.utime(beside, ns=(before.st_atime_ns, before.st_mtime_ns))
        beside.rename(file)
    else:
        file.unlink()


CHANGED = "changed while it was read, as it does while it is written. Wait until it is complete"


class TestWhatChangesWhileItIsRead:
    """The half of a table that is still being written would be published for ever."""

    def refuse(self, contract_file, change, says=f"{CHANGED}; .* beside, under another name, and rename"):
        def read(meanwhile):
            with source_of(contract_file, RELEASE).unchanged():
                read_snapshot(contract_file, RELEASE)
                meanwhile()

        read(lambda: None)
        with pytest.raises(SnapshotError, match=f"^hospital, release {RELEASE}, .*{says}"):
            read(change)

    @pytest.mark.parametrize("change", ["grows", "is replaced by one like it", "is gone"])
    def test_a_file(self, csv, tmp_path, change):
        contract_file = csv(PEOPLE)
        self.refuse(contract_file, lambda: grows(tmp_path / "snapshots" / f"{RELEASE}.csv", change))

    def test_a_compressed_file(self, hospital, tmp_path):
        file = tmp_path / "snapshots" / f"{RELEASE}.csv.gz"
        file.write_bytes(gzip.compress(PEOPLE.write_csv().encode()))
        contract_file = hospital('{path: "snapshots/{release}.csv.gz"}')
        self.refuse(contract_file, lambda: file.write_bytes(gzip.compress(PEOPLE[:2].write_csv().encode())))

    def test_a_folder_that_gets_one_more_part(self, hospital, tmp_path):
        (folder := tmp_path / "snapshots" / RELEASE).mkdir()
        PEOPLE.write_parquet(folder / "part-0.parquet")
        contract_file = hospital('{path: "snapshots/{release}/*.parquet"}')
        self.refuse(contract_file, lambda: PEOPLE.write_parquet(folder / "part-1.parquet"))

    @pytest.mark.slow("takes more than a second")
    def test_an_object_in_a_store(self, hospital, bucket):
        def put(people):
            people.write_parquet(content := io.BytesIO())
            bucket.put_object(Key=f"hospital/{RELEASE}.parquet", Body=content.getvalue())

        put(PEOPLE)
        contract_file = hospital(f'{{path: "s3://{bucket.name}/hospital/{{release}}.parquet"}}')
        self.refuse(contract_file, lambda: put(PEOPLE[:2]))

    def test_a_table_in_duckdb(self, in_duckdb, tmp_path):
        def one_more():
            with duckdb.connect(tmp_path / "x.duckdb") as database:
                database.execute("INSERT INTO patients SELECT * REPLACE ('x' AS patient_id) FROM patients")

        self.refuse(in_duckdb(), one_more, f"{CHANGED}; .* in one transaction")

    @pytest.mark.slow("makes and audits many releases")
    def test_a_file_that_a_query_reads(self, hospital, tmp_path):
        PEOPLE.write_csv(tmp_path / "people.csv")
        query = "FROM read_csv('people.csv', all_varchar = true)"
        contract_file = hospital(f"{{dsn: 'duckdb:', query: \"{query}\"}}")
        self.refuse(contract_file, lambda: grows(tmp_path / "people.csv", "grows"), CHANGED)

    @pytest.mark.slow("takes more than a second")
    @pytest.mark.postgres
    def test_a_table_in_postgresql(self, in_postgresql, postgresql):
        import adbc_driver_postgresql.dbapi as driver

        def another():
            with driver.connect(postgresql) as connection, connection.cursor() as cursor:
                cursor.execute("UPDATE patients SET patient_id = '011' WHERE patient_id = '010'")
                connection.commit()

        query = QUERY.replace("*", "patient_id, age, income, admitted, sex, trim(disease) AS disease")
        self.refuse(in_postgresql(query), another, CHANGED)

    def test_that_it_changed_comes_before_what_is_wrong_with_it(self, csv, tmp_path):
        contract_file, whole = csv(PEOPLE.write_csv().encode()[:-20]), PEOPLE.write_csv().encode()

        def read():
            with source_of(contract_file, RELEASE).unchanged():
                try:
                    read_snapshot(contract_file, RELEASE)
                finally:
                    (tmp_path / "snapshots" / f"{RELEASE}.csv").write_bytes(whole)

        with pytest.raises(SnapshotError, match=CHANGED):
            read()

    def test_without_an_identifier_rows_are_counted_and_reading_says_what_is_missing(self, in_duckdb):
        contract_file = in_duckdb("SELECT age FROM patients WHERE seen = :release")
        assert source_of(contract_file, RELEASE).mark() == "[[{'people': 3}]]"
        assert "the column patient_id is missing" in refusal(contract_file)


class TestALastLineWithoutAnEnd:
    @pytest.mark.parametrize("name", ["csv", "csv.gz", "csv.zst"])
    def test_it_is_asked_about_once(self, hospital, tmp_path, name):
        content = PEOPLE.write_csv().removesuffix("\n").encode()
        packed = {"csv": bytes, "csv.gz": gzip.compress, "csv.zst": pa.Codec("zstd").compress}[name](content)
        (tmp_path / "snapshots" / f"{RELEASE}.{name}").write_bytes(packed)
        source = f'path: "snapshots/{{release}}.{name}"'
        said = refusal(hospital(f"{{{source}}}"))
        assert said.endswith(
            "its last line has no line end, as in a file that is still being written. Wait until it is"
            " complete; if the program that writes it never ends the last line, say so: source.final_newline:"
            " false"
        )
        assert_frame_equal(read_snapshot(hospital(f"{{{source}, final_newline: false}}"), RELEASE), READ)

    @pytest.mark.parametrize("ending", ["\n", "\r\n"])
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
    def test_with_an_end_nothing_is_asked(self, csv, encoding, ending):
        content = PEOPLE.write_csv(line_terminator=ending).encode(encoding)
        contract_file = csv(content, ('{release}.csv"', f'{{release}}.csv", encoding: {encoding}'))
        assert_frame_equal(read_snapshot(contract_file, RELEASE), READ)

    @pytest.mark.parametrize("left", [1, 40])
    def test_a_compressed_file_that_was_cut_off(self, hospital, tmp_path, left):
        """Both say how long they are, or have an end."""
        content = PEOPLE.write_csv().encode() * 99
        for name, pack in (("csv.gz", gzip.compress), ("csv.zst", pa.Codec("zstd").compress)):
            (tmp_path / "snapshots" / f"{RELEASE}.{name}").write_bytes(bytes(pack(content))[:-left])
            contract_file = hospital(f'{{path: "snapshots/{{release}}.{name}"}}')
            assert "can be read, or a part of one" in refusal(contract_file)


class TestWhetherASnapshotHasArrived:
    @pytest.mark.parametrize("source", [PARQUET, CSV])
    def test_a_file_that_is_there_and_not_empty(self, hospital, tmp_path, source):
        contract_file = hospital(source)
        file = tmp_path / "snapshots" / f"{RELEASE}.{'csv' if 'csv' in source else 'parquet'}"
        assert not snapshot_exists(contract_file, RELEASE)
        file.touch()
        assert not snapshot_exists(contract_file, RELEASE)
        file.write_text("something")
        assert snapshot_exists(contract_file, RELEASE)

    @pytest.mark.parametrize("ending", ["", ";", " -- seen", "\n;\n"])
    def test_a_duckdb_query_that_answers_with_a_row(self, in_duckdb, ending):
        contract_file = in_duckdb(QUERY + ending.replace("\n", "\\n"))
        assert snapshot_exists(contract_file, RELEASE)
        assert not snapshot_exists(contract_file, "2024-07-01")

    def test_a_database_that_is_not_there_never_comes_by_itself(self, hospital):
        with pytest.raises(SnapshotError, match=r"there is no such database; correct source\.dsn"):
            snapshot_exists(hospital("{dsn: 'duckdb:///x.duckdb', query: SELECT 1}"), RELEASE)

    @pytest.mark.slow("makes and audits many releases")
    def test_a_file_that_a_query_names_by_the_release(self, hospital, tmp_path):
        query = "SELECT * FROM read_parquet('snapshots/' || :release || '.parquet')"
        contract_file = hospital(f"{{dsn: 'duckdb:', query: \"{query}\"}}")
        assert not snapshot_exists(contract_file, RELEASE)
        PEOPLE.write_parquet(tmp_path / f"snapshots/{RELEASE}.parquet")
        assert snapshot_exists(contract_file, RELEASE)
        assert read_snapshot(contract_file, RELEASE).equals(READ)
        assert not snapshot_exists(contract_file, "2024-07-01")

    @pytest.mark.slow("takes more than a second")
    def test_a_file_that_a_query_names_whatever_the_release(self, hospital):
        query = "SELECT * FROM 'nowhere.parquet' WHERE seen = :release"
        with pytest.raises(SnapshotError, match=r"there is no file nowhere\.parquet"):
            snapshot_exists(hospital(f"{{dsn: 'duckdb:', query: \"{query}\"}}"), RELEASE)

    def test_a_query_that_fails_is_told(self, in_duckdb):
        with pytest.raises(SnapshotError, match="Table with name nowhere does not exist"):
            snapshot_exists(in_duckdb("SELECT * FROM nowhere"), RELEASE)

    @pytest.mark.postgres
    def test_a_postgresql_query_that_answers_with_a_row(self, in_postgresql):
        contract_file = in_postgresql()
        assert snapshot_exists(contract_file, RELEASE)
        assert not snapshot_exists(contract_file, "2024-07-01")


class TestEvidence:
    def test_a_row_per_column_with_its_counts(self, hospital):
        people = changed(
            patient_id=["x1", "x1", None], age=["old", "121", "1"], sex=["F", "X", None], disease=["flu"] * 3
        ).drop("income")
        contract = hospital(PARQUET).contract
        evidence = snapshot_faults(enter(people, contract), contract)
        assert evidence.rows() == [
            ("patient_id", "identifier", 3, 1, 1, 0, 0, 0),
            ("age", "quasi-identifier", 3, 0, 0, 1, 1, 0),
            ("income", "quasi-identifier", 3, 3, 0, 0, 0, 0),
            ("admitted", "quasi-identifier", 3, 0, 0, 0, 0, 0),
            ("sex", "quasi-identifier", 3, 1, 0, 0, 1, 0),
            ("disease", "sensitive", 3, 0, 0, 0, 0, 0),
        ]
        assert evidence.columns == [
            "column", "role", "rows", "nulls", "duplicates", "wrong_type", "outside_domain",
            "misspelt",
        ]  # fmt: skip

    def test_nothing_of_the_contract_is_there(self, hospital):
        contract = hospital(PARQUET).contract
        strange = pl.DataFrame({"x": [1, 2], "qi_0": [3, 4], "value": ["flu", "gout"]})
        evidence = snapshot_faults(strange.select("x"), contract)
        assert evidence["nulls"].to_list() == [2] * 6
        assert enter(strange, contract).is_empty()  # our own names of columns mean nothing in a source

    def test_a_conformed_snapshot_has_none(self, parquet):
        contract_file = parquet(PEOPLE)
        evidence = snapshot_faults(read_snapshot(contract_file, RELEASE), contract_file.contract)
        assert evidence.select(pl.sum("nulls", "duplicates", "wrong_type", "outside_domain")).row(0) == (
            0,
            0,
            0,
            0,
        )


class TestADatabasesWords:
    """Of what a database says of a failure, its own words are told, and no value."""

    @pytest.mark.parametrize(
        ("said", "told"),
        [
            ('value "flu" is out of range for type smallint', 'value "…" is out of range for type smallint'),
            (
                "canceling autovacuum, shared buffers exhausted",
                "canceling autovacuum, shared buffers exhausted",
            ),
            (
                "Type INT64 with value 1984 can't be cast to INT8",
                "Type INT64 with value … can't be cast to INT8",
            ),
            ("Casting {'name': John Smith} fails", "Casting {'…': …} fails"),
            ("could not read 'it's John' today", "could not read '…' today"),
            ("bad moment 1984-01-31 10:11:12.5 here", "bad moment … … here"),
            ("ungültig: »John Smith« ist falsch", "ungültig: »…« ist falsch"),
        ],
    )
    def test_fixed_words_stay(self, said, told):
        assert without_values(said, "SELECT x FROM t", is_fixed=True) == told

    def test_words_of_a_function_s_author_do_not(self, in_duckdb):
        message = refusal(in_duckdb("SELECT error('patient ' || disease || ' is wrong') FROM patients"))
        assert "InvalidInputException" in message
        assert "flu" not in message
        assert "asthma" not in message
        assert "patient …" not in message
