"""The global guarantee and the streamliner through the whole chain: released, verified, audited, refused."""

import polars as pl
import pytest

from republish.anonymize.errors import ContractError, NotEligible
from republish.orchestration.storage.manifest import verify_series
from republish.orchestration.storage.store import read_table
from tests import findings as fi
from tests.hospital import RELEASES, audited, make, published

pytestmark = pytest.mark.slow("makes and audits many releases")

FIRST, SECOND, THIRD = RELEASES
GUARANTEE = {"name": "global_guarantee", "l": 3, "strategy": "constant_ratio", "releases": 3}
STREAMLINER = {"name": "streamliner", "l": 3, "method": "gda"}


@pytest.mark.parametrize("forget_after", [None, 1])
def test_the_global_guarantee_is_audited_by_its_probability(hospital, tmp_path, forget_after):
    hospital.under(GUARANTEE | {"forget_after": forget_after}, sensitive={"semantics": "transient"})
    series = make(hospital.series(tmp_path / "home"), FIRST, SECOND)
    assert [manifest["principle"]["l"] for manifest in verify_series(series.published_folder)] == [3] * 2
    code, promises = audited(hospital, series, tmp_path / "report")
    assert (code, promises[fi.BREACH]["holds"]) == (0, True)
    assert promises[fi.BREACH]["required"] == pytest.approx(1 / 3)
    assert promises[fi.BREACH]["found"] <= 1 / 3 + 1e-9
    links = read_table(series.private(SECOND) / "state-links.parquet")
    present = hospital.snapshot(SECOND)["patient_id"]
    everybody = pl.concat([hospital.snapshot(FIRST)["patient_id"], present]).n_unique()
    people = links["person"].n_unique()
    assert people == (everybody if forget_after is None else len(present))
    assert everybody > len(present)


def test_without_manifests_the_auditor_counts_what_the_contract_promises(hospital, tmp_path):
    hospital.under(GUARANTEE, sensitive={"semantics": "transient"})
    series = make(hospital.series(tmp_path / "home"), FIRST, SECOND)
    for manifest in series.published_folder.rglob("manifest.json"):
        manifest.unlink()
    _, promises = audited(hospital, series, tmp_path / "report")
    assert promises[fi.BREACH]["holds"]
    hospital.under(GUARANTEE | {"l": 8}, sensitive={"semantics": "transient"})
    _, promises = audited(hospital, series, tmp_path / "report")
    assert not promises[fi.BREACH]["holds"]
    assert promises[fi.BREACH]["required"] == pytest.approx(1 / 8)


def test_the_streamliner_publishes_one_release_and_refuses_the_second(hospital, tmp_path):
    hospital.under(STREAMLINER)
    series = make(hospital.series(tmp_path / "home"), FIRST)
    before = published(tmp_path / "home")
    with pytest.raises(NotEligible, match="release 2 is refused: the streamliner is safe for one release"):
        make(series, SECOND)
    assert published(tmp_path / "home") == before
    code, promises = audited(hospital, series, tmp_path / "report")
    assert code == 0
    assert {fi.CANDIDATES, fi.SHARE} <= promises.keys()
    assert promises[fi.ALGORITHM]["holds"]
    assert promises[fi.ALGORITHM]["undecided"] == promises[fi.ALGORITHM]["people"]
    said = (series.published_folder / FIRST / "README.md").read_text()
    assert "An adversary who knows the algorithm" in said
    assert "above 0.333" in said


def test_m_invariance_with_exact_quasi_identifiers_through_the_whole_chain(hospital, tmp_path):
    hospital.under(
        {
            "name": "m_invariance",
            "m": 3,
            "on_ineligible": "counterfeit",
            "people_per_group": 2,
            "format": "anatomy",
        }
    )
    series = make(hospital.series(tmp_path / "home"), FIRST)
    assert [manifest["format"] for manifest in verify_series(series.published_folder)] == ["anatomy"]
    code, promises = audited(hospital, series, tmp_path / "report", private=False)
    assert code == 0
    assert promises[fi.CANDIDATES]["found"] >= 3
    assert {fi.SIGNATURES, fi.SHARE} <= promises.keys()
    hospital.under({"name": "m_invariance", "m": 3, "on_ineligible": "counterfeit", "people_per_group": 2})
    with pytest.raises(ContractError, match="format: anatomy -> generalization"):
        make(hospital.series(tmp_path / "home"), SECOND)


def test_m_invariance_against_who_knows_the_algorithm_through_the_whole_chain(hospital, tmp_path):
    principle = {"name": "m_invariance", "m": 3, "adversary": "knows_algorithm"}
    hospital.under(principle)
    series = make(hospital.series(tmp_path / "home"), FIRST, SECOND)
    stated = verify_series(series.published_folder)
    assert [one["principle"]["adversary"] for one in stated] == ["knows_algorithm"] * 2
    apart = read_table(series.private(SECOND) / "state-apart.parquet")["bucket_id"]
    hosts = read_table(series.private(SECOND) / "linkage.parquet")["bucket_id"]
    assert [one["apart"] for one in stated] == [0, hosts.is_in(apart.implode()).sum()]
    assert "also for readers who know the algorithm" in " ".join(
        (series.published(SECOND) / "README.md").read_text().split()
    )
    code, promises = audited(hospital, series, tmp_path / "report")
    assert code == 0
    assert promises["arrivals in whole groups"]["holds"]
    assert promises["guesses by frequencies"]["found"] == pytest.approx(1 / 3)
    code, promises = audited(hospital, series, tmp_path / "report", private=False)
    assert code == 0
    assert "arrivals in whole groups" not in promises
    assert "in a release for the first time" in (tmp_path / "report/audit.html").read_text()
    own = "begin a new series"
    for keys, way_out in (
        ({}, own),
        ({"series": "v2", "supersedes": "v1", "releases": {"first": THIRD}}, f"{own} that supersedes none"),
    ):
        hospital.under(principle | {"adversary": "paper"}, **keys)
        with pytest.raises(ContractError, match=rf"adversary: knows_algorithm -> paper: {way_out}\."):
            make(hospital.series(tmp_path / "home"), THIRD)
