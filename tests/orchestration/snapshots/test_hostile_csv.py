"""CSV texts as programs write them, and as they should not: read as meant, or refused with a line."""

import csv
import io
import json
import re

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from republish.anonymize.errors import SnapshotError
from republish.orchestration.audit.read.folders import Reading, read_truth
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.snapshots import csv_text
from republish.orchestration.snapshots.files import open_file, read_file
from tests.pieces import read_in_pieces
from tests.sources import read_snapshot

CONTRACT = """\
product: hospital
series: v1
source: {path: "{release}.csv"SOURCE}
releases: {first: 2024-01-01}
identifier: id
quasi_identifiers: [{name: age, kind: number, domain: [0, 120]}]
sensitive: {name: disease}
principle: {name: m_invariance, m: 2}
"""
RELEASE = "2024-01-01"
HEADER = "id,height,age,disease\n"
ROWS = "".join(f"P{n},{n},{n},flu\n" for n in range(3))
"""`height` is a column that the contract does not name."""
csv.field_size_limit(1_000_000)
READ = {
    "plain": HEADER + ROWS,
    "no last line end": HEADER + ROWS + "P9,1,2,flu",
    "every field quoted": '"id","height","age","disease"\n"P1","5\'11""","7","flu"\n',
    "line ends CR LF": (HEADER + ROWS).replace("\n", "\r\n"),
    "a line end in quotes": HEADER
    + 'P1,"5\n11",7,flu\nP2,,8,"gout\r\nand ""flu"""\n'
    + ROWS.replace("P", "Q"),
    "a separator in quotes": HEADER + 'P1,"5,11",7,"flu, gout"\n',
    "empty lines last": HEADER + ROWS + "\n\r\n\n",
    "empty fields": HEADER + 'P1,,7,flu\nP2,"",8,flu\n',
    "apostrophes": HEADER + "P1,5'11,7,Crohn's\n",
    "spaces": HEADER + "P1, 5 ,7,flu\n",
    "a quotation mark in the header": HEADER.replace("height", '"hei""ght"') + ROWS,
    "two columns of one name that are not read": HEADER.replace("height", "x,x") + "P1,1,2,7,flu\n",
    "names of polars' own": HEADER.replace("height", "id_duplicated_0") + ROWS,
    "a NUL": HEADER + "P1,\0,7,flu\n",
    "a BOM": "\ufeff" + HEADER + ROWS,
    "nobody": HEADER,
    "nobody, no line end": HEADER.strip(),
    "a very long field": HEADER + f"P1,{'x' * 200_000},7,flu\n",
}
REFUSED = {
    "a mark of inches": (HEADER + 'P1,5\'11",7,flu\n' + ROWS + 'P8,6\'1",7,flu\n', "line 2 (column height)"),
    "a mark of inches, once": (HEADER + ROWS + 'P8,6\'1",7,flu\n', "line 5 (column height)"),
    "a mark after a space": (HEADER + 'P1, "5,11",7,flu\n', "line 2 (column height)"),
    "a quotation in a field": (HEADER + 'P1,a "tall" one,7,flu\n', "line 2 (column height)"),
    "a mark in the identifier": (HEADER + 'P"1,5,7,flu\n', "line 2 (column id)"),
    "text after a quotation": (HEADER + 'P1,"5"11,7,flu\n', "goes on after the end of a quoted field"),
    "a mark escaped by a backslash": (HEADER + 'P1,"5\\"11",7,flu\n', "goes on after the end"),
    "a quotation that is not closed": (HEADER + ROWS + 'P1,"5,7,flu\n' + ROWS, "line 5 (column height)"),
    "cut off in quotes": (HEADER + 'P1,5,7,"flu', "line 2 (column disease) begins a quoted field"),
    "too few fields": (HEADER + ROWS + "P1,5,7\n", "line 5 has 3 fields, and the header has 4"),
    "too many fields": (HEADER + ROWS + "P1,5,7,flu,x\n", "line 5 has 5 fields"),
    "cut off": (HEADER + ROWS + "P1,5", "line 5 has 2 fields"),
    "an empty line": (HEADER + ROWS + "\n" + ROWS, "line 5 has nothing in it, and the header has 4"),
    "empty lines, and a row": (HEADER + ROWS + "\n\n" + ROWS, "line 5 has nothing in it"),
    "an empty line and a CR last": (HEADER + ROWS + "\n\r", "line 5 has nothing in it"),
    "an empty line first": ("\n" + HEADER + ROWS, "begins with an empty line"),
    "a comment first": ("# of January\n" + HEADER + ROWS, "line 2 has 4 fields, and the header has 1"),
    "line ends CR": ((HEADER + ROWS).replace("\n", "\r"), "line 1 has a carriage return (CR)"),
    "one CR": (HEADER + ROWS + "P1,5\r,7,flu\n", "line 5 (column height) has a carriage return (CR)"),
    "CR CR LF": ((HEADER + ROWS).replace("\n", "\r\r\n"), "has a carriage return (CR)"),
    "semicolons": ((HEADER + ROWS).replace(",", ";"), "is separated by semicolons"),
    "semicolons and decimal commas": (HEADER.replace(",", ";") + "P1;5,1;7;flu\n", "by semicolons"),
    "not quoted with tabs": ((HEADER + ROWS).replace(",", "\t"), "is separated by tabs"),
    "a header that is not closed": ('id,"height,age,disease\n' + ROWS, "line 1 begins a quoted field"),
    "marks alone": ('"""', "line 1 begins a quoted field"),
    "one line end": ("\n", "begins with an empty line"),
    "a column twice": (HEADER.replace("height", "age") + ROWS, "the column age is in the header twice"),
}  # fmt: skip


@pytest.fixture
def readers(tmp_path, monkeypatch):
    """What `release` reads of a CSV text, also in pieces, and what `audit` reads of it."""

    def read(text, source=""):
        (tmp_path / f"{RELEASE}.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
        (tmp_path / "contract.yaml").write_text(CONTRACT.replace("SOURCE", source))
        file = load_contract(tmp_path / "contract.yaml")
        yield lambda: read_snapshot(file, RELEASE)
        yield lambda: read_in_pieces(monkeypatch, file, RELEASE)
        yield lambda: read_truth(tmp_path, RELEASE, file.contract, Reading()).drop("person")

    return read


def rows(text, separator=","):
    """Identifiers and values as a plain reader reads them."""
    found = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator)
    return [(row["id"], row["disease"]) for row in found]


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("dialect", READ)
def test_what_can_be_read_in_one_way_is_read_so(dialect, readers):
    source = ", final_newline: false" if "no" in dialect and "line end" in dialect else ""
    for read in readers(READ[dialect], source):
        assert read().select("identifier", "value").rows() == rows(READ[dialect])


@pytest.mark.parametrize("dialect", REFUSED)
def test_what_readers_may_disagree_about_is_refused_with_its_line(dialect, readers):
    text, said = REFUSED[dialect]
    for read in readers(text):
        with pytest.raises(SnapshotError) as refused:
            read()
        assert said in str(refused.value)
        assert not [value for value in ("P1", "P8", "flu") if value in str(refused.value)]


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "windows-1252"])
@pytest.mark.parametrize("separator", [";", "|", "\t", "'", "0"])
def test_separators_and_encodings_are_the_contracts_also_in_an_audit(encoding, separator, readers):
    text = f"id{separator}age{separator}disease\nP1{separator}7{separator}Ménière\n"
    options = f", separator: {json.dumps(separator)}, encoding: {encoding}"
    for read in readers(text.encode(encoding), options):
        assert read()["value"].to_list() == ["Ménière"]


def outcome(read):
    """The header and the rows of a text, or what is said of it."""
    try:
        table, header = read()
    except SnapshotError as error:
        return str(error)
    return header, table.rows()


def in_blocks(file, block, rows):
    """A text of which so many bytes are read at a time, and so many rows."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(csv_text, "BLOCK", block)
        opened = open_file(file, "any.csv", None, rows)
        return pl.concat([piece.read() for piece in opened.pieces]), opened.present


def test_a_record_without_an_end_is_not_read_to_the_end_of_a_large_file(readers, monkeypatch):
    monkeypatch.setattr(csv_text, "LONGEST", 1_000)
    for text in ('P1,"' + 2_000 * "x,", 2_000 * ",x"):
        _, in_pieces, _ = readers(HEADER + ROWS + text)
        with pytest.raises(SnapshotError, match="line 5 begins a record of more than 0 MiB"):
            in_pieces()


def test_numbers_that_can_be_read_in_two_ways_are_counted_in_all_pieces(readers):
    text = "id,age,disease\n" + "".join(f"P{n},{n}.{n:03},flu\n" for n in range(1, 5))
    for read in list(readers(text))[:2]:
        with pytest.raises(SnapshotError, match="age: 4 of 4 rows can be read in two ways"):
            read()
    for read in list(readers(text.replace("2.002", "2.0")))[:2]:  # and so the others have decimals, too
        with pytest.raises(SnapshotError, match="age: 3 of 4 rows are not whole numbers"):
            read()


FIELD = r'(?:"(?:[^"]|"")*"|[^",\r\n]*)'
RECORD = rf"{FIELD}(?:,{FIELD})*"
PLAIN = re.compile(rf"{RECORD}(?:\r?\n{RECORD})*(?:\r?\n)?")
"""RFC 4180 as an expression: what is a CSV text at all, whatever number of fields its records have."""
FIELDS = st.lists(
    st.sampled_from(["a", "", "b c", '"', '""', '"x"', '"x,y"', '"p\nq"', '5"', "\r", "é", "\0"])
)
TEXTS = st.lists(FIELDS.map(",".join)).map("\n".join) | st.text('ab,"\r\n;\0', max_size=30)


@pytest.mark.slow("takes more than a second")
@settings(max_examples=300)
@given(text=TEXTS, block=st.integers(1, 8), rows=st.integers(1, 3))
@example(text='a,\n""', block=1, rows=1)  # a field in quotes is no empty line
def test_any_text_is_read_as_a_plain_reader_reads_it_or_refused(text, block, rows, tmp_path_factory):
    file = tmp_path_factory.getbasetemp() / "any.csv"
    file.write_bytes(text.encode())
    assert outcome(lambda: in_blocks(file, block, rows)) == outcome(lambda: read_file(file, "any.csv"))
    # An empty line is a record of a single field that is empty, and none to a plain reader; where there are
    # more columns, empty lines at the end say nothing.
    records = [*csv.reader(io.StringIO(text, newline=""))]
    while len(records) > 1 < len(records[0]) and not records[-1]:
        records.pop()
    records = [record or [""] for record in records]
    try:
        table, header = read_file(file, "any.csv")
    except SnapshotError:
        widths = {len(record) for record in records}
        named = bool(records) and records[0] != [""] and len(set(records[0])) == len(records[0])
        assert not (PLAIN.fullmatch(text) and len(widths) == 1 and named)
    else:
        assert [header, *(["" if cell is None else cell for cell in row] for row in table.rows())] == records
