"""A second series of a product in the UI: it has assets of its own, and the first one's stay there."""

import json

import dagster as dg
import pytest

from republish.orchestration import definitions as code_location
from republish.orchestration.contracts.registry import register
from republish.orchestration.dagster.instance import dagster_instance
from republish.orchestration.dagster.names import job_name
from republish.orchestration.dagster.run import make_release
from tests.hospital import QUIET, RELEASES, definitions, make

FIRST, SECOND, _ = RELEASES
ASSETS = {"snapshot", "delta", "buckets", "release", "counterfeits", "audit", "publication"}


@pytest.fixture
def superseding(hospital, home):
    """v2, which goes on from v1, of which two releases are published."""
    return hospital.declare(series="v2", supersedes="v1", expect={"changed": 0.5}).series(home)


def graph(series):
    return definitions(series).resolve_asset_graph()


def keys(*prefix):
    return {dg.AssetKey([*prefix, asset]) for asset in ASSETS}


def test_each_series_has_assets_of_its_own(superseding):
    found = graph(superseding)
    assert found.get_all_asset_keys() == keys("hospital") | keys("hospital", "v2")
    assert found.executable_asset_keys == keys("hospital", "v2")
    for prefix, name in ((("hospital",), "v1"), (("hospital", "v2"), "v2")):
        nodes = [found.get(key) for key in keys(*prefix)]
        assert {node.tags["republish/series"] for node in nodes} == {name}
        assert {node.group_name for node in nodes} == {"_".join(prefix)}


def test_of_the_first_series_the_published_releases_are_shown_and_no_other(superseding):
    shown = graph(superseding).get(dg.AssetKey(["hospital", "release"]))
    assert shown.partitions_def.get_partition_keys() == [FIRST, SECOND]
    assert "Series v1, as it was left." in shown.description


def test_the_lineage_says_which_release_a_series_goes_on_from(superseding):
    memory = graph(superseding).get(dg.AssetKey(["hospital", "v2", "buckets"]))
    former = dg.AssetKey(["hospital", "publication"])
    assert former in memory.parent_keys
    assert memory.partition_mappings[former].partition_keys == [SECOND]


@pytest.mark.slow("takes more than a second")
def test_the_assets_of_a_series_are_called_the_same_before_and_after_its_first_release(superseding):
    before = graph(superseding).executable_asset_keys
    make(superseding, FIRST)
    assert graph(superseding).executable_asset_keys == before


def test_of_two_series_with_other_readers_each_keeps_its_assets(hospital, home):
    """Whichever was released last: it is the one that can be made in the UI."""
    second = hospital.declare(series="v2", separate_readers=True).series(home)
    make(second, FIRST)
    assert graph(second).executable_asset_keys == keys("hospital", "v2")
    first = hospital.declare().series(home)
    assert graph(first).executable_asset_keys == keys("hospital")
    shown = graph(first).get(dg.AssetKey(["hospital", "v2", "release"]))
    assert shown.partitions_def.get_partition_keys() == [FIRST]


@pytest.mark.slow("makes and audits many releases")
def test_materializations_of_a_release_of_the_same_date_are_kept_apart(hospital, home, superseding):
    with dagster_instance(superseding.home) as instance:
        hospital.declare()
        make_release(hospital.series(home), SECOND, instance)
        hospital.declare(series="v2", supersedes="v1", expect={"changed": 0.5})
        make_release(superseding, FIRST, instance)
        made = {
            key: instance.get_materialized_partitions(dg.AssetKey([*key, "release"]))
            for key in (("hospital",), ("hospital", "v2"))
        }
    assert made == {("hospital",): {SECOND}, ("hospital", "v2"): {FIRST}}


def test_a_run_of_an_earlier_series_is_not_executed_again_for_this_one(superseding):
    job = definitions(superseding).resolve_job_def(job_name("hospital"))
    begun = {"partition_key": FIRST, "tags": {"republish/series": "v1"}, "run_config": QUIET}
    with dagster_instance(superseding.home) as instance, pytest.raises(dg.Failure) as refusal:
        job.execute_in_process(instance=instance, **begun)
    assert "this run is of series v1, and the contract declares v2" in refusal.value.description
    assert not superseding.published_folder.exists()


@pytest.mark.slow("makes and audits many releases")
def test_a_series_may_have_any_name(hospital, home, monkeypatch):
    monkeypatch.setenv("REPUBLISH_HOME", str(home))
    named = hospital.declare(series="2024.v-2", supersedes="v1", expect={"changed": 0.5}).series(home)
    register(named.home, named.file)
    found = code_location.defs().resolve_asset_graph()
    assert {found.get(key).group_name for key in found.executable_asset_keys} == {"hospital_2024_v_2"}
    with dagster_instance(named.home) as instance:
        make_release(named, FIRST, instance)


def test_series_begun_by_earlier_software_share_their_assets(superseding):
    make(superseding, FIRST)
    facts = superseding.private_folder / "series.json"
    content = json.loads(facts.read_text())
    del content["terms"]["began_alone"]
    facts.write_text(json.dumps(content))
    assert graph(superseding).executable_asset_keys == keys("hospital")


def test_a_damaged_manifest_of_an_earlier_series_hides_nothing_else(hospital, home, superseding):
    (home / f"published/hospital/v1/{SECOND}/manifest.json").write_text("{")
    assert keys("hospital", "v2") <= graph(superseding).get_all_asset_keys()
