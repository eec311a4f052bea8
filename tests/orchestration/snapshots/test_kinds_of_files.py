"""Files of other kinds than Parquet and CSV, dates in paths, and files that are written otherwise later."""

import base64
import datetime as dt
import gzip
import sys
import zlib

import polars as pl
import pyarrow as pa
import pytest

from republish.anonymize.contract import FileSource
from republish.anonymize.errors import ContractError, SnapshotError
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.snapshots import sheet_cells
from republish.orchestration.snapshots.files import read_file
from republish.orchestration.snapshots.sources import source_of

CONTRACT = """
product: clinic
series: v1
source: {SOURCE}
releases: {first: 2024-01-01, cron: "CRON"}
identifier: id
quasi_identifiers: [{name: age, kind: number, domain: [0, 119]}]
sensitive: {name: ill}
principle: {name: m_invariance, m: 2}
"""
TEXT = b"id,age,ill\n007,34,flu\n008,35,gout\n"
PACK = {
    "csv": bytes,
    "csv.gz": gzip.compress,
    "csv.zst": lambda text: pa.compress(text, "zstd", asbytes=True),
    "tsv": lambda text: text.replace(b",", b"\t"),
    "tsv.gz": lambda text: gzip.compress(text.replace(b",", b"\t")),
}


@pytest.fixture
def clinic(tmp_path):
    def declared(source, cron="@quarterly"):
        (tmp_path / "clinic.yaml").write_text(CONTRACT.replace("SOURCE", source).replace("CRON", cron))
        return load_contract(tmp_path / "clinic.yaml")

    return declared


def people(file, release):
    return source_of(file, release).pieces().whole("here").rows()


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("place", ["{release}.", "{release}/*."])
def test_text_is_read_however_it_is_packed(clinic, tmp_path, ending, place):
    path = tmp_path / place.format(release="2024-01-01").replace("*", "part")
    path.parent.mkdir(exist_ok=True)
    path.with_name(f"{path.name}{ending}").write_bytes(PACK[ending](TEXT))
    assert people(clinic(f'path: "{place}{ending}"'), "2024-01-01") == [
        ("007", "34", "flu"),
        ("008", "35", "gout"),
    ]


@pytest.mark.parametrize("ending", ["csv.gz", "csv.zst"])
def test_packed_text_that_was_cut_off_is_refused(tmp_path, ending):
    (file := tmp_path / f"x.{ending}").write_bytes(PACK[ending](TEXT * 1000)[:-8])
    with pytest.raises(SnapshotError, match="is no CSV file that can be read, or a part of one"):
        read_file(file, "here")


def test_the_date_is_written_as_the_path_says(clinic, tmp_path):
    (tmp_path / "2024").mkdir()
    (tmp_path / "2024/people_0401 100%d.csv").write_bytes(TEXT)
    file = clinic('path: "{release:%Y}/people_{release:%m%d} 100%d.csv"')
    assert not source_of(file, "2024-01-01").exists()
    assert len(people(file, "2024-04-01")) == 2


def test_a_path_with_too_little_of_the_date_is_refused(clinic):
    with pytest.raises(ContractError, match=r"names 2024.csv for the releases of 2024-01-01 and 2024-04-01"):
        clinic('path: "{release:%Y}.csv"')
    clinic('path: "{release:%Y}.csv"', "@yearly")


def test_files_may_be_written_in_another_way_from_a_release_on(clinic, tmp_path):
    later = '{2024-04-01: {separator: ";", date_format: "%d.%m.%Y"}, 2024-10-01: {separator: ","}'
    file = clinic(f'path: "{{release}}.csv"}}\nsources: {later}')
    for release, separator in (("2024-01-01", b","), ("2024-07-01", b";"), ("2024-10-01", b",")):
        (tmp_path / f"{release}.csv").write_bytes(TEXT.replace(b",", separator))
        assert len(people(file, release)) == 2
    assert file.contract.source_of("2024-07-01").date_format == "%d.%m.%Y"
    assert file.contract.source_of("2024-10-01").date_format == "%d.%m.%Y"


def test_a_single_release_needs_no_date_in_its_path(tmp_path):
    text = CONTRACT.replace("SOURCE", "path: people.csv").replace(', cron: "CRON"', "")
    (tmp_path / "clinic.yaml").write_text(text)
    (tmp_path / "people.csv").write_bytes(TEXT)
    assert len(people(load_contract(tmp_path / "clinic.yaml"), "2024-01-01")) == 2


def test_a_tsv_may_be_written_otherwise():
    assert FileSource(path="{release}.tsv", separator=";").separator == ";"


@pytest.mark.parametrize(
    ("cron", "fields"), [("@halfyearly", "0 0 1 1,7 *"), ("@quarterly", "0 0 1 */3 *"), ("1 2 3 * *",) * 2]
)
def test_words_for_schedules(clinic, cron, fields):
    assert clinic('path: "{release}.csv"', cron).contract.releases.cron == fields


@pytest.mark.parametrize("ending", ["xlsx", "sav", "dta", "sas7bdat", "xpt", "por"])
def test_a_file_of_a_program_whose_library_is_not_there(tmp_path, monkeypatch, ending):
    for library in ("fastexcel", "pyreadstat"):
        monkeypatch.setitem(sys.modules, library, None)
    (file := tmp_path / f"x.{ending}").write_bytes(b"something")
    extra = "excel" if ending == "xlsx" else "statistics"
    with pytest.raises(SnapshotError, match=rf"not installed: pip install 'republish\[{extra}\]'"):
        read_file(file, "here")


OF_SAS = (
    b"c-muNK!8K98WT2)2%g_NiGzXjxM7ckynvvw5`(cZBa<N`M2QFk12ZFvxG|%$F@uN*g90-n%$#7yU<Ef%A6FO05XWHG5CvR-fdByM"
    b"M^e}D{ro0JBpMY6Krkbku%(`XiGiW7sZVBJX$6wFv7VuUo`J5Rp_zf6p`o53x^Wd2X7OewC_)WBe)&&f7+w90U3dPWxpNeZf>AIE"
    b"M!_f;1*2dTjDk@x3P!;w7&KreqTh-FyxE})CO!skAa#QW!qs3#Rd)a?E`g>$g9}1OFrkX8K*e2P0?-co2TllWf+oHMD(-_Oo&y!P"
    b"Koi%2iaVgW=M4vT@ihd*(Ts-zM~6g(w474d$i&4T^+^ip`K2YW5dcSrWTHkmM!_f;1*2dTjDk@>2>ko~9}I@9eu(z}Dp0-*lx7A("
    b"Mg~~J>i_?L|4|!Rf1vtcZ5>$C1l+V@K{T+y;w+2|&?XiG3z|H{bO=B+O;jM}Flazspu>RH#AEmi)nkAV5<#EK0nhb>xCUgVFfb&h"
    b"r!r*b<S=0KgaxwOfPkGwX@!R!HSA#RH#W5P92=S+8PVK_&i{|5julNED_UGLqWKe@4^2`8)6_2_)&2ZWSsEQ`;2RJ?@(?Qc4g}zS"
    b"1(eT=CNF591f~Vxc@R557necHgKz_&pbRaY{2yWQL96~Kselo=j6~vdq49ap_<U%54x0It174<prqvPl@POGeMB2;(bSWc7D*cT!"
    b"{i1he0qGFuwg"
)
"""A .sas7bdat file of the table below, as ReadStat writes it, on which pyreadstat is built."""


@pytest.mark.parametrize("ending", ["sav", "dta", "sas7bdat"])
def test_a_file_of_a_statistics_program(tmp_path, ending):
    """Where a number is missing, it has none; where text is missing, it is empty."""
    pyreadstat = pytest.importorskip("pyreadstat")
    table = pl.DataFrame({"id": ["a", "b", "c"], "age": [34.0, None, 35.0], "ill": ["flu", "gout", ""]})
    file = tmp_path / f"people.{ending}"
    if ending == "sas7bdat":
        file.write_bytes(zlib.decompress(base64.b85decode(OF_SAS)))
    else:
        getattr(pyreadstat, f"write_{ending}")(table, str(file))
    read, present = read_file(file, "here", ["id", "ill", "age"])
    assert (read.rows(), present) == (
        [("a", 34, "flu"), ("b", None, "gout"), ("c", 35, None)],
        ["id", "age", "ill"],
    )
    assert read.schema == {"id": pl.String, "age": pl.Int64, "ill": pl.String}
    file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(SnapshotError, match="file that can be read, or a part of one"):
        read_file(file, "here")


def test_a_moment_that_sas_shows_as_a_day(tmp_path):
    """Its seconds are no days."""
    pyreadstat = pytest.importorskip("pyreadstat")
    table = pl.DataFrame({"seen": [0.0, 25_600 * 86_400.0, None, 1.5], "day": [0.0, 23_000.0, None, 1.0]})
    displays = {"seen": "DTDATE9", "day": "DATE9"}
    pyreadstat.write_xport(table, str(tmp_path / "visits.xpt"), variable_format=displays)
    read, _ = read_file(tmp_path / "visits.xpt", "here")
    moments = ["1960-01-01 00:00:00.000", "2030-02-02 00:00:00.000", None, "1960-01-01 00:00:01.500"]
    assert read["seen"].dt.to_string("%F %T%.3f").to_list() == moments
    assert read["day"].to_list() == [dt.date(1960, 1, 1), dt.date(2022, 12, 21), None, dt.date(1960, 1, 2)]


STATA_MOMENTS = {
    "%tc": (1_893_456_000_000, "2020-01-01 00:00:00.000"),
    "%tcNN/DD/CCYY": (1_893_456_000_000, "2020-01-01 00:00:00.000"),
    "%-tcCCYY-NN-DD_HH:MM": (-1, "1959-12-31 23:59:59.999"),
    "%tcHH:MM": (1_893_456_060_000, "2020-01-01 00:01:00.000"),
    "%tC": (1_893_456_000_000 + 27_000, "2020-01-01 00:00:00.000"),
    "%tCHH:MM:SS": (-1, "1959-12-31 23:59:59.999"),
    "%-tC": (394_415_999_500, "1972-06-30 23:59:59.500"),
    "%tC..": (394_416_000_500, "1972-06-30 23:59:59.500"),  # its leap second, 23:59:60.5
    "%tCCCYY": (394_416_001_500, "1972-07-01 00:00:00.500"),
}
"""How Stata shows a number, a number, and the moment that it is. %tC counts leap seconds, 27 until 2020."""


@pytest.mark.parametrize("display", STATA_MOMENTS)
def test_a_moment_of_stata_is_read_however_it_is_shown(tmp_path, display):
    pyreadstat = pytest.importorskip("pyreadstat")
    number, moment = STATA_MOMENTS[display]
    table = pl.DataFrame({"seen": [float(number), None], "age": [34.0, 35.0]})
    pyreadstat.write_dta(table, str(tmp_path / "x.dta"), variable_format={"seen": display})
    read, _ = read_file(tmp_path / "x.dta", "here")
    assert read["seen"].dt.to_string("%F %T%.3f").to_list() == [moment, None]


@pytest.mark.parametrize(("ending", "display"), [("dta", "%tc"), ("dta", "%tC"), ("xpt", "DTDATE9")])
def test_a_number_after_the_year_9999_is_no_moment(tmp_path, ending, display):
    pyreadstat = pytest.importorskip("pyreadstat")
    write = pyreadstat.write_dta if ending == "dta" else pyreadstat.write_xport
    later = 4e14 if ending == "dta" else 4e11
    table = pl.DataFrame({"seen": [0.0, later]})
    write(table, str(tmp_path / f"x.{ending}"), variable_format={"seen": display})
    assert read_file(tmp_path / f"x.{ending}", "here")[0]["seen"].to_list() == [0, later]


def test_a_spreadsheet(tmp_path):
    pytest.importorskip("fastexcel")
    pytest.importorskip("xlsxwriter")
    table = pl.DataFrame({"*": [1, 2], "^a.*$": ["flu", "gout"], "x": [1.5, 2.0]})
    table.write_excel(tmp_path / "people.xlsx")
    read, present = read_file(tmp_path / "people.xlsx", "here", ["*", "^a.*$"])
    assert (read.rows(), present) == ([(1, "flu"), (2, "gout")], table.columns)


PERIODS = {
    "%tm": (350, "1989-03-01"),
    "%-tmMonth_CCYY": (-1, "1959-12-01"),
    "%tw": (53, "1961-01-08"),
    "%tq": (201, "2010-04-01"),
    "%th": (101, "2010-07-01"),
    "%ty": (1990, "1990-01-01"),
    "%-td": (100, "1960-04-10"),
    "%d": (100, "1960-04-10"),
    "MONYY7": (22_000, "2020-03-26"),
    "YYQ6": (-1, "1959-12-31"),
    "WORDDATE18": (22_000, "2020-03-26"),
    "DTMONYY7": (86_400, "1960-01-02"),
    "NLDATM20": (86_400, "1960-01-02"),
    "MOYR8": (13_809_052_800, "2020-05-17"),
    "QYR6": (13_809_052_800, "2020-05-17"),
    "WKYR10": (13_809_052_800, "2020-05-17"),
}
"""How a program shows a number, a number, and the day that it is: of a period, its first."""


@pytest.mark.parametrize("display", PERIODS)
def test_a_number_that_is_shown_as_a_date_is_one(tmp_path, display):
    pyreadstat = pytest.importorskip("pyreadstat")
    number, day = PERIODS[display]
    ending = "dta" if display.startswith("%") else "sav" if display[1:3] in ("OY", "YR", "KY") else "xpt"
    table = pl.DataFrame({"born": [float(number), None], "age": [34.0, 35.0]})
    write = getattr(pyreadstat, f"write_{'xport' if ending == 'xpt' else ending}")
    write(table, str(tmp_path / f"x.{ending}"), variable_format={"born": display})
    read, _ = read_file(tmp_path / f"x.{ending}", "here")
    assert read["born"].cast(pl.Date).cast(pl.String).to_list() == [day, None]
    assert read["age"].to_list() == [34, 35]


def test_the_number_of_a_year_stays_one_where_it_is_declared_so(clinic, tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    table = pl.DataFrame({"id": ["a"], "age": [1990.0], "ill": ["flu"]})
    pyreadstat.write_dta(table, str(tmp_path / "2024-01-01.dta"), variable_format={"age": "%ty"})
    assert people(clinic('path: "{release}.dta"'), "2024-01-01") == [("a", 1990, "flu")]


@pytest.mark.parametrize("number", [1.5, 1e9])
def test_a_number_that_is_no_month_stays_a_number(tmp_path, number):
    """It is no date, and never lost: a contract that has dates refuses it."""
    pyreadstat = pytest.importorskip("pyreadstat")
    table = pl.DataFrame({"born": [350.0, number]})
    pyreadstat.write_dta(table, str(tmp_path / "x.dta"), variable_format={"born": "%tm"})
    assert read_file(tmp_path / "x.dta", "here")[0]["born"].to_list() == [350, number]


def workbook(file, column):
    """A workbook of people, whose headings begin at B3; `column` writes cells of one column."""
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")
    book = xlsxwriter.Workbook(file)
    sheet = book.add_worksheet()
    sheet.write_row(2, 1, ["id", "age", "ill", "note"])
    for row in range(3, 8):
        sheet.write_row(row, 1, [f"P{row}", 30.0 + row, "flu", "fine"])
    column(sheet)
    book.close()
    return file


ODD_CELLS = [
    (lambda sheet: sheet.write_formula(4, 2, "=1/0", None, "#DIV/0!"), "age: 1 of 5 rows are #DIV/0!"),
    (lambda sheet: sheet.write_formula(4, 3, "=A1", None, "#REF!"), "ill: 1 of 5 rows are #REF!"),
    (lambda sheet: sheet.write_formula(7, 1, "=A1", None, "#N/A"), "id: 1 of 5 rows are #N/A"),
    (
        lambda sheet: sheet.write_formula(4, 2, "=40+1", None, ""),
        "age: 1 of 5 rows are formulas that were never",
    ),
]


@pytest.mark.parametrize(("column", "said"), ODD_CELLS)
def test_a_cell_that_has_an_error_or_no_result_is_no_missing_value(tmp_path, column, said):
    """It is counted and refused; in a column that nobody reads, it is nobody's concern."""
    file = workbook(tmp_path / "people.xlsx", column)
    with pytest.raises(SnapshotError, match=f"{said}.*correct errors in the workbook"):
        read_file(file, "here", ["id", "age", "ill"])
    assert read_file(file, "here", ["note"])[0].height == 5


def test_a_formula_with_its_result_is_read(tmp_path):
    def column(sheet):
        sheet.write_formula(4, 2, "=40+1", None, 41)
        sheet.write_formula(4, 3, '=CONCATENATE("g","out")', None, "gout")
        sheet.write_formula(5, 2, "=NA()", None, 7)

    read, _ = read_file(workbook(tmp_path / "people.xlsx", column), "here")
    assert read.rows()[1] == ("P4", 41, "gout", "fine")


def test_odd_cells_are_found_wherever_a_sheet_is_cut(tmp_path, monkeypatch):
    file = workbook(tmp_path / "people.xlsx", ODD_CELLS[0][0])
    for size in range(1, 400, 7):
        monkeypatch.setattr(sheet_cells, "AT_A_TIME", size)
        assert sheet_cells.odd_cells(file) == {3: {"#DIV/0!": 1}}


def test_cells_with_prefixes_and_shared_formulas():
    rows = (
        b"""<x:c r="B2" t='e'><x:f>1/0</x:f><x:v>#DIV/0!</x:v></x:c><c r="C2"><f t="shared" si="0"/></c>"""
        b"""<c r="D2" t="str"><f>""</f><v></v></c><c r="E2" s="3"/><c r="F2"><f>1</f><v/></c>"""
        b"""<c r="G2"><v>1</v></c>"""
    )
    sheet_cells._count(rows, found := {})
    assert found == {
        2: {"#DIV/0!": 1},
        3: {sheet_cells.NOT_CALCULATED: 1},
        6: {sheet_cells.NOT_CALCULATED: 1},
    }


def test_a_heading_that_is_there_twice(tmp_path):
    """The library reads the second one under another name."""
    file = workbook(tmp_path / "people.xlsx", lambda sheet: sheet.write(2, 4, "age"))
    with pytest.raises(SnapshotError, match="the column age is in the header twice; rename one"):
        read_file(file, "here", ["id", "age"])
    assert read_file(file, "here", ["id", "ill"])[0].height == 5


@pytest.mark.parametrize("titles", [0, 2])
def test_a_sheet_and_the_row_of_its_headings_may_be_named(clinic, tmp_path, titles):
    """What is above the headings, and on other sheets, is nobody's concern."""
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")
    book = xlsxwriter.Workbook(tmp_path / "2024-01-01.xlsx")
    book.add_worksheet("Cover").write(0, 0, "Quarterly report")
    sheet = book.add_worksheet("Men & women")
    sheet.write_column(2, 1, ["A title", "and another"][:titles])
    sheet.write_row(4, 1, ["id", "age", "ill"])
    sheet.write_row(5, 1, ["007", 34, "flu"])
    sheet.write_row(6, 1, ["008", 35, "gout"])
    book.close()
    here = "path: '{release}.xlsx', sheet: Men & women, header_row: "
    assert people(clinic(f"{here}5"), "2024-01-01") == [("007", 34, "flu"), ("008", 35, "gout")]
    with pytest.raises(SnapshotError, match="has no sheet People; it has Cover, Men & women: correct source"):
        people(clinic("path: '{release}.xlsx', sheet: People"), "2024-01-01")
    with pytest.raises(SnapshotError, match=r"is no \.xlsx file that can be read"):
        people(clinic(f"{here}50"), "2024-01-01")


def test_an_error_counts_on_the_sheet_that_is_read(clinic, tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")
    book = xlsxwriter.Workbook(tmp_path / "2024-01-01.xlsx")
    for name in ("First", "Second"):
        sheet = book.add_worksheet(name)
        sheet.write_row(0, 0, ["id", "age", "ill"])
        sheet.write_row(1, 0, ["007", 34, "flu"])
    sheet.write_formula(1, 1, "=1/0", None, "#DIV/0!")
    book.close()
    assert people(clinic("path: '{release}.xlsx'"), "2024-01-01") == [("007", 34, "flu")]
    with pytest.raises(SnapshotError, match="age: 1 of 1 rows are #DIV/0!"):
        people(clinic("path: '{release}.xlsx', sheet: Second"), "2024-01-01")


@pytest.mark.parametrize("key", ["sheet: People", "header_row: 2"])
def test_sheets_are_of_workbooks(clinic, key):
    with pytest.raises(ContractError, match=rf"{key.partition(':')[0]}: is of files that end in \.xlsx"):
        clinic(f"path: '{{release}}.csv', {key}")


def test_a_portable_file_of_spss(tmp_path):
    """Its names are in capitals, its codes have labels, and its days are days."""
    pyreadstat = pytest.importorskip("pyreadstat")
    rows = {"ID": ["007", "8"], "AGE": [34.0, None], "W": [0.1, 2.5], "BORN": [dt.date(1960, 2, 29), None]}
    pyreadstat.write_por(pl.DataFrame(rows), str(tmp_path / "x.por"))
    table, _ = read_file(tmp_path / "x.por", "here")
    assert table.to_dict(as_series=False) == rows
    (tmp_path / "x.por").write_bytes((tmp_path / "x.por").read_bytes()[:300])
    with pytest.raises(SnapshotError, match=r"is no \.por file that can be read, or a part of one"):
        read_file(tmp_path / "x.por", "here")


@pytest.mark.parametrize("is_zoned", [True, False, "text"])
def test_midnights_of_a_declared_zone_are_dates(clinic, tmp_path, is_zoned):
    """In winter and in summer; what stands for no value is a date of that zone, too."""
    days = [dt.date(1980, 1, 31), dt.date(1999, 7, 1), None, dt.date(9999, 12, 31)]
    moments = (
        pl.Series(days).cast(pl.Datetime).dt.replace_time_zone("Europe/Berlin").dt.convert_time_zone("UTC")
    )
    moments = moments if is_zoned is True else moments.dt.replace_time_zone(None)
    is_text = is_zoned == "text"
    born = moments.dt.to_string("%Y-%m-%d %H:%M:%S") if is_text else moments
    written = "date_format: '%Y-%m-%d %H:%M:%S'," if is_text else ""
    ending = "csv" if is_text else "parquet"
    text = CONTRACT.replace("kind: number, domain: [0, 119]", "kind: date, domain: [1900-01-01, 2024-01-01]")
    last = "9999-12-30 23:00:00" if is_text else "9999-12-31"
    source = f"{{path: '{{release}}.{ending}', {written} zone: Europe/Berlin, null_values: [{last}]}}"
    text = text.replace("{SOURCE}", source).replace("CRON", "@quarterly")
    (tmp_path / "clinic.yaml").write_text(text)
    table = pl.DataFrame({"id": ["a", "b", "c", "d"], "age": born, "ill": ["flu"] * 4})
    (table.write_csv if is_text else table.write_parquet)(tmp_path / f"2024-01-01.{ending}")
    read = people(load_contract(tmp_path / "clinic.yaml"), "2024-01-01")
    found = [f"{born}"[:10] for _, born, _ in read]
    assert found == ["1980-01-31", "1999-07-01", "None", "None"]
