"""What codes of statistics programs mean: their labels, and the reasons why a value is missing."""

import json
import random
import re
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import polars as pl
import pytest
import yaml

from republish.anonymize.errors import ContractError, SnapshotError
from republish.orchestration.catalogue.write import write_catalogues
from republish.orchestration.chain.delta import changed_labels
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.drafts.draft import draft_of
from republish.orchestration.drafts.found import in_files
from republish.orchestration.drafts.roles import likely_identifier, likely_sensitive, roles_of
from republish.orchestration.series.series import Series
from republish.orchestration.snapshots.files import read_file
from republish.orchestration.snapshots.labels import Codes, describe_reasons, relabelled
from republish.orchestration.snapshots.sources import source_of
from republish.orchestration.storage.home import Home
from tests.hospital import make

pyreadstat = pytest.importorskip("pyreadstat")
TOWNS = ["Aldorf", "Birkheim", "Cellwig", "Dornau"]
ILLS = ["asthma", "diabetes", "flu", "gout", "migraine", "ulcer"]
CONTRACT = {
    "product": "codes",
    "series": "v1",
    "title": "Codes",
    "description": "People of four towns.",
    "contact": "a@b.example",
    "governance": {"controller": "An office"},
    "catalogue": {"address": "https://a.example/codes", "access": "public"},
    "source": {"path": "{release}.sav"},
    "releases": {"first": "2024-01-01", "cron": "@yearly", "last": "2025-01-01"},
    "identifier": "id",
    "quasi_identifiers": [
        {"name": "age", "kind": "number", "domain": [0, 119]},
        {"name": "town", "kind": "category", "order": ["1", "2", "3", "4"]},
    ],
    "sensitive": {"name": "ill", "values": ["1", "2", "3", "4", "5", "6"]},
    "principle": {"name": "m_invariance", "m": 2},
}


def people(number=60):
    chance = random.Random(1)
    return pl.DataFrame(
        {
            "id": [f"P{at}" for at in range(number)],
            "age": [float(chance.randint(18, 89)) for _ in range(number)],
            "town": [float(chance.randint(1, 3)) for _ in range(number)],
            "ill": [at % 6 + 1.0 for at in range(number)],
        }
    )


def labelled(names):
    return {float(code): name for code, name in enumerate(names, 1)}


def deliver(folder, release, towns, table=None, **missing):
    labels = {"town": labelled(towns), "ill": labelled(ILLS)}
    file = folder / f"{release}.sav"
    pyreadstat.write_sav(
        people() if table is None else table, str(file), variable_value_labels=labels, **missing
    )
    return file


@pytest.fixture
def declared(tmp_path):
    def write(**keys):
        text = yaml.safe_dump(CONTRACT | keys, sort_keys=False)
        (tmp_path / "codes.yaml").write_text(re.sub(r"'(\d{4}-\d\d-\d\d)'", r"\1", text))
        return Series(load_contract(tmp_path / "codes.yaml"), Home.at(tmp_path / "home"))

    return write


CHANGES = [
    ({"1": "Birkheim", "2": "Cellwig"}, {"1": "Aldorf", "2": "Birkheim"}, 2),  # one is inserted before them
    ({"1": "Birkheim", "2": "Cellwig"}, {"1": "Cellwig", "2": "Birkheim"}, 2),
    ({"1": "Birkheim"}, {"11": "Birkheim"}, 1),  # another code for the same label
    ({"1": "Birkheim"}, {"1": "  birkheim"}, 0),
    ({"1": "Birkheim"}, {"1": "Birkheim", "2": "Aldorf"}, 0),  # a label more
    ({"1": "Birkheim", "2": "Cellwig"}, {"1": "Birkheim"}, 0),  # nothing is known of 2 any more
    ({"2": "male", "3": "male"}, {"2": "male", "3": "male"}, 0),
    ({"2": "male"}, {"2": "male", "3": "male"}, 0),
]


@pytest.mark.parametrize(("before", "now", "changed"), CHANGES)
def test_a_code_with_another_label_means_something_else(before, now, changed):
    assert len(relabelled({"town": before}, {"town": now}).get("town", [])) == changed
    assert relabelled({"town": before}, {"street": now}) == {}


@pytest.mark.slow("makes two releases")
def test_a_code_whose_label_changed_is_refused_by_name_until_it_is_accepted(declared, tmp_path):
    deliver(tmp_path, "2024-01-01", TOWNS[1:])
    deliver(tmp_path, "2025-01-01", TOWNS)
    make(declared(), "2024-01-01")
    with pytest.raises(SnapshotError, match=r"town: 1 was Birkheim and is Aldorf, .*accept: .*\[labels\]"):
        make(declared(), "2025-01-01")
    make(series := declared(accept={"2025-01-01": ["labels"]}), "2025-01-01")
    package = json.loads((series.published("2025-01-01") / "datapackage.json").read_text())
    assert package["republish"]["labels"]["town"] == dict(zip("1234", TOWNS, strict=True))
    fields = {one["name"]: one for one in package["resources"][0]["schema"]["fields"]}
    assert fields["town_low"]["categories"][0] == {"value": "1", "label": "Aldorf"}
    assert fields["ill"]["categories"][2] == {"value": "3", "label": "flu"}
    assert "categories" not in fields["age_low"]
    write_catalogues(series, tmp_path / "catalogue")
    book = ET.parse(tmp_path / "catalogue/2025-01-01/ddi.xml").getroot()  # noqa: S314 - our own
    towns = book.iterfind(".//{*}var[@name='town_low']/{*}catgry")
    assert [(one[0].text, one[1].text) for one in towns] == [*zip("1234", TOWNS, strict=True)]
    croissant = json.loads((tmp_path / "catalogue/2025-01-01/croissant.json").read_text())
    (towns,) = (one for one in croissant["recordSet"] if one["@id"] == "labels/town")
    assert towns["data"][0] == {"labels/town/code": "1", "labels/town/label": "Aldorf"}


@pytest.mark.slow("makes three releases")
def test_what_a_code_meant_is_remembered_where_a_file_says_nothing(declared, tmp_path):
    deliver(tmp_path, "2024-01-01", TOWNS)
    pyreadstat.write_sav(people(), str(tmp_path / "2025-01-01.sav"))
    deliver(tmp_path, "2026-01-01", TOWNS[::-1])
    releases = {"first": "2024-01-01", "cron": "@yearly", "last": "2026-01-01"}
    series = make(declared(releases=releases), "2024-01-01", "2025-01-01")
    with pytest.raises(SnapshotError, match="town: 1 was Aldorf and is Dornau"):
        make(series, "2026-01-01")


@pytest.mark.parametrize(("labels", "folders"), [({}, 0), ({"labels": {"ill": {"1": "asthma"}}}, 3)])
def test_earlier_snapshots_are_read_where_this_one_has_labels(tmp_path, labels, folders):
    asked, before = [], ["2024-01-01", "2024-02-01", "2024-03-01"]
    calendar = SimpleNamespace(until=lambda release: [*before, release])
    series = SimpleNamespace(calendar=calendar, private=lambda one: asked.append(one) or tmp_path / one)
    (tmp_path / "snapshot.json").write_text(json.dumps(labels))
    assert changed_labels(series, "2024-04-01", SimpleNamespace(folder=tmp_path), tmp_path) == {}
    assert len(asked) == folders


def test_labels_are_read_in_place_of_codes(declared, tmp_path):
    deliver(tmp_path, "2024-01-01", TOWNS)
    attributes = [CONTRACT["quasi_identifiers"][0], {"name": "town", "kind": "category", "order": TOWNS}]
    source = {"path": "{release}.sav", "labels": True}
    ill = {"name": "ill", "values": ILLS}
    file = declared(source=source, quasi_identifiers=attributes, sensitive=ill).file
    read = source_of(file, "2024-01-01")
    table = read.pieces().whole("here")
    assert table["town"].to_list() == [TOWNS[int(code) - 1] for code in people()["town"]]
    assert table["ill"].unique().sort().to_list() == ILLS
    assert table["age"].dtype == pl.Int64
    assert read.stated() == {}  # labels of codes that nobody publishes are not compared


def test_two_codes_with_one_label_stay_two(declared, tmp_path):
    deliver(tmp_path, "2024-01-01", ["Ulm", "Bonn", "Bonn"])
    codes = source_of(declared().file, "2024-01-01").pieces().whole("here")["town"]
    assert codes.to_list() == people()["town"].to_list()
    file = declared(source={"path": "{release}.sav", "labels": True}).file
    with pytest.raises(SnapshotError, match="town: 2 and 3 both have the label Bonn: give each code"):
        source_of(file, "2024-01-01").pieces().whole("here")


@pytest.mark.parametrize("path", ["{release}.csv", "{release}.xlsx", "{release}.xpt"])
def test_labels_of_files_that_have_none(declared, path):
    with pytest.raises(ContractError, match=r"labels are in files that end in \.sas7bdat, \.sav, \.dta"):
        declared(source={"path": path, "labels": True})


def test_files_of_a_folder_with_different_labels(declared, tmp_path):
    (tmp_path / "2024-01-01").mkdir()
    deliver(tmp_path / "2024-01-01", "a", TOWNS)
    deliver(tmp_path / "2024-01-01", "b", TOWNS[::-1])
    source = source_of(declared(source={"path": "{release}/*.sav"}).file, "2024-01-01")
    with pytest.raises(SnapshotError, match="another file of the folder has other labels: 1 was Aldorf"):
        source.pieces().whole("here")


def of_spss(folder):
    table = people(6).with_columns(town=pl.Series([1.0, 2.0, 97.0, 98.0, 99.0, None]))
    labels = {"town": {1.0: "Aldorf", 97.0: "refused", 98.0: "not asked"}}
    pyreadstat.write_sav(
        table,
        str(file := folder / "a.sav"),
        variable_value_labels=labels,
        missing_ranges={"town": [{"lo": 97, "hi": 99}]},
    )
    return file, {"(refused)": 1, "(not asked)": 1, "(99)": 1}, ["1", "2", "(refused)", None, None, None]


def of_stata(folder):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"id": list("abcdef"), "town": [1, 2, "a", "b", "z", None]})
    pyreadstat.write_dta(
        table,
        str(file := folder / "a.dta"),
        variable_value_labels={"town": {1: "Aldorf", "a": "refused", "b": "not asked"}},
        missing_user_values={"town": ["a", "b", "z"]},
    )
    return file, {"(refused)": 1, "(not asked)": 1, "(z)": 1}, ["1", "2", "(refused)", None, None, None]


@pytest.mark.parametrize("written", [of_spss, of_stata])
def test_a_value_that_is_missing_for_a_reason_is_no_number(tmp_path, written):
    """It is missing, and the reason is counted; where a contract lists the reason, it is a label."""
    file, reasons, listed = written(tmp_path)
    read, _ = read_file(file, "here", codes=(codes := Codes()))
    assert read["town"].to_list() == [1, 2, None, None, None, None]
    assert codes.no_answers["town"] == reasons
    (said,) = describe_reasons(codes.stated())
    assert said.startswith("town: missing for a reason: 1 (")
    read, _ = read_file(file, "here", codes=Codes(listed={"town": frozenset({"(refused)"})}))
    assert read["town"].to_list() == listed


def drafted(folder):
    found = in_files(folder)
    person = likely_identifier(found.columns, found.unique)
    secret = likely_sensitive([one for one in found.columns if one is not person])
    return draft_of(found, roles_of(found.columns, [person], secret, found.unique), "codes").text


def test_a_draft_has_codes_as_categories_with_their_labels_beside(tmp_path):
    folder = tmp_path / "snapshots"
    folder.mkdir()
    table = people().with_columns(town=pl.col("town").replace(3.0, 9.0))
    deliver(folder, "2024-01-01", TOWNS, table, missing_ranges={"town": [9]})
    text = drafted(folder)
    assert 'name: town, kind: category, order: ["1", "2"], missing: publish' in text
    assert "# labels: 1 Aldorf, 2 Birkheim\n" in text
    assert re.search(r"# reasons for no value: \d+ \(9\)", text)
    assert "# labels: 1 asthma, 2 diabetes, 3 flu" in text
    assert "name: age, kind: number" in text


def test_a_draft_of_files_with_changing_labels_reads_labels(tmp_path):
    folder = tmp_path / "snapshots"
    folder.mkdir()
    deliver(folder, "2024-01-01", TOWNS)
    deliver(folder, "2025-01-01", TOWNS[::-1])
    text = drafted(folder)
    assert "  labels: true\n" in text
    assert f"order: [{', '.join(TOWNS)}]" in text


def test_the_labels_of_a_sas_data_set_are_in_the_catalogue_beside_it(tmp_path, monkeypatch):
    """Codes stay codes. A transport file stands in for a data set, and words for a catalogue."""

    def data_set(file, **keys):
        read, about = pyreadstat.read_xport(file, **keys)
        about.variable_to_label = {"town": "TOWNS"}
        return read, about

    catalogue = SimpleNamespace(value_labels={"TOWNS": labelled(TOWNS), "OTHER": {1.0: "one"}})
    monkeypatch.setattr(pyreadstat, "read_sas7bdat", data_set)
    monkeypatch.setattr(pyreadstat, "read_sas7bcat", lambda _: (None, catalogue))
    pyreadstat.write_xport(people(), str(file := tmp_path / "people.sas7bdat"))
    found = []
    for beside in ("", "formats.sas7bcat", "others.sas7bcat", "people.sas7bcat"):
        if beside:
            (tmp_path / beside).touch()
        read, _ = read_file(file, "here", codes=(codes := Codes()))
        assert read["town"].to_list() == people()["town"].to_list()
        found.append(codes.labels.get("town") == dict(zip("1234", TOWNS, strict=True)))
    assert found == [False, True, False, True]  # of two, the one that is called like the data set
