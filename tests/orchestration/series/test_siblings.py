"""Two series of the same people: one goes on from the other, or has other readers, or is refused."""

import json
import shutil

import polars as pl
import pytest
from rich.console import Console

from republish.anonymize.errors import ContractError, PublishedFolderError, SnapshotError
from republish.orchestration.audit.command import audit
from republish.orchestration.chain.delta import compare_snapshots
from tests.hospital import RELEASES, everything, make, manifest, published, signatures
from tests.orchestration.chain.test_bad_input import refused

pytestmark = pytest.mark.slow("makes and audits many releases")

FIRST, SECOND, THIRD = RELEASES


def test_a_second_series_that_says_nothing_is_refused(hospital, home):
    hospital.declare(series="v2", principle={"m": 4})
    with pytest.raises(ContractError) as refusal:
        make(hospital.series(home), FIRST)
    ((key, message),) = refusal.value.faults
    assert key == "series"
    assert "hospital has releases of another series, v1, and the two together may give people away" in message
    assert "keep series: v1 and change it there" in message
    assert "supersedes: v1" in message
    assert "separate_readers: true" in message
    assert not (home / "published/hospital/v2").exists()
    assert refusal.value.exit_code == 2


def test_a_series_that_was_begun_goes_on_beside_a_later_one(hospital, home):
    """What they would give away together is stated of neither: nobody is to have both."""
    make(hospital.declare(series="v2", separate_readers=True).series(home), FIRST)
    make(hospital.declare().series(home), THIRD)
    keys = {
        name for release, series in ((FIRST, "v2"), (THIRD, "v1")) for name in manifest(home, release, series)
    }
    assert "together_with" not in keys


# ---- going on from another series


@pytest.fixture
def superseding(hospital, home):
    """v2 goes on from v1, of which two releases are published, with a larger m; one release long."""
    hospital.declare(series="v2", supersedes="v1", principle={"m": 4}, expect={"changed": 0.5})
    return make(hospital.series(home), FIRST)


def test_signatures_are_carried_over(hospital, home, superseding):
    before, now = signatures(home, SECOND, "v1"), signatures(home, FIRST, "v2")
    diseases = dict(hospital.snapshot(FIRST).select("patient_id", "disease").iter_rows())
    known = [person for person in now if person in before and diseases[person] in before[person]]
    assert len(known) > 200
    assert all(now[person] == before[person] for person in known)
    assert manifest(home, FIRST, "v2")["n"] == 1
    assert manifest(home, FIRST, "v2")["previous"] is None
    assert superseding.chain_number(FIRST) == 3


@pytest.mark.usefixtures("only_verdicts")
def test_with_a_larger_m_everybody_is_audited_by_what_they_were_promised(
    hospital, home, superseding, tmp_path
):
    """People who were published in v1 keep its promise of 3 values in v2, which promises others 4."""
    make(superseding, SECOND, THIRD)
    assert manifest(home, THIRD, "v2")["supersedes"] == "v1"
    folder, truth = home / "published/hospital", hospital.file(FIRST).parent
    for private in (None, home / "private"):
        options = {"private": private, "out": tmp_path / "report", "console": Console(quiet=True)}
        assert audit([folder / "v2", folder / "v1"], truth, hospital.contract, **options) == 0
        report = json.loads((tmp_path / "report/audit.json").read_text())
        assert [one["name"] for one in report["series"]] == ["hospital/v1", "hospital/v2"]
        rows = [
            row
            for row in report["promises"]
            if row["series"] == "hospital/v2" and row["promise"] == "candidates by quasi-identifiers"
        ]
        assert [(row["holds"], row["required"]) for row in rows] == [(True, 3), (True, 4)]
        assert [row["found"] >= row["required"] for row in rows] == [True, True]
        # v2 was attacked with everything known from v1, so nothing is left to attack both together for.
        assert not any(row["promise"].startswith("candidates over several") for row in report["promises"])


def test_a_series_that_goes_on_from_another_is_not_audited_without_it(hospital, home, superseding):
    """Whom v2 carried over, and what v1 promised them, is known with v1's releases alone."""
    folder, truth = home / "published/hospital/v2", hospital.file(FIRST).parent
    with pytest.raises(PublishedFolderError) as refusal:
        audit([folder], truth, hospital.contract, console=Console(quiet=True))
    assert str(refusal.value) == (
        f"{folder}: goes on from series v1 of hospital, and people who were published there keep what v1"
        " promised. Audit both together: name the folder of hospital/v1 too, and have its true tables in the"
        " folder of the truth"
    )
    assert refusal.value.exit_code == 2


@pytest.mark.usefixtures("only_verdicts")
def test_two_series_that_know_nothing_of_each_other_do_not_hold_together(hospital, home):
    """What an audit of both finds without the rule."""
    make(hospital.declare(series="v2", separate_readers=True, principle={"m": 4}).series(home), *RELEASES)
    truth, said = hospital.file(FIRST).parent, Console(quiet=True)
    folder = home / "published/hospital"
    hospital.declare(principle={"m": 3})
    assert audit([folder / "v1", folder / "v2"], truth, hospital.contract, console=said) != 0


def test_a_series_that_was_superseded_cannot_be_continued(hospital, home, superseding):
    hospital.declare()
    message, code = refused(hospital, home, ContractError)
    assert "v1 was superseded by v2, which goes on from it: release v2" in message
    assert code == 2
    assert superseding.published(FIRST).exists()


def test_a_third_series_goes_on_from_all_before(hospital, home, superseding):
    hospital.declare(series="v3", supersedes="v2", principle={"m": 4}, expect={"changed": 0.5})
    series = make(hospital.series(home), FIRST)
    assert series.chain_number(FIRST) == 4
    assert series.pseudonym_key == superseding.pseudonym_key
    here, before = signatures(home, FIRST, "v3"), signatures(home, FIRST, "v2")
    assert here == before


def test_once_it_is_begun_the_working_files_of_the_other_may_be_deleted(hospital, home, superseding):
    before = signatures(home, FIRST, "v2")
    shutil.rmtree(home / "private/hospital/v1")
    series = make(hospital.series(home), SECOND, THIRD)
    assert series.pseudonym_key == superseding.pseudonym_key
    assert series.chain_number(THIRD) == 5
    now = signatures(home, SECOND, "v2")
    assert len([person for person in now if before.get(person) == now[person]]) > 200
    make(series, FIRST)  # it is found, and verified


def test_what_a_series_goes_on_from_cannot_change(hospital, home, superseding):
    hospital.declare(series="v2", separate_readers=True, principle={"m": 4})
    with pytest.raises(ContractError, match="supersedes: is None, but series v2 was begun with v1"):
        make(hospital.series(home), SECOND)
    assert not superseding.published(SECOND).exists()


def test_a_series_that_is_not_there_cannot_be_gone_on_from(hospital, home):
    hospital.declare(series="v2", supersedes="v0")
    with pytest.raises(ContractError, match=r"v0 has no releases in .* with working files"):
        make(hospital.series(home), FIRST)


def test_nor_one_whose_working_files_are_gone(hospital, home):
    shutil.rmtree(home / f"private/hospital/v1/{SECOND}")
    hospital.declare(series="v2", supersedes="v1")
    with pytest.raises(ContractError, match="working files that could be gone on from"):
        make(hospital.series(home), FIRST)


def test_identifiers_that_changed_their_form_between_two_series_are_found(hospital, home):
    """The first snapshot of a series that goes on from another is compared with the other's last."""
    snapshot = hospital.snapshot(FIRST)
    hospital.deliver(FIRST, snapshot.with_columns(pl.col("patient_id").str.to_lowercase()))
    series = hospital.declare(series="v2", supersedes="v1").series(home)
    with pytest.raises(SnapshotError, match="but for small and capital letters"):
        make(series, FIRST)
    hospital.deliver(FIRST, snapshot)
    make(series, FIRST)
    assert compare_snapshots(series, FIRST).figures.carried > 250


# ---- separate readers


def test_nothing_of_the_other_series_is_touched(hospital, home):
    before = {name: content for name, content in everything(home).items() if "/v1" in name}
    files = published(home)
    make(hospital.declare(series="v2", separate_readers=True).series(home), FIRST)
    assert {name: content for name, content in everything(home).items() if "/v1" in name} == before
    assert published(home).items() >= files.items()
