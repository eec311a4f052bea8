"""The same people read from every source, each column in every type that the source has for it."""

import datetime as dt
import uuid
from dataclasses import dataclass, replace

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from polars.testing import assert_frame_equal

from republish.anonymize.contract import CategoryAttribute, Schema
from republish.anonymize.errors import SnapshotError
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.snapshots.columns import columns_of
from tests.pieces import read_in_pieces
from tests.sources import read_snapshot
from tests.versioned import write_delta, write_iceberg

RELEASE = "2024-04-01"
WHOLE = ("34", "0", "120")
NUMBERS = ("0.5", "12.25", "1000")
DATES = ("2020-01-01", "2024-02-29", "2024-12-31")
LABELS = ("F", "M", "F")
READ_AS = {
    WHOLE: ("kind: number, domain: [0, 120]", pl.Series([34, 0, 120])),
    NUMBERS: ("kind: number, domain: [0.0, 1000.0]", pl.Series([0.5, 12.25, 1000.0])),
    DATES: ("kind: date, domain: [2020-01-01, 2024-12-31]", pl.Series(map(dt.date.fromisoformat, DATES))),
}


@dataclass(frozen=True)
class Column:
    """Three values, and their types in Arrow, DuckDB and, if it has one of its own, PostgreSQL."""

    name: str
    values: tuple[str, str, str]
    arrow: pa.DataType
    duckdb: str
    postgresql: str | None = None

    @property
    def declared(self):
        labels = f"kind: category, order: [{', '.join(map(repr, sorted({*self.values})))}]"
        return f"  - {{name: {self.name}, {READ_AS.get(self.values, [labels])[0]}}}\n"

    @property
    def expected(self):
        return READ_AS[self.values][1] if self.values in READ_AS else pl.Series(self.values)

    @property
    def in_arrow(self):
        """By way of the types that Arrow makes of text."""
        text = pa.array(self.values)
        if pa.types.is_dictionary(self.arrow):
            return text.dictionary_encode()
        if getattr(self.arrow, "tz", None):
            return text.cast(pa.timestamp("us")).cast(pa.timestamp("us", "UTC")).cast(self.arrow)
        return text.cast(self.arrow)


COLUMNS = [
    Column("i8", WHOLE, pa.int8(), "TINYINT", "SMALLINT"),
    Column("i16", WHOLE, pa.int16(), "SMALLINT", "SMALLINT"),
    Column("i32", WHOLE, pa.int32(), "INTEGER", "INTEGER"),
    Column("i64", WHOLE, pa.int64(), "BIGINT", "BIGINT"),
    Column("u8", WHOLE, pa.uint8(), "UTINYINT"),
    Column("u16", WHOLE, pa.uint16(), "USMALLINT"),
    Column("u32", WHOLE, pa.uint32(), "UINTEGER"),
    Column("u64", WHOLE, pa.uint64(), "UBIGINT"),
    Column("huge", WHOLE, pa.decimal128(38, 0), "HUGEINT", "NUMERIC"),
    Column("whole_decimal", WHOLE, pa.decimal128(10, 2), "DECIMAL(10, 2)", "NUMERIC(10, 2)"),
    Column("whole_double", WHOLE, pa.float64(), "DOUBLE", "DOUBLE PRECISION"),
    Column("whole_text", WHOLE, pa.string(), "VARCHAR", "TEXT"),
    Column("float32", NUMBERS, pa.float32(), "REAL", "REAL"),
    Column("float64", NUMBERS, pa.float64(), "DOUBLE", "DOUBLE PRECISION"),
    Column("decimals", NUMBERS, pa.decimal128(12, 4), "DECIMAL(12, 4)", "NUMERIC(12, 4)"),
    Column("any_decimals", NUMBERS, pa.decimal128(12, 4), "DECIMAL(12, 4)", "NUMERIC"),
    Column("day", DATES, pa.date32(), "DATE", "DATE"),
    Column("seconds", DATES, pa.timestamp("s"), "TIMESTAMP_S", "TIMESTAMP(0)"),
    Column("micros", DATES, pa.timestamp("us"), "TIMESTAMP", "TIMESTAMP"),
    Column("nanos", DATES, pa.timestamp("ns"), "TIMESTAMP_NS"),
    Column("zoned", DATES, pa.timestamp("us", "UTC"), "TIMESTAMPTZ", "TIMESTAMPTZ"),
    Column("berlin", DATES, pa.timestamp("us", "Europe/Berlin"), "TIMESTAMPTZ", "TIMESTAMPTZ"),
    Column("label", LABELS, pa.string(), "VARCHAR", "TEXT"),
    Column("large", LABELS, pa.large_string(), "VARCHAR", "VARCHAR(5)"),
    Column("dictionary", LABELS, pa.dictionary(pa.int32(), pa.string()), "ENUM('F', 'M')", "one_of"),
    Column("code", ("1", "2", "1"), pa.int8(), "UTINYINT", "SMALLINT"),
    Column("code_decimal", ("1", "2", "1"), pa.decimal128(5, 0), "HUGEINT", "NUMERIC(5)"),
    Column("dose", ("0.50", "1.00", "0.50"), pa.decimal128(5, 2), "DECIMAL(5, 2)", "NUMERIC(5, 2)"),
    Column("code_double", ("1", "2", "1"), pa.float64(), "DOUBLE", "DOUBLE PRECISION"),
    Column("flag", ("true", "false", "true"), pa.bool_(), "BOOLEAN", "BOOLEAN"),
]
CONTRACT = """\
product: hospital
series: v1
source: SOURCE
releases: {first: 2024-01-01, cron: "0 0 1 */3 *"}
identifier: patient_id
quasi_identifiers:
COLUMNSsensitive: {name: disease}
principle: {name: m_invariance, m: 2}
"""
UUIDS = tuple(str(uuid.UUID(int=2**100 + number)) for number in range(3))
PEOPLE = [
    Column("patient_id", UUIDS, pa.uuid(), "UUID", "UUID"),
    *COLUMNS,
    Column("disease", ("1", "2", "3"), pa.decimal128(10, 0), "HUGEINT", "NUMERIC"),
]
READ = pl.DataFrame(
    [
        pl.Series("identifier", UUIDS),
        *(column.expected.alias(f"qi_{at}") for at, column in enumerate(COLUMNS)),
        pl.Series("value", [1, 2, 3]),
    ]
)


def in_arrow(people=PEOPLE):
    """The people as an Arrow table."""
    keys = pa.array([uuid.UUID(one).bytes for one in UUIDS], pa.uuid())
    return pa.table({one.name: keys if one.arrow == pa.uuid() else one.in_arrow for one in people})


def sql(kind, people=PEOPLE):
    """A query that answers with the people."""
    rows = zip(*(column.values for column in people), strict=True)
    values = ", ".join(f"({', '.join(map(repr, row))})" for row in rows)
    names = ", ".join(f"_{column.name}" for column in people)

    def cast(column):
        dtype = getattr(column, kind) or column.duckdb.lstrip("U").removesuffix("_NS")
        dtype = {"TINYINT": "SMALLINT"}.get(dtype, dtype) if kind == "postgresql" else dtype
        text = f"_{column.name} || ' 00:00:00+00'" if dtype == "TIMESTAMPTZ" else f"_{column.name}"
        return f"CAST({text} AS {dtype}) AS {column.name}"

    return f"SELECT {', '.join(map(cast, people))} FROM (VALUES {values}) AS people({names})"  # noqa: S608


def parquet(folder, people=None):
    pa.parquet.write_table(people or in_arrow(), folder / f"{RELEASE}.parquet")
    return '{path: "{release}.parquet"}'


def csv(folder):
    text = pa.table({column.name: column.values for column in PEOPLE})
    pa.csv.write_csv(text, folder / f"{RELEASE}.csv")
    return '{path: "{release}.csv"}'


def in_duckdb(folder, people=PEOPLE):
    duckdb.connect(folder / "x.duckdb").close()
    return f'{{dsn: "duckdb:///x.duckdb", query: "{sql("duckdb", people)}"}}'


def delta(folder):
    pytest.importorskip("deltalake", reason="needs deltalake: pip install 'republish[delta]'")
    keys = pa.array(UUIDS)  # Delta has no type for them
    write_delta(folder / "people", {"2024-01-01": in_arrow().set_column(0, "patient_id", keys)})
    return "{table: 'delta:people'}"


def iceberg(folder):
    pytest.importorskip("pyiceberg", reason="needs pyiceberg: pip install 'republish[iceberg]'")
    people = in_arrow()
    for at, column in enumerate(PEOPLE):
        if pa.types.is_timestamp(column.arrow):  # in microseconds, and no zone but UTC
            moments = people[column.name].cast(pa.timestamp("us", "UTC" if column.arrow.tz else None))
            people = people.set_column(at, column.name, moments)
    write_iceberg(folder / "people", {"2024-01-01": people})
    return "{table: 'iceberg:people'}"


@pytest.fixture
def read(tmp_path, monkeypatch):
    """What is read of a source. The machine's time zone is none that any source speaks of."""
    monkeypatch.setenv("TZ", "America/Havana")

    def read_people(source, columns=COLUMNS):
        declared = "".join(column.declared for column in columns)
        content = CONTRACT.replace("SOURCE", source).replace("COLUMNS", declared)
        (tmp_path / "hospital.yaml").write_text(content)
        return read_snapshot(load_contract(tmp_path / "hospital.yaml"), RELEASE).sort("identifier")

    return read_people


@pytest.fixture
def in_pieces(tmp_path, monkeypatch):
    """What is read, two people at a time, of the source that was read last."""

    def read_again():
        people = read_in_pieces(monkeypatch, load_contract(tmp_path / "hospital.yaml"), RELEASE)
        return people.sort("identifier")

    return read_again


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("source", [parquet, in_duckdb, delta, iceberg])
def test_each_source_has_the_same_people_in_whatever_types(source, read, in_pieces, tmp_path):
    assert_frame_equal(read(source(tmp_path)), READ)
    assert_frame_equal(in_pieces(), READ)


def test_csv_has_the_same_people_and_text_for_values_that_nobody_declared(read, in_pieces, tmp_path):
    assert_frame_equal(read(csv(tmp_path)), READ.cast({"value": pl.String}))
    assert_frame_equal(in_pieces(), READ.cast({"value": pl.String}))


@pytest.mark.postgres
def test_postgresql_has_the_same_people(read, in_pieces, postgresql):
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(postgresql) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TYPE IF EXISTS one_of")
        cursor.execute("CREATE TYPE one_of AS ENUM ('F', 'M')")
        connection.commit()
    assert_frame_equal(read(f'{{dsn: "{postgresql}", query: "{sql("postgresql")}"}}'), READ)
    assert_frame_equal(in_pieces(), READ)


@pytest.mark.postgres
@pytest.mark.parametrize("written", [("1.5", "2.5", "3.25"), ("1.5", "2.5", "3.5")])
def test_numbers_of_several_scales_are_labels_in_each_piece(read, in_pieces, postgresql, written):
    """Identifiers, too: 1.5 is none if all are such numbers, and is one if they are text, all of them."""
    label = Column("label", written, pa.string(), "VARCHAR", "NUMERIC")
    people = [replace(PEOPLE[0], values=written, postgresql="NUMERIC"), label, PEOPLE[-1]]
    source = f'{{dsn: "{postgresql}", query: "{sql("postgresql", people)}"}}'
    if written[-1] == "3.5":
        for reads in (lambda: read(source, [label]), in_pieces):
            with pytest.raises(SnapshotError, match="patient_id: 3 of 3 rows are not text or whole numbers"):
                reads()
    else:
        whole = read(source, [label])
        assert whole["identifier"].to_list() == sorted(written)
        assert_frame_equal(in_pieces(), whole)


def test_a_moment_that_is_no_midnight_of_utc_is_no_date(read, tmp_path):
    column = Column("zoned", DATES, pa.timestamp("us", "Europe/Berlin"), "TIMESTAMPTZ")
    people = [PEOPLE[0], column, PEOPLE[-1]]
    in_berlin = in_duckdb(tmp_path, people).replace("00:00:00+00", "00:00:00+01")
    moments = in_arrow(people).set_column(
        1, "zoned", pa.array([dt.datetime(2023, 12, 31, 23, tzinfo=dt.UTC)] * 3, column.arrow)
    )
    for source in (in_berlin, parquet(tmp_path, moments)):
        with pytest.raises(
            SnapshotError, match=r"zoned: 3 of 3 rows are not dates .* midnights of UTC are dates"
        ):
            read(source, [column])


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("numbers", "faults"),
    [
        (("34", "NaN", "Infinity"), "2 of 3 rows are not whole numbers"),
        (("34", "2.25", "0.5"), "2 of 3 rows are not whole numbers"),
        (("34", "120.00", "1e40"), "1 of 3 rows are not whole numbers"),
        (("34", "120.00", "-1"), "1 of 3 rows lie outside the domain"),
    ],
)
def test_numbers_that_postgresql_alone_has(read, postgresql, numbers, faults):
    column = Column("n", WHOLE, pa.decimal128(5, 0), "HUGEINT", "NUMERIC")
    people = [PEOPLE[0], replace(column, values=numbers), PEOPLE[-1]]
    with pytest.raises(SnapshotError, match=f"n: {faults}"):
        read(f'{{dsn: "{postgresql}", query: "{sql("postgresql", people)}"}}', [column])


@pytest.mark.postgres
def test_a_type_that_nobody_else_has_is_refused_by_its_name(read, postgresql):
    columns = [Column("label", LABELS, pa.string(), "VARCHAR", "TEXT")]
    people = [PEOPLE[0], *columns, Column("disease", ("1 day",) * 3, pa.string(), "", "INTERVAL")]
    with pytest.raises(SnapshotError, match="disease: is of a type that can't be read"):
        read(f'{{dsn: "{postgresql}", query: "{sql("postgresql", people)}"}}', columns)


@pytest.mark.postgres
@pytest.mark.parametrize("dtype", ["DATE", "TIMESTAMP", "TIMESTAMPTZ"])
def test_infinity_is_no_date(read, postgresql, dtype):
    column = Column("day", DATES, pa.date32(), "DATE", dtype)
    query = sql("postgresql", [PEOPLE[0], column, PEOPLE[-1]]).replace("2020-01-01", "infinity")
    query = query.replace("_day || ' 00:00:00+00'", "_day")
    with pytest.raises(SnapshotError, match="day: 1 of 3 rows"):
        read(f'{{dsn: "{postgresql}", query: "{query}"}}', [column])


@pytest.mark.parametrize(
    ("labels", "given", "read"),
    [
        (["1", "2"], ["1.0", "2.0", None], ["1", "2", None]),
        (["-1", "2"], ["-1.0", "2.0", None], ["-1", "2", None]),
        (["250", "250.0"], ["250.0", "250.0", None], ["250.0", "250.0", None]),
        (["250", "251"], ["250.0", "251", None], ["250.0", "251", None]),
        (["1", "2"], ["1.00", "2.00", None], ["1.00", "2.00", None]),
    ],
)
def test_labels_are_read_without_decimals_where_all_have_some_and_none_is_declared_so(labels, given, read):
    """A code and the same one with a zero behind a point may mean two things; a column of them does not."""
    attribute = CategoryAttribute(name="code", kind="category", order=labels)
    schema = Schema(identifier="who", quasi_identifiers=[attribute], sensitive={"name": "ill"})
    column = next(one for one in columns_of(schema) if one.name == "code")
    found = pl.DataFrame({column.column: given}).select(column.converted(pl.String()))
    assert found.to_series().to_list() == read
