import hashlib
import os

import pytest

from republish.anonymize.contract.hierarchy import AS_DEEP
from republish.anonymize.errors import ContractError, LimitError
from republish.orchestration.contracts.contract_file import load_contract

CONTRACT = """\
product: hospital
series: v1
source: {path: "snapshots/{release}.csv"}
releases: {first: 2024-01-01, cron: "0 0 1 */3 *"}
identifier: patient_id
quasi_identifiers:
  - {name: age, kind: number, domain: [0, 120], min_width: 2}
  - {name: birthplace, kind: category, hierarchy: places.csv}
  - {name: insured, kind: category, order: [no, yes]}
sensitive: {name: disease}
principle: {name: m_invariance, m: 4}
"""
PLACES = "Paris;France;*\nLyon;France;*\nRome;Italy;*\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hospital.yaml").write_text(CONTRACT)
    (tmp_path / "places.csv").write_text(PLACES)
    return tmp_path


def declare(folder, *changes, content=CONTRACT):
    for old, new in changes:
        assert old in content
        content = content.replace(old, new)
    (folder / "hospital.yaml").write_text(content)
    return folder / "hospital.yaml"


def faults(path):
    with pytest.raises(ContractError) as refused:
        load_contract(path)
    assert refused.value.where == str(path)
    return refused.value.faults


def test_a_contract_is_read_with_the_hierarchies_beside_it(folder):
    loaded = load_contract(folder / "hospital.yaml")
    assert loaded.contract.quasi_identifiers[1].labels == ("Paris", "Lyon", "Rome")
    assert loaded.contract.quasi_identifiers[1].hierarchy[0] == ("Paris", "France", "*")
    assert loaded.hierarchies == ("places.csv",)
    assert loaded.sha256 == hashlib.sha256(CONTRACT.encode()).hexdigest()


def test_what_the_contract_names_is_relative_to_it_wherever_one_stands(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    loaded = load_contract((folder / "hospital.yaml").relative_to(folder.parent))
    monkeypatch.chdir("/")
    assert loaded.path == folder / "hospital.yaml"
    assert loaded.resolve("snapshots/x.csv") == folder / "snapshots" / "x.csv"
    assert str(loaded.resolve("/data/x.csv")) == "/data/x.csv"


def test_no_and_yes_are_labels(folder):
    assert load_contract(folder / "hospital.yaml").contract.quasi_identifiers[2].labels == ("no", "yes")


def test_a_number_with_leading_zeros_is_no_octal_number(folder):
    path = declare(folder, ("[0, 120]", "[010, 120]"))
    assert faults(path) == [("quasi_identifiers[age].domain[0]", "must be a number within 2^53, not 010")]


def test_a_date_that_does_not_exist_is_a_fault_among_the_others(folder):
    path = declare(folder, ("2024-01-01", "2024-02-30"), ("series: v1", "series: 1"))
    assert faults(path) == [
        ("series", "must be text: write 1 in quotes"),
        ("releases.first", "must be a date, YYYY-MM-DD, not 2024-02-30"),
    ]


def test_no_file_or_a_folder_is_said(tmp_path):
    assert faults(tmp_path / "none.yaml") == [("", "there is no such file")]
    assert faults(tmp_path) == [("", "is a folder, not a YAML file")]


@pytest.mark.parametrize("content", ["", "# nothing yet\n", "---\n"])
def test_an_empty_file_says_so(folder, content):
    ((key, message),) = faults(declare(folder, content=content))
    assert (key, message.split(":")[0]) == ("", "is empty")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("product: hospital\nseries: v1: v2\n", 2),
        ("product: [hospital\nseries: v1\n", 2),
        ("product: hospital\n\tseries: v1\n", 2),
        ("product: a\n---\nproduct: b\n", 2),
        ("product: a\nseries: !!python/object/apply:os.getcwd []\n", 2),
        ("product: a\n? [1, 2]\n: 3\n", 2),
    ],
)
def test_what_is_not_yaml_is_told_by_its_line(folder, content, line):
    ((key, message),) = faults(declare(folder, content=content))
    assert key == f"line {line}"
    assert message.startswith("is not YAML: ")


def test_what_is_not_utf_8_is_told_by_its_line(folder):
    (folder / "hospital.yaml").write_bytes(b"product: a\nseries: \xff\n")
    ((key, message),) = faults(folder / "hospital.yaml")
    assert (key, message.split(":")[0]) == ("line 2", "is not text in UTF-8")


@pytest.mark.parametrize("content", ["product: !!int a\n", "[" * 3000])
def test_what_yaml_chokes_on_is_one_fault(folder, content):
    assert len(faults(declare(folder, content=content))) == 1


def test_a_key_given_twice_is_told_with_its_lines_among_the_other_faults(folder):
    path = declare(folder, ("series: v1\n", "series: v1\nseries: v2\n"), ("m: 4", "m: 1"))
    assert faults(path) == [
        ("series", "is given twice, in lines 2 and 3"),
        ("principle.m", "m (1) must be at least 2"),
    ]
    assert faults(declare(folder, ("m: 4", "m: 4, m: 2"))) == [("m", "is given twice, in lines 11 and 11")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "places.csv, holds no labels"),
        (b"Paris;France;*\nLyon;*\n", f"places.csv, line 2: has 2 labels, line 1 has 3: {AS_DEEP}"),
        (
            b"Paris;France;*\n\nRome;Italy;*\n",
            "places.csv, line 2: has an empty entry; write leaf;parent;…;root, or one value",
        ),
        (b"Paris;;*\n", "places.csv, line 1: has an empty entry; write leaf;parent;…;root, or one value"),
        (b"Paris;*\nRome;*\nParis;*\n", "places.csv, line 3: Paris is in line 1 already"),
        (b"Z\xfcrich;*\n", "places.csv: is not text in UTF-8"),
        (None, "places.csv: there is no such file in {folder}"),
    ],
)
def test_a_hierarchy_file_that_is_none_is_told_by_file_and_line(folder, content, message):
    (folder / "places.csv").write_bytes(content) if content is not None else (folder / "places.csv").unlink()
    path = declare(folder, ("m: 4", "m: 1"))
    assert faults(path) == [
        ("quasi_identifiers[birthplace].hierarchy", message.format(folder=folder)),
        ("principle.m", "m (1) must be at least 2"),
    ]


def test_a_name_too_long_for_a_hierarchy_file_is_told(folder):
    file = folder / "hospital.yaml"
    file.write_text(file.read_text().replace("places.csv", "x" * 300))
    with pytest.raises(ContractError, match="x: can't be read: File name too long"):
        load_contract(file)


def test_a_hierarchy_written_by_a_spreadsheet_is_read(folder):
    (folder / "places.csv").write_bytes(b'\xef\xbb\xbfParis;"La France"\r\nLyon;"La France"\r\n')
    hierarchy = load_contract(folder / "hospital.yaml").contract.quasi_identifiers[1].hierarchy
    assert hierarchy == (("Paris", "La France"), ("Lyon", "La France"))


def test_the_values_there_can_be_are_listed_in_a_file(folder):
    """They are text, as the labels of a hierarchy are; what follows in a line is for people."""
    (folder / "codes.csv").write_bytes(b'\xef\xbb\xbfJ45;"Asthma; allergic"\r\nI10;-\r\n250;-\r\n012;-\r\n')
    loaded = load_contract(declare(folder, ("name: disease", "name: disease, values: codes.csv")))
    assert loaded.contract.sensitive.values == ("J45", "I10", "250", "012")
    assert loaded.hierarchies == ("places.csv", "codes.csv")
    digest = loaded.contract.privacy_digest()
    (folder / "codes.csv").write_text("J45\nI10\n250\n013\n")
    assert load_contract(loaded.path).contract.privacy_digest() != digest


def test_files_of_values_are_those_of_each_of_several_columns_and_missing_ones_are_added(folder):
    (folder / "codes.csv").write_text("J45\nI10\nM10\nK21\n")
    several = "[{name: disease, values: codes.csv, missing: publish}, {name: drug}]"
    path = declare(folder, ("{name: disease}", several), ("m: 4}", "m: 4, on_value_change: refuse}"))
    disease, drug = load_contract(path).contract.sensitive.columns
    assert (disease.values[-2:], drug.values) == (("K21", "(missing)"), None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "codes.csv: has no values; write one in each line"),
        (b"Disease\nJ45\n", "codes.csv, line 1: Disease is the column's name, and no value: leave it out"),
        (b"J45\n\nI10\n", "codes.csv, line 2: has an empty entry; write leaf;parent;…;root, or one value"),
        (b"J45\nI10\nJ45\n", "lists J45 more than once"),
        (b"Z\xfcrich\n", "codes.csv: is not text in UTF-8"),
        (None, "codes.csv: there is no such file in {folder}"),
    ],
)
def test_a_file_of_values_that_is_none_is_told(folder, content, message):
    if content is not None:
        (folder / "codes.csv").write_bytes(content)
    path = declare(folder, ("name: disease", "name: disease, values: codes.csv"))
    assert faults(path) == [("sensitive.values", message.format(folder=folder))]


NOT_ACCEPTED = "is not a schedule that Dagster accepts: five fields"
TWICE_A_DAY = "ticks more than once a day, and releases are named by their date"


@pytest.mark.parametrize(
    ("crons", "words"),
    [
        (["monthly", "0 0 * *", "0 0 30 2 *", "61 0 * * *"], NOT_ACCEPTED),
        (["* * * * *", "0 0,12 1 * *", "0,30 0 1 1 *"], TWICE_A_DAY),
        (["0 0 31 2,4 *"], "never ticks on or after 2024-01-01"),
    ],
)
def test_a_schedule_that_dates_no_releases_is_refused(folder, crons, words):
    for cron in crons:
        ((key, message),) = faults(declare(folder, ("0 0 1 */3 *", cron)))
        assert key == "releases.cron"
        assert message.startswith(f"{cron} {words}")


@pytest.mark.parametrize(
    ("first", "cron", "release"),
    [
        ("2024-01-01", "0 0 1 */3 *", "2024-01-01"),
        ("2024-01-02", "0 0 1 */3 *", "2024-04-01"),
        ("2024-01-01", "30 6 * * 1", "2024-01-01"),
        ("2024-01-01", "0 0 29 2 *", "2024-02-29"),
    ],
)
def test_the_first_release_is_the_first_tick_on_or_after_the_declared_date(folder, first, cron, release):
    path = declare(folder, ("2024-01-01", first), ("0 0 1 */3 *", cron))
    assert load_contract(path).first_release == release


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_says_so(folder):
    (folder / "hospital.yaml").chmod(0)
    assert faults(folder / "hospital.yaml") == [("", "can't be read: Permission denied")]


def test_a_contract_of_too_many_columns_is_refused_before_they_are_read(folder, monkeypatch):
    """What is said of each column is not looked at: here it is wrong, and not named."""
    monkeypatch.setenv("REPUBLISH_LIMITS", "columns=3")
    column = "  - {name: age, kind: number, domain: [0, 120], min_width: 2}\n"
    (folder / "hospital.yaml").write_text(CONTRACT.replace(column, "  - {name: 1}\n  - {name: 2}\n"))
    with pytest.raises(LimitError, match="has 4 columns, and 3 are read at most"):
        load_contract(folder / "hospital.yaml")
