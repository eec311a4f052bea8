"""`republish record`: the record of processing, beside what is published and what the contract states."""

import json

import pytest
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from typer.testing import CliRunner

from republish.orchestration.cli.app import app
from republish.orchestration.rights.forget import forget
from tests.hospital import IDENTIFIER, RELEASES, everything, make, manifest

FIRST, SECOND, THIRD = RELEASES
STATED = {"controller": "The hospital", "purpose": "Research on <b>care</b>", "retention": "ten years"}


def write(hospital, home, folder, *more):
    words = ["record", str(hospital.contract), "--home", str(home), "--out", str(folder), *map(str, more)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.exception
    return (folder / "record.html").read_text(), json.loads((folder / "record.json").read_text())


def test_the_record_says_what_manifests_and_the_contract_say(hospital, home, tmp_path):
    accepted = {"what": ["carried"], "by": "A. Meier", "because": "two wards closed"}
    hospital.declare(governance=STATED, accept={FIRST: ["new"], SECOND: accepted})
    before = everything(home)
    page, record = write(hospital, home, tmp_path / "record")
    assert everything(home) == before
    assert record["governance"] == STATED
    for found in record["releases"]:
        stated = manifest(home, found["release"])
        assert {name: found[name] for name in ("n", "tuples", "groups", "counterfeits", "held_back")} == {
            name: stated[name] for name in ("n", "tuples", "groups", "counterfeits", "held_back")
        }
        assert found["people"] == stated["tuples"] - stated["counterfeits"]
        assert found["found"]
        assert all(check["passed"] for check in found["found"])
    first, second = (found["accepted"] for found in record["releases"])
    assert first == {"what": ["new"], "by": None, "because": None}
    assert second == accepted
    for words in ("The hospital", "Research on &lt;b&gt;care&lt;/b&gt;", "A. Meier", "two wards closed"):
        assert words in page
    assert "not stated: governance.legal_basis" in page
    assert not IDENTIFIER.search(page.encode())


@pytest.mark.slow("takes more than a second")
def test_each_release_has_its_parameters_and_later_changes_are_listed(hospital, home, tmp_path):
    accepted = {"what": ["zipcode.min_width"], "by": "A. Meier", "because": "zones are small"}
    changes = {"principle": {"m": 4}, "expect": {"changed": 0.9}, "accept": {THIRD: accepted}}
    declared = yaml.safe_load(hospital.contract.read_text())["quasi_identifiers"]
    columns = [one | ({"min_width": 1} if one["name"] == "zipcode" else {}) for one in declared]
    make(hospital.declare(quasi_identifiers=columns, **changes).series(home), THIRD)
    page, record = write(hospital, home, tmp_path / "record")
    assert [one["principle"]["m"] for one in record["releases"]] == [3, 3, 4]
    assert [one["expect"]["changed"] for one in record["releases"]] == [None, None, 0.9]
    *earlier, last = (one["changes"] for one in record["releases"])
    assert earlier == [[], []]
    assert [tuple(one.values()) for one in last] == [
        ("m", "3", "4", None, None),
        ("expect.changed", "not declared", "0.9", None, None),
        ("zipcode.min_width", "2000", "1", "A. Meier", "zones are small"),
    ]
    assert "<td>expect.changed</td><td>not declared</td><td>0.9</td>" in page
    assert "m = 3" in page


def test_who_was_forgotten_is_a_count(hospital, home, series, tmp_path):
    page, record = write(hospital, home, tmp_path / "before")
    assert record["forgotten"] == {"people": 0, "never_again": 0}
    assert "<p>Nobody.</p>" in page
    some = sorted(hospital.snapshot(FIRST)["patient_id"])
    forget(series, some[:3], again=True)
    forget(series, some[3:5], again=False)
    page, record = write(hospital, home, tmp_path / "after")
    assert record["forgotten"] == {"people": 5, "never_again": 2}
    assert "5 people were taken out of all that is kept." in page
    assert "2 of them are left out of every later release." in page


def test_before_the_first_release_there_is_a_record(hospital, tmp_path):
    page, record = write(hospital, tmp_path / "nowhere", tmp_path / "record")
    assert record["releases"] == []
    assert "No release is published yet" in page
    assert not (tmp_path / "nowhere").exists()


def test_a_release_that_was_changed_is_not_recorded(hospital, home, tmp_path):
    file = home / f"published/hospital/v1/{FIRST}/microdata.parquet"
    file.write_bytes(file.read_bytes() + b"x")
    words = ["record", str(hospital.contract), "--home", str(home), "--out", str(tmp_path / "record")]
    result = CliRunner().invoke(app, words)
    assert str(file) in str(result.exception)
    assert not (tmp_path / "record").exists()


def test_a_signed_record_is_checked_as_an_audit_is(hospital, home, tmp_path):
    key = Ed25519PrivateKey.generate()
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    (tmp_path / "key.pub").write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    write(hospital, home, tmp_path / "record", "--sign", tmp_path / "key.pem")
    published = home / "published/hospital/v1"
    words = ["verify", published, "--report", tmp_path / "record", "--public-key", tmp_path / "key.pub"]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.exception
    assert "record.html, record.json: as signed" in result.output
    page = tmp_path / "record/record.html"
    page.write_text(page.read_text().replace("Nobody", "Somebody"))
    assert CliRunner().invoke(app, [str(word) for word in words]).exit_code != 0


@pytest.mark.parametrize(
    ("accept", "words"),
    [
        ({FIRST: {"by": "A. Meier"}}, "is missing"),
        ({FIRST: {"what": ["nothing at all"]}}, "nothing that can be accepted"),
        ({FIRST: {"what": ["carried"], "by": " "}}, "accept"),
    ],
)
def test_an_acceptance_that_is_none_is_refused(hospital, accept, words, tmp_path):
    hospital.declare(accept=accept)
    result = CliRunner().invoke(app, ["record", str(hospital.contract), "--out", str(tmp_path / "record")])
    assert words in str(result.exception)
