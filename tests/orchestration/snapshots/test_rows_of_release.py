"""One file with the rows of several releases: each release reads its own, whatever the file is."""

import datetime as dt

import polars as pl
import pytest

from republish.anonymize.contract import FileSource
from republish.anonymize.errors import ContractError, SnapshotError
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.drafts.panel import panel_of
from republish.orchestration.snapshots.rows_of_release import of_release
from republish.orchestration.snapshots.sources import source_of
from tests.hospital import RELEASES, make

FIRST, SECOND, _ = RELEASES
CONTRACT = """
product: clinic
series: v1
source: {SOURCE}
releases: {dates: [2023-01-01, 2024-01-01, 2025-01-01]}
identifier: id
quasi_identifiers: [{name: age, kind: number, domain: [0, 119]}]
sensitive: {name: ill}
principle: {name: m_invariance, m: 2}
"""
ROWS = [("a", 34, "flu", 2023), ("b", 35, "gout", 2023), ("a", 35, "flu", 2024), ("c", 60, "gout", 2024)]
PANEL = pl.DataFrame(ROWS, schema=["id", "age", "ill", "year"], orient="row")


@pytest.fixture
def clinic(tmp_path):
    def declared(source):
        (tmp_path / "clinic.yaml").write_text(CONTRACT.replace("SOURCE", source))
        return load_contract(tmp_path / "clinic.yaml")

    return declared


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx", "dta", "sav", "dat"])
def test_a_release_has_its_own_rows_and_waits_for_them(clinic, tmp_path, ending):
    path = tmp_path / f"panel.{ending}"
    more = ""
    if ending in ("dta", "sav"):
        getattr(pytest.importorskip("pyreadstat"), f"write_{ending}")(PANEL, str(path))
    elif ending == "xlsx":
        pytest.importorskip("xlsxwriter")
        PANEL.write_excel(path)
    elif ending == "dat":
        path.write_text("".join(f"{who}{age}{ill:4}{year}\n" for who, age, ill, year in ROWS))
        more = ", widths: {id: 1-1, age: 2-3, ill: 4-7, year: 8-11}"
    else:
        getattr(PANEL, f"write_{ending}")(path)
    file = clinic(f'path: panel.{ending}, where: {{year: "{{release:%Y}}"}}{more}')
    for date, people in (("2023-01-01", ["a", "b"]), ("2024-01-01", ["a", "c"])):
        source = source_of(file, date)
        assert source.exists()
        for rows in (None, 1):
            table = source.pieces(rows).whole("here")
            assert (table.columns[:3], table["id"].to_list()) == (["id", "age", "ill"], people)
    later = source_of(file, "2025-01-01")
    assert not later.exists()
    assert later.place == f"{path}, where year is 2025"


@pytest.mark.parametrize("values", [
    ["2024-01-01", "2023-01-01", None],
    [dt.date(2024, 1, 1), dt.date(2023, 1, 1), None],
    pl.Series([dt.date(2024, 1, 1), dt.date(2023, 1, 1), None]).cast(pl.Datetime),
])  # fmt: skip
def test_dates_are_found_however_they_are_kept(values):
    table = pl.DataFrame({"id": ["a", "b", "c"], "at": values})
    assert of_release(table, {"at": "2024-01-01"}, "here")["id"].to_list() == ["a"]


def test_whole_numbers_are_found_as_such():
    table = pl.DataFrame({"id": ["a", "b", "c"], "at": [68.0, 69.0, None]})
    assert of_release(table, {"at": "68"}, "here")["id"].to_list() == ["a"]
    table = table.with_columns(at=pl.Series([1.5, 2.0, 68.0]))
    assert of_release(table, {"at": "68.0"}, "here")["id"].to_list() == ["c"]


def test_what_other_rows_have_says_nothing_of_a_row():
    """A single time that is written otherwise hid all other rows."""
    for times, value in (
        ([68.0, 1.5, float("nan"), 1e300, None], "68"),
        ([dt.datetime(2024, 1, 1, tzinfo=dt.UTC), dt.datetime(2024, 1, 1, 5, tzinfo=dt.UTC)], "2024-01-01"),
    ):
        table = pl.DataFrame({"id": [*"abcde"[: len(times)]], "at": times})
        assert of_release(table, {"at": value}, "here")["id"].to_list() == ["a"]


def test_several_columns_may_say_which_rows(clinic, tmp_path):
    PANEL.with_columns(site=pl.Series(["x", "y", "x", "y"])).write_csv(tmp_path / "panel.csv")
    file = clinic('path: panel.csv, where: {year: "{release:%Y}", site: y}')
    assert source_of(file, "2023-01-01").pieces().whole("here")["id"].to_list() == ["b"]


def test_a_column_that_is_not_there_is_named(clinic, tmp_path):
    PANEL.write_csv(tmp_path / "panel.csv")
    source = source_of(clinic('path: panel.csv, where: {wave: "{release:%Y}"}'), "2023-01-01")
    assert source.exists()  # so that somebody is told
    with pytest.raises(SnapshotError, match=r"has no column wave, which source\.where names"):
        source.pieces().whole("here")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('path: panel.csv, where: {site: "x"}', "needs {release} in it, or in where"),
        ('path: panel.csv, where: {year: "{release:year}"}', "has year for the date, and no part of a date"),
        ('path: panel.csv, where: {year: "{release:%m}"}', "for the releases of 2023-01-01 and 2024-01-01"),
    ],
)
def test_rows_that_are_those_of_every_release(clinic, source, said):
    with pytest.raises(ContractError, match=said):
        clinic(source)


@pytest.mark.slow("makes releases")
def test_a_panel_that_grows_is_released_as_its_parts_would_be_and_faults_have_its_rows(
    hospital, home, tmp_path
):
    """A later period in the same file is no other snapshot of a release that is published."""
    parts = [hospital.snapshot(date).with_columns(seen=pl.lit(date)) for date in (FIRST, SECOND)]
    hospital.declare(source={"path": "panel.parquet", "where": {"seen": "{release}"}})
    parts[0].write_parquet(hospital.folder / "panel.parquet")
    series = make(hospital.series(tmp_path / "other"), FIRST)
    pl.concat(parts).write_parquet(hospital.folder / "panel.parquet")
    make(series, SECOND)
    for date in (FIRST, SECOND):
        tables = (one.published(date) / "microdata.parquet" for one in (series, hospital.series(home)))
        assert next(tables).read_bytes() == next(tables).read_bytes()
        take_snapshot(series, date)
    faulty = parts[1].with_columns(age=pl.when(pl.int_range(pl.len()) == 7).then(-1).otherwise("age"))
    pl.concat([parts[0], faulty]).write_parquet(hospital.folder / "panel.parquet")
    other = hospital.series(tmp_path / "third")
    with pytest.raises(SnapshotError, match="1 of 300 rows"):
        take_snapshot(other, SECOND)
    assert pl.read_csv(other.private(SECOND) / "faults.csv")["row"].to_list() == [parts[0].height + 8]


def panel(people=60, times=("2021", "2022", "2023"), carried=1.0, **columns):
    rows = [
        {
            "who": f"P{number + (0 if number < carried * people else at * people):03}",
            "at": time,
            "n": number % 9,
        }
        for at, time in enumerate(times)
        for number in range(people)
    ]
    return pl.DataFrame(rows).with_columns(**columns)


@pytest.mark.parametrize(
    ("times", "form"),
    [
        (("2021", "2022", "2023"), "%Y"),
        ((2021, 2023, 2022), "%Y"),
        ((2021.0, 2022.0), "%Y"),
        (("2021-01-01", "2021-07-01"), "%Y-%m-%d"),
        ((dt.date(2021, 1, 1), dt.date(2021, 7, 1)), "%Y-%m-%d"),
        (("2021-01", "2021-02"), "%Y-%m"),
        ((202101, 202102), "%Y%m"),
        (("2021Q1", "2021Q2"), "%YQ%q"),
        (("2021-Q3", "2021-Q4"), "%Y-Q%q"),
    ],
)
def test_a_panel_is_found_by_what_says_when(times, form):
    found = panel_of(panel(times=times))
    assert (found.column, found.form) == ("at", form)
    assert [*found.tables] == sorted(found.tables)
    assert [part.height for part in found.tables.values()] == [60] * len(times)


@pytest.mark.parametrize(
    ("name", "is_found"), [("year", True), ("BIRTH_YR", True), ("age", False), ("n", False)]
)
def test_two_digits_are_years_where_the_name_says_so(name, is_found):
    table = panel(times=(68, 71)).rename({"n": "number", "at": name})
    found = panel_of(table)
    assert (found is not None) == is_found
    if found:
        assert [*found.tables] == ["1968-01-01", "1971-01-01"]


@pytest.mark.parametrize(
    "table",
    [
        panel(carried=0.2),  # visits: few of those of a day are there on the next
        panel(times=("2021",)),
        panel(times=("2021-13", "2021-14")),
        panel(times=("blue", "red")),
        panel().with_columns(who=pl.concat_str("who", "at")),  # nobody is there twice
        panel(people=3),
        pl.concat([panel(), panel()]),  # somebody is there twice at once
        panel(at=pl.lit(None)),
    ],
)
def test_other_tables_are_no_panels(table):
    assert panel_of(table) is None


def test_a_panel_in_which_a_few_have_two_rows_is_one():
    table = panel()
    found = panel_of(pl.concat([table, table.head(3)]).with_columns(row=pl.int_range(pl.len())))
    assert found.person == "who"


def test_rows_of_a_release_are_said_in_the_contract():
    source = FileSource(path="panel.csv", where={"year": "{release:%Y}", "q": "{release:%q}", "site": "x"})
    assert source.of("2024-05-01") == {"year": "2024", "q": "2", "site": "x"}
    assert source.names_release
