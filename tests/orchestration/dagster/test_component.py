"""The component in a team's own Dagster project: their assets, their IO manager, their code location."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from republish.anonymize.errors import ContractError
from republish.orchestration import definitions
from republish.orchestration.contracts.contract_file import load_contract
from tests.hospital import RELEASES, ROOT, make, published
from tests.team import build_project, declare

pytestmark = pytest.mark.slow("starts processes")

FIRST, SECOND, THIRD = RELEASES


@pytest.fixture
def project(hospital, tmp_path, monkeypatch):
    """A team's project with an asset that writes the snapshots, and the hospital with an inline contract."""
    folder = tmp_path / "project"
    build_project(folder, hospital)
    monkeypatch.setenv("DELIVERED", str(hospital.folder / "snapshots/hospital"))
    monkeypatch.syspath_prepend(str(folder / "src"))
    forget_the_team()  # another test's code location may have a module of this name
    yield folder
    forget_the_team()


def forget_the_team():
    for name in [name for name in sys.modules if name.split(".")[0] == "warehouse"]:
        del sys.modules[name]


def component_of(project):
    return project / "src/warehouse/defs/hospital"


def loaded(project):
    from warehouse.definitions import defs

    return defs()


def assets_of(defs):
    graph = defs.resolve_asset_graph()
    return {key: graph.get(key).parent_keys for key in graph.get_all_asset_keys()}


def test_it_is_what_the_code_location_of_republish_has(project, hospital, monkeypatch):
    monkeypatch.setenv("REPUBLISH_HOME", str(project / "var"))
    monkeypatch.setattr("republish.orchestration.contracts.registry.SHIPPED", hospital.folder)
    here, there = loaded(project), definitions.defs()
    assert assets_of(here) == assets_of(there)
    for part in ("get_all_jobs", "schedule_defs", "sensor_defs"):
        names = [getattr(defs.get_repository_def(), part) for defs in (here, there)]
        ours, theirs = ([one.name for one in (each() if callable(each) else each)] for each in names)
        assert sorted(ours) == sorted(theirs)
    checks = [defs.resolve_asset_graph().asset_check_keys for defs in (here, there)]
    assert checks[0] == checks[1]


def test_a_contract_by_path_is_the_same_product(project, hospital):
    inline = assets_of(loaded(project))
    shutil.copy(hospital.contract, component_of(project) / "contract.yaml")
    declare(component_of(project), "contract.yaml")
    assert assets_of(loaded(project)) == inline


def test_commands_read_the_contract_of_a_component(project, hospital):
    inline = load_contract(component_of(project) / "defs.yaml")
    assert inline.contract == load_contract(hospital.contract).contract
    assert inline.path.name == "defs.yaml"
    declare(component_of(project), str(hospital.contract))
    assert load_contract(component_of(project) / "defs.yaml") == load_contract(hospital.contract)


@pytest.mark.parametrize("contract", [{"product": "clinic"}, {}, "nowhere.yaml"])
def test_faults_of_a_contract_are_said_with_their_file(project, contract):
    declare(component_of(project), contract)
    with pytest.raises(Exception) as refusal:  # noqa: PT011 - Dagster's, with ours as its cause
        loaded(project)
    cause = refusal.value
    while not isinstance(cause, ContractError):
        cause = cause.__cause__ or cause.__context__
    assert ("nowhere.yaml" if isinstance(contract, str) else "defs.yaml") in str(cause)


def test_a_release_waits_for_the_team_s_asset_and_no_io_manager_sees_it(project, hospital, tmp_path):
    """Two releases, as the sensor asks for them; their bytes are those of a contract in a file."""
    defs = loaded(project)
    repository = defs.get_repository_def()
    sensor = repository.get_sensor_def("release_hospital_v1_arrival")
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        cursor = None

        def asked():
            nonlocal cursor
            context = dg.build_sensor_context(instance, cursor=cursor, repository_def=repository)
            answer, cursor = sensor(context), context.cursor
            return answer

        for release in (FIRST, SECOND):
            assert f"warehouse/patients is not materialized for {release}" in asked().skip_message
            upstream = defs.resolve_implicit_global_asset_job_def()
            key = dg.AssetKey(["warehouse", "patients"])
            assert upstream.execute_in_process(
                instance=instance, partition_key=release, asset_selection=[key]
            ).success
            assert "once it is the same at the next look" in asked().skip_message
            assert asked().partition_key == release
            job = defs.resolve_job_def("release_hospital")
            assert job.execute_in_process(instance=instance, partition_key=release).success
    series = make(hospital.series(tmp_path / "home"), FIRST, SECOND)
    of_tables = {name: content for name, content in published(series.home.path).items() if "parquet" in name}
    assert of_tables.items() <= published(project / "var").items()
    from warehouse.definitions import HANDLED

    assert HANDLED == ["warehouse/patients"] * 2


def test_dg_scaffolds_checks_and_lists_it(project, tmp_path):
    def dg_says(*words):
        paths = os.pathsep.join([str(ROOT), str(project / "src")])
        environment = os.environ | {
            "PYTHONPATH": paths,
            "DAGSTER_HOME": str(tmp_path),
            "REPUBLISH_HOME": str(tmp_path / "var"),
        }
        done = subprocess.run(
            [Path(sys.executable).with_name("dg"), *words],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    dg_says("scaffold", "defs", "republish.ReleaseProduct", "Visits 2")
    written = load_contract(project / "src/warehouse/defs/Visits 2/defs.yaml")
    assert written.contract.product == "visits_2"
    dg_says("check", "defs", "--check-yaml")
    listed = json.loads(dg_says("list", "defs", "--json"))
    keys = {asset["asset_key"] for asset in listed["assets"]}
    assert {"warehouse/patients", "hospital/publication", "visits_2/release"} <= keys
    assert "release_hospital_v1_schedule" in json.dumps(listed)
