"""`republish catalogue`: what official shapes, schema and reader accept, and no more than is published."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from typer.testing import CliRunner

from republish.anonymize.errors import ContractError, PublishedFolderError
from republish.orchestration.cli.app import app
from tests.hospital import IDENTIFIER, RELEASES, everything, make, manifest

SCHEMAS = Path(os.environ.get("REPUBLISH_SCHEMAS", Path(__file__).parents[4] / "shared/schemas"))
"""The official shapes and schema: in the folder that is named, else beside the checkout."""
PUBLISHED = RELEASES[:2]
WORDS = {
    "title": "Inpatients <b>& others</b>",
    "description": "A row for each patient",
    "contact": "data@example.org",
    "licence": "CC-BY-4.0",
    "citation": "A Hospital (2024): Inpatients.",
    "governance": {"controller": "The hospital", "legal_basis": "a law", "purpose": "research"},
    "catalogue": {
        "address": "https://hospital.example/releases/v1",
        "access": "non_public",
        "health_categories": ["http://healthdataportal.eu/ns/health#EHRS"],
        "health_themes": ["https://www.wikidata.org/entity/Q12136"],
        "legislation": ["http://data.europa.eu/eli/reg/2025/327/oj"],
        "access_body": "Access Body",
        "population": "Inpatients",
        "min_typical_age": 0,
    },
}


def write(hospital, home, folder):
    words = ["catalogue", str(hospital.contract), "--home", str(home), "--out", str(folder)]
    result = CliRunner().invoke(app, words)
    if result.exception:
        raise result.exception
    return folder


@pytest.fixture
def written(hospital, home, tmp_path):
    hospital.declare(**WORDS)
    return write(hospital, home, tmp_path / "catalogue")


def official(name):
    if not (SCHEMAS / name).exists():
        pytest.skip(f"{SCHEMAS / name} is not there: the official shapes and schema are not in this project")
    return SCHEMAS / name


def judged(package, script, *words, content=""):
    """What a validator prints, in a process of its own: some leave streams behind, and close them later."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    command = [sys.executable, "-c", script, *map(str, words)]
    told = subprocess.run(command, input=content, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout.splitlines()[-1])


CONFORMS = """
import json, sys
import pyshacl, rdflib
shapes, graph = rdflib.Graph(), rdflib.Graph().parse(data=sys.stdin.read(), format="json-ld")
for name in sys.argv[1:]:
    shapes.parse(name)
fine, _, said = pyshacl.validate(graph, shacl_graph=shapes, advanced=True)
print(json.dumps([len(graph), fine, said]))
"""
IS_VALID = """
import json, sys
import xmlschema
schema = xmlschema.XMLSchema(sys.argv[1])
print(json.dumps([schema.is_valid(name) for name in sys.argv[2:]]))
"""
LOADED = """
import json, sys
import mlcroissant
dataset = mlcroissant.Dataset(sys.argv[1])
issues = dataset.metadata.ctx.issues
said = [*map(str, issues.errors), *map(str, issues.warnings)]
print(json.dumps([said, len(list(dataset.records("rows/microdata")))]))
"""


def conforms(content):
    shapes = [official("dcat-ap") / name for name in ("dcat-ap-SHACL-3.0.1.ttl", "range.ttl")]
    triples, fine, said = judged("pyshacl", CONFORMS, *shapes, content=json.dumps(content))
    assert triples > 50
    return fine, said


@pytest.mark.slow("takes more than a second")
def test_the_official_shapes_accept_the_catalogue(written):
    fine, text = conforms(json.loads((written / "dcat.jsonld").read_text()))
    assert fine, text


@pytest.mark.slow("takes more than a second")
def test_each_file_says_what_is_in_it(written):
    """The shapes of what is recommended ask for it: a name such as counterfeits.parquet says little."""
    content = json.loads((written / "dcat.jsonld").read_text())
    for dataset in (one for one in content["@graph"] if one["@type"] == "dcat:Dataset"):
        files = {one["dct:title"]: one["dct:description"] for one in dataset["dcat:distribution"]}
        assert files["microdata.parquet"] == "A row for each tuple: a person, or a counterfeit."
        assert files["counterfeits.parquet"].startswith("R(n): how many tuples of a group are counterfeits.")


@pytest.mark.slow("takes more than a second")
def test_the_official_schema_accepts_each_codebook(written):
    book = ET.parse(written / RELEASES[0] / "ddi.xml")  # noqa: S314 - our own
    book.getroot()[0].remove(book.getroot()[0][0])
    book.write(written / "damaged.xml")
    books = [written / release / "ddi.xml" for release in PUBLISHED]
    schema = official("ddi-codebook") / "codebook.xsd"
    assert judged("xmlschema", IS_VALID, schema, *books, written / "damaged.xml") == [True, True, False]


@pytest.mark.slow("makes and audits many releases")
def test_the_official_reader_loads_each_release(written, home):
    for release in PUBLISHED:
        content = json.loads((written / release / "croissant.json").read_text())
        folder = home / "published/hospital/v1" / release
        for one in content["distribution"]:
            one["contentUrl"] = str(folder / one["name"])
        local = folder.parent.parent / "croissant.json"
        local.write_text(json.dumps(content))
        assert judged("mlcroissant", LOADED, local) == [[], manifest(home, release)["tuples"]]


def texts(content):
    """Every text and number in a catalogue, wherever it stands."""
    if isinstance(content, dict):
        return {one for part in content.values() for one in texts(part)}
    if isinstance(content, list):
        return {one for part in content for one in texts(part)}
    return {str(content)}


def test_no_figure_is_in_a_catalogue_that_the_manifest_and_the_package_do_not_have(written, home):
    for release in PUBLISHED:
        stated = manifest(home, release)
        package = json.loads((home / "published/hospital/v1" / release / "datapackage.json").read_text())
        known = texts(stated) | texts(package) | texts(WORDS)
        known |= {str(stated["tuples"] - stated["counterfeits"])}
        known |= {str(len(one["schema"]["fields"])) for one in package["resources"] if "schema" in one}
        book = ET.parse(written / release / "ddi.xml").getroot()  # noqa: S314 - our own
        said = {one.text for one in book.iter()} | {
            text for one in book.iter() for text in one.attrib.values()
        }
        catalogue = json.loads((written / "dcat.jsonld").read_text())
        (dataset,) = (one for one in catalogue["@graph"] if one["@id"].endswith(release))
        croissant = json.loads((written / release / "croissant.json").read_text())
        del croissant["@context"]
        said |= texts(dataset) | texts(croissant)
        figures = {text for text in said if text and re.fullmatch(r"[\d.-]+|[0-9a-f]{64}", text)}
        assert figures - known - {"2.6", f"{stated['n']}.0.0"} == set()
        assert not IDENTIFIER.search(json.dumps(sorted(map(str, said))).encode())


def test_a_catalogue_is_made_without_private_folders_and_snapshots(written, hospital, home, tmp_path):
    before = everything(home / "published")
    for release in PUBLISHED:
        shutil.rmtree(home / "private/hospital/v1" / release)
    shutil.rmtree(hospital.contract.parent / "snapshots", ignore_errors=True)
    again = write(hospital, home, tmp_path / "again")
    assert everything(home / "published") == before
    assert {path.relative_to(again): path.read_bytes() for path in again.rglob("*.*") if path.is_file()} == {
        path.relative_to(written): path.read_bytes() for path in written.rglob("*.*") if path.is_file()
    }


def test_each_release_names_its_people_and_the_health_data_properties(written, home):
    catalogue = json.loads((written / "dcat.jsonld").read_text())
    datasets = [one for one in catalogue["@graph"] if one["@type"] == "dcat:Dataset"]
    for release, one in zip(PUBLISHED, datasets, strict=True):
        stated = manifest(home, release)
        people = stated["tuples"] - stated["counterfeits"]
        assert one["health:numberOfRecords"]["@value"] == str(stated["tuples"])
        assert one["health:numberOfUniqueIndividuals"]["@value"] == str(people)
        assert one["health:minTypicalAge"]["@value"] == "0"
        assert "health:maxTypicalAge" not in one


@pytest.mark.slow("takes more than a second")
def test_each_release_writes_the_records_anew(hospital, home, written):
    own = home / "catalogues/hospital/v1"
    make(hospital.series(home), RELEASES[2])
    assert {path.parent.name for path in own.rglob("ddi.xml")} == {*RELEASES[:3]}
    assert everything(write(hospital, home, written)) == everything(own)


def test_of_a_folder_that_was_changed_none_is_written(hospital, home, written, tmp_path):
    package = home / "published/hospital/v1" / PUBLISHED[0] / "datapackage.json"
    package.write_text(package.read_text().replace("Inpatients", "Outpatients"))
    with pytest.raises(PublishedFolderError, match=r"datapackage\.json"):
        write(hospital, home, tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "key", ["title", "description", "contact", "governance.controller", "governance.legal_basis", "catalogue"]
)
def test_what_the_contract_lacks_is_named_and_nothing_is_written(hospital, home, tmp_path, key):
    hospital.declare(**WORDS)
    declared = yaml.safe_load(hospital.contract.read_text())
    first, _, second = key.partition(".")
    del (declared[first] if second else declared)[second or first]
    hospital.contract.write_text(yaml.safe_dump(declared))
    needed = rf"catalogue: needs {key} \(.*\), too" if key != "catalogue" else "catalogue: is missing"
    with pytest.raises(ContractError, match=needed):
        write(hospital, home, tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.slow("takes more than a second")
def test_a_key_for_catalogues_changes_no_published_byte(hospital, home, tmp_path):
    words = {key: one for key, one in WORDS.items() if key != "catalogue"}
    plain = make(hospital.declare(**words).series(tmp_path / "plain"), RELEASES[0])
    told = make(hospital.declare(**WORDS).series(tmp_path / "told"), RELEASES[0])
    folders = (plain.published(RELEASES[0]), told.published(RELEASES[0]))
    without, having = ({one.name: one.read_bytes() for one in folder.iterdir()} for folder in folders)
    assert {name for name in having if having[name] != without[name]} <= {"manifest.json", "SHA256SUMS"}
    stated = [json.loads(one["manifest.json"]) for one in (without, having)]
    assert {key for key in stated[0] if stated[0][key] != stated[1][key]} <= {"contract_sha256"}
