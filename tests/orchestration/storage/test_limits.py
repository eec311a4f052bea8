"""Files that are small and unpack to more than fits, or that are too large: refused before they are read."""

import json
import sys
import zipfile
from types import SimpleNamespace

import polars as pl
import pytest
import yaml

from republish.anonymize.errors import ContractError, LimitError, SnapshotError, UnforeseenInput
from republish.orchestration.audit.read.folders import read_contract
from republish.orchestration.cli import main as cli
from republish.orchestration.contracts import yaml_text
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.limits import MEGABYTE, VARIABLE, Limits, limits, raise_limits
from republish.orchestration.readers.estimate.command import estimate
from republish.orchestration.snapshots.files import read_file
from republish.orchestration.snapshots.sheet_size import sheet_size
from republish.orchestration.storage.manifest import verify_release
from tests.hospital import RELEASES, audited
from tests.orchestration.audit.published_folders import seal


@pytest.fixture(autouse=True)
def _own_limits(monkeypatch):
    monkeypatch.setenv(VARIABLE, "")


def bomb(file, rows):
    """A column that takes no place in the file: the same value in every row."""
    pl.select(pl.repeat(1, rows).alias("group_id")).write_parquet(file, compression="zstd", statistics=False)


def test_a_small_file_of_a_hundred_million_rows_is_refused_by_everything_that_reads_it(
    series, hospital, tmp_path
):
    folder = series.published(RELEASES[1])
    bomb(folder / "counterfeits.parquet", 100_000_000)
    assert (folder / "counterfeits.parquet").stat().st_size < 5 * MEGABYTE
    seal(folder)
    said = r"counterfeits\.parquet: has 100,000,000 rows, and 20,000,000 are .* --limit rows=100000000"
    for read in (verify_release, estimate, lambda _: audited(hospital, series, tmp_path / "report")):
        with pytest.raises(LimitError, match=said):
            read(folder)
    for file, columns in ((folder / "counterfeits.parquet", None), (folder / "counterfeits.parquet", ["x"])):
        with pytest.raises(LimitError, match="100,000,000 rows"):
            read_file(file, "here", columns)


BEYOND = {
    "rows": (lambda at: (at / "t.csv").write_text("a\n1\n2\n3\n4\n"), "has 4 rows, and 3 are"),
    "megabytes": (lambda at: bomb(at / "t.parquet", 1_000_000), "megabytes, and 3 are"),
    "columns": (
        lambda at: pl.DataFrame({f"a{n}": [1] for n in range(4)}).write_parquet(at / "t.parquet"),
        "has 4 columns",
    ),
}


@pytest.mark.parametrize("name", BEYOND)
def test_a_flag_raises_what_is_read(name, tmp_path):
    write, said = BEYOND[name]
    write(tmp_path)
    (file,) = tmp_path.iterdir()
    raise_limits([f"{name}=3"])
    with pytest.raises(LimitError, match=said) as refused:
        read_file(file, "here")
    flag = str(refused.value).rpartition("--limit ")[2]
    raise_limits([flag])
    assert read_file(file, "here")[0].height


def test_a_contract_and_its_hierarchies_are_held_to_the_limits(hospital):
    for name, said in (
        ("labels", "more|labels, and 2"),
        ("columns", "columns, and 2 are"),
        ("text", "0 are"),
    ):
        raise_limits([f"{name}={0 if name == 'text' else 2}"])
        for read in (load_contract, read_contract):
            with pytest.raises(LimitError, match=said):
                read(hospital.contract)
        raise_limits([f"{name}={getattr(Limits(), name)}"])
    assert load_contract(hospital.contract)


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="without it, a text is read before lists are counted")
@pytest.mark.parametrize(
    ("entry", "said"),
    [("{name: age, kind: number}", "has 501 columns, and 500"), ("flu", "has 501 labels, and 500")],
)
def test_a_list_that_is_too_long_is_refused_before_anything_is_made_of_it(monkeypatch, entry, said):
    def made(_):
        raise AssertionError("values were made of it")

    raise_limits(["labels=500"])
    monkeypatch.setattr(yaml_text._Loader, "get_single_data", made)
    for text in (f"a: {{b: [{', '.join([entry] * 501)}]}}", "a:\n- b:\n" + f"  - {entry}\n" * 501):
        with pytest.raises(LimitError, match=said):
            yaml_text.parse_yaml(text.encode(), "clinic.yaml")


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize(
    "text", ["a: [b", "a: *b", "a: \xff", "a: 1\na: 2", "[" * 3000, "- " * 3000, "a: !!int x", ""]
)
def test_what_counts_the_lists_of_a_text_leaves_its_faults_to_what_reads_it(monkeypatch, text):
    def told():
        try:
            return yaml_text.parse_yaml(text.encode("latin-1"), "clinic.yaml")
        except ContractError as error:
            return str(error)

    counted = told()
    monkeypatch.setattr(yaml_text, "_check_lists", lambda *_: None)
    assert counted == told()


def test_a_package_of_many_attributes_is_not_estimated_from(series):
    folder = series.published(RELEASES[1])
    package = json.loads((folder / "datapackage.json").read_text())
    package["republish"]["attributes"] *= 1000
    (folder / "datapackage.json").write_text(json.dumps(package))
    seal(folder)
    with pytest.raises(LimitError, match="has 4,000 columns"):
        estimate(folder)


@pytest.mark.parametrize("words", ["rows", "rows=", "rows=-1", "rows=x", "row=3", "rows=3;", "rows=\u0661"])
def test_what_is_no_limit_is_refused_with_those_that_there_are(words):
    with pytest.raises(LimitError, match=r"write NAME=NUMBER with one of these .*: rows=20000000 "):
        raise_limits([words])


def test_limits_are_those_of_the_environment_and_then_of_the_flag(monkeypatch):
    monkeypatch.setenv(VARIABLE, "rows=1_000 labels=2,000")
    raise_limits(["rows=5"])
    assert limits() == Limits(rows=5, labels=2000)


@pytest.mark.parametrize("word", ["verify", "estimate", "audit"])
def test_what_no_check_foresaw_ends_in_one_line_that_names_the_release_and_no_value(
    word, series, hospital, monkeypatch, capsys
):
    folder = series.published(RELEASES[1])

    def fail(*_, **__):
        raise RuntimeError("P00000001 has flu")

    for place in (
        "republish.orchestration.storage.hidden.hidden_in_our",
        "republish.orchestration.readers.estimate.copies.read_published",
        "republish.orchestration.audit.series.read_release",
    ):
        monkeypatch.setattr(place, fail)
    truth = ["--truth", hospital.file(RELEASES[0]).parent, "--contract", hospital.contract]
    words = ["republish", word, folder, *(truth if word == "audit" else [])]
    monkeypatch.setattr("sys.argv", list(map(str, words)))
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert ended.value.code == UnforeseenInput.exit_code == 2
    assert len([line for line in said.splitlines() if not line.startswith("attacking ")]) == 1
    assert f"{folder}: it, or what belongs to it, has something" in said
    assert "RuntimeError" in said
    assert "flu" not in said
    monkeypatch.setattr("sys.argv", [*map(str, words), "--debug"])
    with pytest.raises(SystemExit):
        cli.main()
    assert "P00000001 has flu" in capsys.readouterr().err


def test_a_truth_without_rows_is_audited(series, hospital, tmp_path):
    hospital.deliver(RELEASES[1], hospital.snapshot(RELEASES[1]).clear())
    code, rows = audited(hospital, series, tmp_path / "report", private=False)
    assert (code, rows["published claims"]["holds"] if "published claims" in rows else False) == (3, False)


def workbook(file, last):
    """A workbook that shows its second sheet first, which has a cell far from the others."""
    of = "http://schemas.openxmlformats.org"
    row = last.strip("ABCDEFGHIJKLMNOPQRSTUVWXYZb")
    head = '<row r="1"><c r="A1"><v>1</v></c></row>'
    sheets = {
        1: '<row r="9"><c r="ZZZ9"><v>1</v></c></row>',
        2: f'<row r="{row}"><c r="{last}"><v>1</v></c></row>',
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr(
            "xl/workbook.xml", f'<workbook xmlns:r="{of}"><sheets><sheet r:id="rId2"/></sheets></workbook>'
        )
        relations = "".join(
            f'<Relationship Id="rId{number}" Target="worksheets/sheet{number}.xml"/>' for number in sheets
        )
        book.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{relations}</Relationships>")
        for number, rows in sheets.items():
            text = f"<worksheet><sheetData>{head}{' ' * (1 << 20)}{rows}</sheetData></worksheet>"
            book.writestr(f"xl/worksheets/sheet{number}.xml", text)


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("Z1", "has 26 columns"),
        ("T6000", "has 4 megabytes"),
        ("B9000", "has 9,000 rows"),
        ("b6001", "has 6,001 rows"),
        ("B3", None),
    ],
)
def test_a_spreadsheet_is_measured_before_it_is_unpacked(tmp_path, monkeypatch, last, said):
    """By lower limits than a publisher has."""

    def unpack(_):
        raise ValueError("it was unpacked")

    raise_limits(["rows=6000", "columns=20", "megabytes=3"])
    workbook(tmp_path / "people.xlsx", last)
    reader = SimpleNamespace(read_excel=unpack)
    monkeypatch.setitem(sys.modules, "fastexcel", reader)
    assert (tmp_path / "people.xlsx").stat().st_size < 5_000
    with pytest.raises(LimitError if said else SnapshotError, match=said):
        read_file(tmp_path / "people.xlsx", "here")
    assert sheet_size((tmp_path / "people.xlsx").read_bytes()) == sheet_size(tmp_path / "people.xlsx")


@pytest.mark.parametrize(("limit", "said"), [("rows=2", "has 3 rows"), ("columns=1", "has 2 columns")])
@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_a_file_of_a_statistics_program_is_measured_before_it_is_read(
    tmp_path, monkeypatch, ending, limit, said
):
    pyreadstat = pytest.importorskip("pyreadstat")
    file, read = tmp_path / f"people.{ending}", getattr(pyreadstat, f"read_{ending}")
    getattr(pyreadstat, f"write_{ending}")(
        pl.DataFrame({"id": ["a", "b", "c"], "age": [1.0, 2, 3]}), str(file)
    )

    def reads(path, **given):
        assert given.get("metadataonly"), "its rows were read"
        return read(path, **given)

    monkeypatch.setattr(pyreadstat, f"read_{ending}", reads)
    raise_limits([limit])
    with pytest.raises(LimitError, match=said):
        read_file(file, "here")
