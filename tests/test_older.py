"""Series that version 0.19 made: audits read them, and they go on or are refused with the way on.

How they were made is said in `tests/older/README.md`.
"""

import json
import re
import shutil
import sys
import tarfile
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from republish.anonymize.errors import AuditFailed, ContractError, QueryError, ValueChangeRefused
from republish.orchestration.audit.command import BROKEN, HOLDS, audit
from republish.orchestration.cli import main as cli
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.readers.estimate.command import estimate
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.manifest import verify_series
from tests.hospital import everything, make, only_verdicts
from tests.once import (  # noqa: F401 - fixtures of every test below
    commands_are_built_once,
    dagster_repeats_nothing,
    what_is_met_is_seen_without_asking,
)

ARCHIVE = Path(__file__).parent / "older/0.19.0.tar.xz"
*PUBLISHED, NEXT = ("2024-01-01", "2024-04-01", "2024-07-01", "2024-10-01")
WITHOUT_WHAT_WENT = (
    *("m_invariance", "anatomy", "several_rows", "may_be_known", "bins", "hierarchy", "global_guarantee"),
    "sequential",
)
"""Kinds whose contracts say nothing that a contract of today may not."""
HELD_BACK = {
    "two_columns": "hold_back",
    "spread": "hold_back",
    "shards": "hold_back",
    "holds_back": "defer, hold_back",
    "e_equivalence": "defer",
    "streamliner": "defer, hold_back",
}
"""Policies of the others that went."""
KINDS = (*WITHOUT_WHAT_WENT, *HELD_BACK)
SLOW = pytest.mark.slow("takes more than a second")
REFUSED = {"several_rows", "two_columns"}


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The homes as version 0.19 left them."""
    folder = tmp_path_factory.mktemp("older")
    with tarfile.open(ARCHIVE) as packed:
        packed.extractall(folder, filter="data")
    return folder


@pytest.fixture
def older(archive, tmp_path, monkeypatch):
    """The folder of a kind, for a test of its own."""
    monkeypatch.delenv("REPUBLISH_KEY", raising=False)  # each home has its own
    monkeypatch.delenv("REPUBLISH_HOME", raising=False)

    def copied(kind):
        shutil.copytree(archive / kind, tmp_path / kind)
        return tmp_path / kind

    return copied


def declared(folder):
    return json.loads((folder / "contract.yaml").read_text())


def declare(folder, **keys):
    """Write the contract in today's words, with some more keys of it, or parameters of its principle."""
    contract = declared(folder)
    principle = contract["principle"]
    if principle.get("on_ineligible") == "defer":
        principle["on_ineligible"] = "wait"
    if principle.get("on_value_change") == "hold_back":
        is_several = isinstance(contract["sensitive"], list)
        principle["on_value_change"] = "refuse" if is_several else "separate"
    principle.pop("spread", None)
    (folder / "contract.yaml").write_text(json.dumps(contract | keys))


def series_of(folder):
    return Series(load_contract(folder / "contract.yaml"), Home.at(folder / "var"))


def audited(folder, out, *, private=True):
    """The exit code of an audit of all that is published, the broken promises, and what was not covered."""
    kind = folder.name
    with only_verdicts():
        code = audit(
            [folder / f"var/published/{kind}/v1"],
            folder,
            folder / "contract.yaml",
            private=folder / f"var/private/{kind}/v1" if private else None,
            out=out,
            seconds=0.1 if kind != "e_equivalence" else 20,  # where it is not promised, it may stay undecided
            console=Console(quiet=True),
        )
    report = json.loads((out / "audit.json").read_text())
    broken = [row["promise"] for row in report["promises"] if row["broken"]]
    return code, broken, [gap["what"] for gap in report["not_covered"]]


def of_what_went(gaps):
    return [gap for gap in gaps if gap.startswith(("people who are held back for", "how far apart"))]


def goes_on(folder):
    """Make the next release."""
    series = make(series_of(folder), NEXT)
    assert series.releases == [*PUBLISHED, NEXT]
    return series


def is_refused(folder, error, words):
    """Whether the next release is refused, with nothing changed of what is published and remembered."""
    before = everything(folder / "var")
    with pytest.raises(error, match=words):
        make(series_of(folder), NEXT)
    after = everything(folder / "var")
    of_next = re.compile(rf"/{NEXT}(/|$)")
    assert {name: part for name, part in after.items() if not of_next.search(name)} == before
    assert not (folder / f"var/published/{folder.name}/v1/{NEXT}").exists()


def test_the_archive_has_every_kind_and_was_made_by_that_version(archive):
    assert {path.name for path in archive.iterdir()} == {*KINDS}
    for kind in KINDS:
        manifests = sorted(archive.glob(f"{kind}/var/published/{kind}/v1/*/manifest.json"))
        assert [file.parent.name for file in manifests] == PUBLISHED
        assert {json.loads(file.read_text())["software_version"] for file in manifests} == {"0.19.0"}


@SLOW
@pytest.mark.parametrize("kind", KINDS)
def test_an_audit_reads_what_was_published_and_says_what_it_can_not_try(older, tmp_path, kind):
    folder = older(kind)
    code, broken, gaps = audited(folder, tmp_path / "report")
    expected = [f"people who are held back for their value ({HELD_BACK[kind]})"] if kind in HELD_BACK else []
    expected += ["how far apart candidates are (spread)"] if kind == "spread" else []
    assert of_what_went(gaps) == [f"{what} in 3 of 3 releases" for what in expected]
    # 0.19 gave two rows of one person, with different values, one signature of three values.
    is_broken = kind == "several_rows"
    assert (code, broken) == ((BROKEN, ["ever had a value"]) if is_broken else (HOLDS, []))


@SLOW
def test_an_audit_by_the_published_folders_alone_says_it_too(older, tmp_path):
    folder = older("spread")
    code, broken, gaps = audited(folder, tmp_path / "report", private=False)
    assert (code, broken) == (HOLDS, [])
    assert len(of_what_went(gaps)) == 2
    for manifest in folder.glob("var/published/spread/v1/*/manifest.json"):
        manifest.unlink()
    *_, by_the_contract = audited(folder, tmp_path / "report", private=False)
    assert of_what_went(by_the_contract) == of_what_went(gaps)


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_published_is_verified_and_read(older, kind):
    folder = older(kind) / f"var/published/{kind}/v1"
    manifests = verify_series(folder)
    assert [stated["release"] for stated in manifests] == PUBLISHED
    if kind == "sequential":
        with pytest.raises(QueryError, match=r"count the rows of view\.parquet"):
            estimate(folder, copies=2)
        assert pl.read_parquet(folder / PUBLISHED[0] / "view.parquet").height == manifests[0]["tuples"]
        return
    people = estimate(folder, copies=2)
    assert people["people"].to_list() == [stated["tuples"] - stated["counterfeits"] for stated in manifests]


@SLOW
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in REFUSED])
def test_a_series_goes_on_and_all_of_it_holds(older, tmp_path, kind):
    folder = older(kind)
    declare(folder, **({"accept": {NEXT: ["spread"]}} if kind == "spread" else {}))
    series = goes_on(folder)
    assert len(verify_series(series.published_folder)) == 4
    if kind != "sequential":
        assert estimate(series.published_folder, copies=2)["people"].min() > 0
    assert audited(folder, tmp_path / "report")[:2] == (HOLDS, [])


@SLOW
def test_rows_of_a_person_that_earlier_versions_published_side_by_side_end_their_series(older):
    words = "ever had a value is broken for 1 of .* begin a new series"
    is_refused(older("several_rows"), AuditFailed, words)


@SLOW
def test_of_several_columns_a_changed_value_ends_a_series_that_held_such_people_back(older):
    folder = older("two_columns")
    declare(folder)
    is_refused(folder, ValueChangeRefused, "2 people have a sensitive value outside .* Begin a new series")


@SLOW
def test_several_columns_go_on_where_no_value_changed(older, tmp_path):
    folder = older("two_columns")
    declare(folder)
    *_, last = snapshots = [pl.read_csv(folder / f"{release}.csv") for release in (*PUBLISHED, NEXT)]
    values = pl.concat(snapshots).select("person", "disease", "treatment").unique()
    changed = values.filter(pl.col("person").is_duplicated())
    last.join(changed, on="person", how="anti").write_csv(folder / f"{NEXT}.csv")
    goes_on(folder)
    assert audited(folder, tmp_path / "report")[:2] == (HOLDS, [])


def test_a_promise_that_went_is_given_up_by_consent(older):
    folder = older("spread")
    declare(folder)
    words = rf"spread: is not promised any more .* If you consent, write accept: {{{NEXT}: \[spread\]}}"
    is_refused(folder, ContractError, words)


@pytest.mark.parametrize("kind", HELD_BACK)
def test_no_release_is_made_under_words_that_went(older, kind):
    contract = older(kind) / "contract.yaml"
    with pytest.raises(ContractError, match="is no longer accepted") as refused:
        load_contract(contract)
    assert all("Write" in words or "Declare" in words for _, words in refused.value.faults)
    assert load_contract(contract, of_earlier_versions=True).contract.product == kind


@SLOW
def test_the_command_line_goes_on_and_says_what_changed(older, monkeypatch, capfd):
    """Dagster's pages compare the contract with that of the last release as they are loaded."""
    folder = older("holds_back")
    declare(folder)
    words = ("release", folder / "contract.yaml", "--home", folder / "var", "--yes")
    monkeypatch.setattr(sys, "argv", ["republish", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    assert re.search(rf"{NEXT} +published", capfd.readouterr().out)


@SLOW
def test_the_publisher_audits_a_home_by_the_contract_of_its_time(older, monkeypatch, capfd):
    folder = older("holds_back")
    words = ("audit", folder / "contract.yaml", "--home", folder / "var", "--seconds", "0.1")
    monkeypatch.setattr(sys, "argv", ["republish", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    assert "Every promise holds" in capfd.readouterr().out
