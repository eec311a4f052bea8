"""Text files without separators, whose columns stand where the contract says."""

import pytest

from republish.anonymize.contract import FileSource
from republish.anonymize.errors import SnapshotError
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.snapshots import csv_text, files
from republish.orchestration.snapshots.sources import read_snapshot, source_of

CONTRACT = """
product: clinic
series: v1
source: {path: "{release}.dat", widths: {age: 7-9, id: 1-4, ill: 10-15}MORE}
releases: {first: 2024-01-01}
identifier: id
quasi_identifiers: [{name: age, kind: number, domain: [0, 119], missing: publish}]
sensitive: {name: ill}
principle: {name: m_invariance, m: 2}
"""
LINES = "0007xx 34flu   \n0008xx108gout\n0009xx   Gicht é\n"


@pytest.fixture
def people(tmp_path):
    def read(content, more="", rows=None):
        (tmp_path / "clinic.yaml").write_text(CONTRACT.replace("MORE", more))
        (tmp_path / "2024-01-01.dat").write_bytes(content)
        source = source_of(load_contract(tmp_path / "clinic.yaml"), "2024-01-01")
        return source.pieces(rows).whole("here").rows()

    return read


READ = [("0007", "34", "flu"), ("0008", "108", "gout"), ("0009", None, "Gicht")]


@pytest.mark.parametrize(
    ("content", "more"),
    [
        (LINES.encode(), ""),
        (LINES.replace("\n", "\r\n").encode(), ""),
        (b"\xef\xbb\xbf" + LINES.encode(), ""),
        (LINES.encode("latin-1"), ", encoding: latin-1"),
        (LINES.encode("utf-16"), ", encoding: utf-16"),
        (LINES.encode() + b"\n\r\n", ""),
        (LINES.rstrip("\n").encode(), ", final_newline: false"),
    ],
)
@pytest.mark.parametrize("block", [1, 7, 1 << 23])
def test_letters_are_read_where_they_stand(people, monkeypatch, content, more, block):
    """Letters are counted, not bytes; what is behind the last column is nobody's concern."""
    monkeypatch.setattr(csv_text, "BLOCK", block)
    for rows in (None, 1, 2):
        monkeypatch.setattr(files, "AT_A_TIME", rows or 2)
        assert people(content, more, rows) == READ


def test_a_line_that_ends_early_lacks_what_comes_after(people):
    assert people(b"0007\n0008xx 34flu\n")[0] == ("0007", None, None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"0007xx 34flu\n\n0008xx 35gout\n", "line 2 is empty"),
        (b"0007xx 34flu\n0008\t 35gout\n", "line 2 has a tab"),
        (b"0007xx 34flu\n0008xx 35go", "its last line has no line end"),
        ("0007xx 34grippé\n".encode("latin-1"), "is not written in UTF-8, and may be latin-1"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(people, content, said):
    with pytest.raises(SnapshotError, match=said):
        people(content)


@pytest.mark.parametrize(
    ("path", "widths", "said"),
    [
        ("x.csv", {"id": "1-4"}, r"widths: are of files that end in \.dat"),
        ("x.txt", {}, "nothing says which letters of a line are which column"),
        ("x.dat", {"id": 4}, "valid string"),
        *(("x.dat", {"id": said}, "id: must be from which letter to") for said in ("4", "9-7", "0-7", "1-x")),
    ],
)
def test_widths_that_say_nothing(path, widths, said):
    with pytest.raises(ValueError, match=said):
        FileSource(path=path, widths=widths)


def test_a_column_that_has_no_place(tmp_path):
    (tmp_path / "clinic.yaml").write_text(CONTRACT.replace(", ill: 10-15", "").replace("MORE", ""))
    (tmp_path / "2024-01-01.dat").write_text(LINES)
    with pytest.raises(SnapshotError, match="the column ill is missing"):
        read_snapshot(source_of(load_contract(tmp_path / "clinic.yaml"), "2024-01-01"))
