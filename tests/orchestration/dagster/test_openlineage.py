"""Events of releases, received by OpenLineage's own client; none without its configuration."""

import json
import sys

import dagster as dg
import pytest

from republish.anonymize.errors import RepublishError
from republish.orchestration.dagster.openlineage import told_to_openlineage
from republish.orchestration.dagster.run import make_release
from tests.hospital import IDENTIFIER, RELEASES, manifest

FIRST = RELEASES[0]


def make(series):
    with dg.DagsterInstance.ephemeral() as instance:
        return make_release(series, FIRST, instance)


@pytest.fixture
def received(tmp_path, monkeypatch):
    """The events that were received so far, by a transport into a file."""
    pytest.importorskip("openlineage.client", reason="openlineage-python is not installed")
    events, config = tmp_path / "events.jsonl", tmp_path / "lineage.yml"
    config.write_text(f"transport: {{type: file, log_file_path: {events}, append: true}}\n")
    monkeypatch.setenv("OPENLINEAGE_CONFIG", str(config))
    return lambda: [json.loads(line) for line in events.read_text().splitlines()]


def test_a_release_starts_and_completes_with_columns_and_rows(received, hospital, tmp_path):
    make(hospital.series(tmp_path / "new"))
    start, complete = received()
    assert [start["eventType"], complete["eventType"]] == ["START", "COMPLETE"]
    assert start["run"]["runId"] == complete["run"]["runId"]
    (snapshot,) = start["inputs"]
    assert "disease" in {one["name"] for one in snapshot["facets"]["schema"]["fields"]}
    rows = {
        one["name"].split("/")[-1]: one["outputFacets"]["outputStatistics"]["rowCount"]
        for one in complete["outputs"]
    }
    stated = manifest(tmp_path / "new", FIRST)["files"]
    assert rows == {name.split(".")[0]: one["rows"] for name, one in stated.items() if "rows" in one}
    assert not IDENTIFIER.search(json.dumps([start, complete]).encode())
    assert "patient_id" not in json.dumps([start, complete])


def test_a_refused_release_fails_without_its_words(received, hospital, tmp_path):
    series = hospital.declare(expect={"people": [1, 2]}).series(tmp_path / "new")
    with pytest.raises(RepublishError):
        make(series)
    start, failed = received()
    assert [start["eventType"], failed["eventType"]] == ["START", "FAIL"]
    assert failed.get("outputs") == []


def test_a_transport_that_fails_fails_no_release(received, hospital, tmp_path, monkeypatch, capfd):
    config = tmp_path / "broken.yml"
    config.write_text("transport: {type: nothing}\n")
    monkeypatch.setenv("OPENLINEAGE_CONFIG", str(config))
    series = hospital.series(tmp_path / "new")
    make(series)
    assert series.is_published(FIRST)
    assert "OpenLineage: no START event" in capfd.readouterr().err


def test_without_a_configuration_nothing_is_imported_or_said(hospital, tmp_path, monkeypatch, capfd):
    monkeypatch.delenv("OPENLINEAGE_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "openlineage.client", None)  # an import of it would be said
    series = hospital.series(tmp_path / "new")
    with told_to_openlineage(series, FIRST, "a run"):
        pass
    assert capfd.readouterr().err == ""
    (tmp_path / "openlineage.yml").write_text("transport: {type: console}\n")
    with told_to_openlineage(series, FIRST, "a run"):
        pass
    assert "no START event: ModuleNotFoundError" in capfd.readouterr().err
