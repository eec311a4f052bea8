"""Devices, pipes, formulas and numbers without end: refused in one line, or written as what they are."""

import csv
import json
import os

import polars as pl
import pytest

from republish.anonymize.errors import ContractError, PublishedFolderError
from republish.orchestration.audit.read.cells import _number
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.readers.estimate.command import estimate
from republish.orchestration.storage.manifest import MANIFEST, sums
from republish.orchestration.storage.store import SUMS, sha256, write_csv
from tests.hospital import RELEASES


def test_only_regular_files_are_read_as_contracts_and_hierarchies(hospital, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for endless in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(ContractError, match="is a device or a pipe"):
            load_contract(type(hospital.contract)(endless))
        declared = [{"name": "sex", "kind": "category", "hierarchy": str(endless)}]
        hospital.declare(quasi_identifiers=declared)
        with pytest.raises(ContractError, match="is no file"):
            load_contract(hospital.contract)


@pytest.mark.parametrize("domain", [[0, 10**400], [0.0, 10**400], [0, "x"], [], [None, None], ["a", "b"], {}])
def test_a_domain_that_no_contract_has_is_no_package(domain, series):
    folder = series.published(RELEASES[1])
    package = json.loads((folder / "datapackage.json").read_text())
    package["republish"]["attributes"][0]["domain"] = domain
    (folder / "datapackage.json").write_text(json.dumps(package))
    stated = json.loads((folder / MANIFEST).read_text())
    stated["files"]["datapackage.json"]["sha256"] = sha256(folder / "datapackage.json")
    (folder / MANIFEST).write_text(json.dumps(stated))
    (folder / SUMS).write_text(sums(folder, stated))
    with pytest.raises(PublishedFolderError):
        estimate(folder)


@pytest.mark.parametrize("text", ["1" * 20, "-" + "9" * 400, "1e400", "9007199254740992"])
def test_a_number_beyond_all_domains_is_no_end_of_an_interval(text):
    assert _number(text, ".", None) is None
    assert _number("9007199254740991", ".", None) == (2**53 - 1, 2**53 - 1)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_text_that_a_spreadsheet_would_run_is_text(text, tmp_path):
    table = pl.DataFrame({"row": [-1, 2], "identifier": [text, "P=1"]})
    write_csv(tmp_path / "faults.csv", table)
    with (tmp_path / "faults.csv").open(newline="") as file:
        assert list(csv.reader(file))[1:] == [["-1", f"'{text}"], ["2", "P=1"]]
