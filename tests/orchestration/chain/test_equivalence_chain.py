"""A series under e_equivalence, from snapshot to publication: files, state, refusals."""

import frictionless
import polars as pl
import pytest

from republish.anonymize.errors import AuditFailed, ContractError
from republish.orchestration.chain import audit
from republish.orchestration.chain.candidate import compute_candidate
from republish.orchestration.chain.delta import compare_snapshots
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.dagster import metadata
from republish.orchestration.storage.manifest import verify_release
from republish.orchestration.storage.store import read_json
from tests.hospital import RELEASES, build, everything, make, published

FIRST, SECOND, THIRD = RELEASES


def equivalent(hospital, **parameters):
    promise = {"name": "e_equivalence", "m": 3, "e": 2, "on_ineligible": "counterfeit", "people_per_group": 2}
    return hospital.under(promise | parameters)


@pytest.fixture
def hospital(tmp_path):
    return equivalent(build(_folder(tmp_path)), e=3)


def _folder(tmp_path):
    folder = tmp_path / "contracts"
    folder.mkdir()
    return folder


@pytest.mark.slow("makes and audits many releases")
def test_releases_are_published_as_anatomy_and_shown_with_their_cuts(hospital, tmp_path):
    series = make(hospital.series(tmp_path / "home"), *RELEASES)
    for release in RELEASES:
        stated = verify_release(series.published(release))
        assert stated["principle"]["name"] == "e_equivalence"
        assert (stated["principle"]["m"], stated["principle"]["e"]) == (3, 3)
        names = {"quasi_identifiers.parquet", "sensitive.parquet", "counterfeits.parquet"}
        assert set(stated["files"]) == names | {"README.md", "datapackage.json"}
        tables = {name: pl.read_parquet(series.published(release) / name) for name in names}
        package = series.published(release) / "datapackage.json"
        assert frictionless.validate(str(package)).valid
        assert all(table.rows() == sorted(table.rows()) for table in tables.values())
        assert stated["tuples"] == tables["sensitive.parquet"]["count"].sum()
    committed = compute_candidate(series, THIRD)
    assert not committed.is_new
    shown = metadata.of_candidate(series, THIRD, committed)["release"]
    assert shown["smallest cut of a signature's graph (weight)"] > 4
    assert {
        "smallest cut of signatures, over the releases",
        "graph of the signature with the smallest cut",
    } <= set(shown)


@pytest.mark.slow("takes more than a second")
def test_a_larger_e_holds_from_the_next_release_on(hospital, tmp_path):
    home = tmp_path / "home"
    make(hospital.series(home), FIRST, SECOND)
    before = published(home)
    series = make(equivalent(hospital, e=5).series(home), THIRD)
    assert published(home).items() >= before.items()
    verdicts = {verdict.promise: verdict for verdict in compute_candidate(series, THIRD).verdicts}
    assert verdicts["cuts"].passed
    assert read_json(series.published(THIRD) / "manifest.json")["principle"]["e"] == 5


def test_a_series_begun_under_another_principle_cannot_go_on_under_this(tmp_path):
    hospital, home = build(_folder(tmp_path)), tmp_path / "home"
    make(hospital.series(home), FIRST)
    before = everything(home)
    with pytest.raises(ContractError, match="begin a new series"):
        make(equivalent(hospital).series(home), SECOND)
    assert (
        published(home).items() <= {key[len("/published/") :]: value for key, value in before.items()}.items()
    )


def test_a_cut_that_is_too_small_is_not_published(hospital, tmp_path, monkeypatch):
    monkeypatch.setattr("republish.anonymize.e_equivalence.plan.smallest_safe_cut", lambda _: 0)
    series = equivalent(hospital, e=150).series(tmp_path / "home")
    with pytest.raises(AuditFailed, match="cuts: Every cut weighs more than"):
        make(series, *RELEASES)
    assert not published(tmp_path / "home")


@pytest.mark.slow("makes and audits many releases")
def test_an_interrupted_release_is_made_again_on_the_state_before(hospital, tmp_path, monkeypatch):
    monkeypatch.setenv("REPUBLISH_KEY", "a key for two homes alike")
    whole = make(hospital.series(tmp_path / "whole"), *RELEASES)
    broken = make(hospital.series(tmp_path / "broken"), FIRST)
    take_snapshot(broken, SECOND)
    compare_snapshots(broken, SECOND)
    with monkeypatch.context() as patched:
        patched.setattr(audit, "judge", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            compute_candidate(broken, SECOND)
    make(broken, SECOND, THIRD)
    assert published(whole.home.path) == published(broken.home.path)
