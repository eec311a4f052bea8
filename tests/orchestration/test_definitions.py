"""What Dagster loads: every product that the home knows, and none hides another."""

import dagster as dg
import pytest

from republish.orchestration import definitions
from republish.orchestration.contracts import registry
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.contracts.registry import register
from republish.orchestration.dagster.component import ReleaseProduct
from republish.orchestration.storage.home import Home
from tests.hospital import RELEASES, make


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("REPUBLISH_HOME", str(tmp_path / "home"))
    return Home.at()


def loaded():
    return definitions.defs().get_repository_def()


def test_a_new_home_shows_the_contracts_that_are_shipped(home):
    assert "release_hospital" in {job.name for job in loaded().get_all_jobs()}


def test_a_contract_that_was_released_is_shown_from_then_on(home, hospital):
    hospital.declare(product="clinic")
    register(home, load_contract(hospital.contract))
    repository = loaded()
    jobs = {job.name for job in repository.get_all_jobs()}
    assert "release_clinic" in jobs
    assert "release_hospital" not in jobs  # the example is for a home without a product of its own
    assert {schedule.name for schedule in repository.schedule_defs} >= {"release_clinic_v1_schedule"}
    assert {sensor.name for sensor in repository.sensor_defs} >= {"release_clinic_v1_arrival"}


def test_a_contract_with_faults_leaves_other_products_and_its_own_releases_to_be_seen(home, hospital):
    make(hospital.series(home.path), RELEASES[0])
    register(home, load_contract(hospital.contract))
    clinic = hospital.folder / "clinic.yaml"
    clinic.write_text(hospital.contract.read_text().replace("product: hospital", "product: clinic"))
    register(home, load_contract(clinic))
    whole = loaded().asset_graph
    hospital.contract.write_text('product: hospital\n"*<b>[x]": y\n')
    repository = loaded()
    graph = repository.asset_graph
    assert {job.name for job in repository.get_all_jobs()} & {"release_hospital", "release_clinic"} == {
        "release_clinic"
    }
    assert {"release_hospital_v1_arrival"}.isdisjoint(sensor.name for sensor in repository.sensor_defs)
    assert graph.get_all_asset_keys() == whole.get_all_asset_keys()
    for key in graph.get_all_asset_keys():
        assert graph.get(key).is_executable == (key.path[0] == "clinic")
    shown = graph.get(dg.AssetKey(["hospital", "publication"]))
    assert shown.partitions_def.get_partition_keys() == [RELEASES[0]]
    for words in ("Nothing can be released", str(hospital.contract), "\n- identifier: is missing", "Reload"):
        assert words in shown.description
    assert r"\*\<b>\[x]: is unknown" in shown.description  # Markdown, which has no say in it


def test_the_fault_of_a_contract_is_a_check_that_fails_until_it_is_mended(home, hospital):
    """Also of a product that has no release yet; a message says so, too, as of releases that are late."""
    register(home, load_contract(hospital.contract))
    valid = hospital.contract.read_text()
    hospital.contract.write_text("product: hospital\n")
    repository, key = loaded(), dg.AssetKey(["hospital", "publication"])
    assert {check.name for check in repository.asset_graph.asset_check_keys} == {"contract"}
    sensor = repository.get_sensor_def("release_hospital_watch")
    with dg.DagsterInstance.ephemeral() as instance:
        context = dg.build_sensor_context(instance=instance, repository_def=repository)
        (found,) = sensor.evaluate_tick(context).asset_events
        assert (found.asset_key, found.passed) == (key, False)
        assert "identifier: is missing" in found.description
        hospital.contract.write_text(valid)
        (found,) = sensor.evaluate_tick(context).asset_events
        assert found.passed
        assert "Reload definitions" in found.description


def test_a_contract_that_is_gone_or_declares_another_product_now_is_said(home, hospital):
    register(home, load_contract(hospital.contract))
    text = hospital.contract.read_text()
    hospital.contract.unlink()
    graph, key = loaded().asset_graph, dg.AssetKey(["hospital", "publication"])
    assert "there is no such file" in graph.get(key).description
    hospital.contract.write_text(text.replace("product: hospital", "product: clinic"))
    graph = loaded().asset_graph
    assert "declares the product clinic now" in graph.get(key).description
    assert graph.get(dg.AssetKey(["clinic", "publication"])).is_executable


def test_whatever_is_wrong_with_a_product_hides_no_other_one(home, hospital, monkeypatch):
    register(home, load_contract(hospital.contract))
    clinic = hospital.folder / "clinic.yaml"
    clinic.write_text(hospital.contract.read_text().replace("product: hospital", "product: clinic"))
    register(home, load_contract(clinic))
    made = ReleaseProduct.definitions

    def damaged(self, folder, among):
        if self.contract == "hospital.yaml":
            raise KeyError
        return made(self, folder, among)

    monkeypatch.setattr(ReleaseProduct, "definitions", damaged)
    repository = loaded()
    assert repository.has_job("release_clinic")
    described = repository.asset_graph.get(dg.AssetKey(["hospital", "publication"])).description
    assert "unexpected KeyError in " in described


def test_a_home_without_any_contract_loads(home, tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "SHIPPED", tmp_path / "nowhere")
    assert isinstance(loaded(), dg.RepositoryDefinition)


def test_a_product_is_the_series_of_the_contract_released_last(home, hospital):
    register(home, load_contract(hospital.contract))
    job = loaded().get_job("release_hospital")
    assert job.partitions_def.get_partition_keys()[:3] == list(RELEASES)
