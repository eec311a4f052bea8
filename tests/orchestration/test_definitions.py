"""What Dagster loads: every product that the home knows, and none hides another."""

import logging

import dagster as dg
import pytest

from republish.orchestration import definitions
from republish.orchestration.contracts import registry
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.contracts.registry import register
from republish.orchestration.storage.home import Home
from tests.hospital import RELEASES


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
    assert {schedule.name for schedule in repository.schedule_defs} >= {"release_clinic_schedule"}
    assert {sensor.name for sensor in repository.sensor_defs} >= {"release_clinic_arrival"}


def test_a_contract_with_faults_is_left_out_and_named(home, hospital, caplog):
    hospital.declare(product="clinic")
    register(home, load_contract(hospital.contract))
    hospital.contract.write_text("product: clinic\n")
    with caplog.at_level(logging.WARNING):
        jobs = {job.name for job in loaded().get_all_jobs()}
    assert not {"release_hospital", "release_clinic"} & jobs
    assert str(hospital.contract) in caplog.text


def test_a_home_without_any_contract_loads(home, tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "SHIPPED", tmp_path / "nowhere")
    assert isinstance(loaded(), dg.RepositoryDefinition)


def test_a_product_is_the_series_of_the_contract_released_last(home, hospital):
    register(home, load_contract(hospital.contract))
    job = loaded().get_job("release_hospital")
    assert job.partitions_def.get_partition_keys()[:3] == list(RELEASES)
