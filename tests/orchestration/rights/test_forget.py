"""`republish forget`: nothing is left of them, later releases are safe, all of it or nothing is done."""

import os
import shutil
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from republish.anonymize.errors import ContractError, HomeError
from republish.orchestration.audit.command import audit
from republish.orchestration.chain.candidate import compute_candidate
from republish.orchestration.chain.delta import compare_snapshots
from republish.orchestration.chain.population_overlap import refuse_same_people
from republish.orchestration.chain.snapshot import KEPT, digest_of_source, take_snapshot
from republish.orchestration.cli.app import app
from republish.orchestration.cli.examine import examine
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.rights.find import find
from republish.orchestration.rights.forget import forget, what_is_kept
from republish.orchestration.rights.pages import sheet
from republish.orchestration.series.persons import comparable
from republish.orchestration.series.recorded import verify_published
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home, only_one
from republish.orchestration.storage.replacing import replace_files, replacing, settle_replacing
from republish.orchestration.storage.store import read_json, read_table
from tests.hospital import IDENTIFIER, RELEASES, audited, everything, make, noted, published
from tests.killed import kill_points
from tests.orchestration.rights.kill_points import counted

FIRST, SECOND, THIRD = RELEASES
SOME = 12


@pytest.fixture
def people(hospital):
    """Some who are in all three snapshots."""
    first, *later = (hospital.snapshot(release)["patient_id"] for release in RELEASES)
    return sorted(set(first).intersection(*later))[:SOME]


@pytest.fixture
def alone(hospital, home, tmp_path):
    """The same series in another home, of which nobody is forgotten."""
    shutil.copytree(home, tmp_path / "alone")
    return hospital.series(tmp_path / "alone")


def pseudonyms_of(series, people):
    """What the series and the home call people, taken from its own files."""
    snapshot = read_table(series.private(FIRST) / "snapshot.parquet")
    own = set(snapshot.filter(pl.col("identifier").is_in(people))["pseudonym"])
    return own, set(comparable(series.home, pl.Series(people)))


def traces(home, people, pseudonyms):
    """The files of a home in which anything of some people is found, looked for in bytes and in cells."""
    found = set()
    for path in home.rglob("*"):
        if not path.is_file():
            continue
        content = path.read_bytes()
        cells = set()
        if path.suffix == ".parquet":
            table = pl.read_parquet(path)
            cells = {cell for column in table if column.dtype in (pl.Binary, pl.String) for cell in column}
        texts = {person.encode() for person in people}
        if any(text in content for text in texts) or cells & (set(people) | pseudonyms):
            found.add(f"{path.relative_to(home)}")
    return found


def without(hospital, people):
    """Take people out of the source's last snapshot: an audit's truth is the table that was published."""
    hospital.deliver(THIRD, hospital.snapshot(THIRD).filter(~pl.col("patient_id").is_in(people)))


@pytest.mark.slow("takes more than a second")
def test_whoever_is_never_published_again_is_as_if_they_had_left(hospital, home, series, people, alone):
    forget(series, people, again=False)
    make(series, THIRD)
    assert not set(read_table(series.private(THIRD) / "snapshot.parquet")["identifier"]) & set(people)
    without(hospital, people)
    make(alone, THIRD)
    assert published(home) == published(alone.home.path)


def test_nothing_is_left_of_them(home, series, people):
    own, common = pseudonyms_of(series, people)
    assert len(traces(home, people, own | common)) > 10
    forget(series, people, again=False)
    assert traces(home, people, own | common) == {"private/hospital/forgotten.parquet"}
    assert traces(home, people, own) == set()


@pytest.mark.slow("makes and audits many releases")
def test_nothing_is_left_of_them_among_the_clues_by_which_values_are_guessed(hospital, tmp_path, people):
    series = make(hospital.declare(expect={"guessed": 1}).series(tmp_path / "new"), FIRST, SECOND)
    own, common = pseudonyms_of(series, people)
    before = traces(series.home.path, people, own | common)
    assert {
        f"private/hospital/v1/{SECOND}/knowledge-clues_{name}.parquet" for name in ("hosts", "said")
    } < before
    forget(series, people, again=False)
    assert traces(series.home.path, people, own) == set()
    make(series, THIRD)


def test_of_whoever_may_return_the_last_memory_is_left_and_no_name(home, series, people):
    own, common = pseudonyms_of(series, people)
    forget(series, people, again=True)
    assert traces(home, people, set()) == set()
    noted = {"private/hospital/v1/people.parquet"}
    left = traces(home, people, own) - noted
    assert left
    assert all(name.startswith(f"private/hospital/v1/{SECOND}/") for name in left)
    assert {name.split("/")[-1].split("-")[0] for name in left} == {"state", "knowledge"}
    assert traces(home, people, common) == {"private/hospital/forgotten.parquet", *noted}


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("again", [True, False])
def test_everybody_else_is_as_they_were(home, series, hospital, people, again):
    others = sorted(set(hospital.snapshot(SECOND)["patient_id"]) - set(people))[:3]
    before = [find(series, one) for one in others]
    forget(series, people, again=again)
    assert [find(series, one) for one in others] == before


@pytest.mark.slow("takes more than a second")
@pytest.mark.usefixtures("only_verdicts")
@pytest.mark.parametrize("again", [True, False])
def test_an_audit_of_ones_own_releases_knows_whom_they_leave_out(hospital, series, people, again, capsys):
    """The source has them still; nobody knows any more in which groups they were."""
    forget(series, people, again=again)
    make(series, THIRD)
    assert audit([series.published_folder], None, hospital.contract, seconds=0.1) == 0
    assert "person by person: people were forgotten, and their groups with them." in capsys.readouterr().out


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("again", [True, False])
def test_published_releases_stay_and_are_still_those_of_their_snapshots(
    hospital, home, series, people, again
):
    """Also where the people are deleted from the source, and where they are not."""
    before = published(home)
    forget(series, people, again=again)
    take_snapshot(series, FIRST)
    assert digest_of_source(series, FIRST, home) == read_json(series.private(FIRST) / KEPT)["sha256"]
    hospital.deliver(FIRST, hospital.snapshot(FIRST).filter(~pl.col("patient_id").is_in(people)))
    take_snapshot(series, FIRST)
    verify_published(series)
    make(series, FIRST, SECOND)
    assert published(home) == before


@pytest.mark.slow("takes more than a second")
def test_a_candidate_that_is_not_published_yet_is_made_again(hospital, home, series, people):
    take_snapshot(series, THIRD)
    forget(series, people, again=False)
    assert not series.private(THIRD).exists()
    make(series, THIRD)


def test_without_delete_nothing_changes(hospital, home, series, people):
    before = everything(home)
    words = ["forget", str(hospital.contract), "--home", str(home)]
    result = CliRunner().invoke(app, words, input="\n".join(people))
    assert f"{SOME} people in" in result.output
    assert "nothing is kept" not in result.output
    assert "nothing was changed" in result.output
    assert everything(home) == before


def test_the_command_forgets_and_says_how_much(hospital, home, series, people, tmp_path):
    (tmp_path / "who").write_text("\n".join([*people, "P99999999", ""]))
    words = ["forget", str(hospital.contract), "--home", str(home), "--identifiers", str(tmp_path / "who")]
    result = CliRunner().invoke(app, [*words, "--never-again", "--delete"])
    assert result.exit_code == 0
    assert f"{SOME} people in" in result.output
    assert f"nothing is kept of 1 of the {SOME + 1} identifiers: either these were forgotten before, or" in (
        " ".join(result.output.split())
    )
    assert not IDENTIFIER.search(result.output.encode())
    assert [one.rows for one in what_is_kept(series, people)] == [0]
    assert not IDENTIFIER.search((home / "log.jsonl").read_bytes())


@pytest.mark.slow("kills processes")
@pytest.mark.parametrize("how", ["again", "never"])
def test_killed_at_every_step_in_the_file_system_all_is_done_or_nothing(
    hospital, home, people, tmp_path, how, seed_of_run
):
    """Before every file or folder that is written, synced, renamed or removed. Some are drawn, and tried."""
    some = ["--", "4", str(seed_of_run)]
    script = Path(__file__).with_name("kill_points.py")
    points, homes, nothing = kill_points(script, hospital.folder, home, how, *people, *some)
    assert points > 100
    assert homes > 50
    assert nothing > 0


@pytest.mark.slow("takes more than a second")
def test_killed_before_all_is_written_nothing_is_done_and_nothing_noted(
    hospital, home, series, people, monkeypatch
):
    def killed(*_words, **_more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("republish.orchestration.rights.forget.replace_files", killed)
        with pytest.raises(KeyboardInterrupt):
            forget(series, people, again=False)
    assert sum(one.rows for one in what_is_kept(series, people)) > SOME
    assert counted(home) == []
    make(series, THIRD)
    forget(series, people, again=False)
    assert [one.rows for one in what_is_kept(series, people)] == [0]
    assert counted(home) == [SOME]


def test_killed_when_all_is_written_people_count_once_who_are_named_again(
    hospital, home, series, people, monkeypatch
):
    """A home restored from before it asks for as many as the log says."""

    def killed(*_words):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            forget(series, people, again=False)
    assert counted(home) == [SOME]
    forget(series, [*people, "P99999999"], again=False)
    assert counted(home) == [SOME, 1]


PRINCIPLES = [
    {"name": "m_invariance", "m": 3, "format": "anatomy", "on_ineligible": "wait"},
    {"name": "m_invariance", "m": 3, "adversary": "knows_algorithm", "on_ineligible": "refuse"},
    {"name": "e_equivalence", "m": 3, "e": 2},
    {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 3},
]


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("principle", PRINCIPLES, ids=lambda one: "-".join(map(str, one.values())))
def test_under_every_principle_the_series_goes_on(hospital, tmp_path, principle, people):
    hospital.under(principle)
    make(hospital.series(tmp_path / "again"), FIRST, SECOND)
    shutil.copytree(tmp_path / "again", tmp_path / "never")
    for again in (True, False):
        series = hospital.series(tmp_path / ("again" if again else "never"))
        forget(series, people, again=again)
        make(series, THIRD)
        without(hospital, people if not again else [])
        code, promises = audited(hospital, series, tmp_path / f"report {again}", private=False)
        assert code == 0
        assert all(row["holds"] for row in promises.values())


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("again", [True, False])
def test_a_sheet_does_not_say_of_the_forgotten_that_they_never_were(hospital, home, series, people, again):
    who = people[0]
    forget(series, people, again=again)
    make(series, THIRD)
    found = find(series, who)
    (one,) = found.series
    assert found.forgotten_through == SECOND
    assert one.unknown == [FIRST, SECOND]
    assert [placed.release for placed in one.published] == ([THIRD] if again else [])
    assert bool(one.held) == again
    page = sheet(found, series.contract, THIRD)
    assert f"after the release of {SECOND}" in page
    assert find(series, "P99999999").forgotten_through is None


@pytest.mark.slow("takes more than a second")
def test_a_return_is_safe_also_if_a_later_release_was_begun(hospital, home, series, people, alone):
    """Signatures stay, and the memory that counts is that of the last release that is published."""
    take_snapshot(series, THIRD)
    forget(series, people, again=True)
    make(series, THIRD)
    make(alone, THIRD)
    assert published(home) == published(alone.home.path)


@pytest.mark.slow("takes more than a second")
def test_never_again_cannot_be_taken_back(hospital, home, series, people):
    """Their signatures are gone: a return would not be safe."""
    forget(series, people, again=False)
    forget(series, people, again=True)
    make(series, THIRD)
    assert not set(read_table(series.private(THIRD) / "snapshot.parquet")["identifier"]) & set(people)


@pytest.mark.slow("takes more than a second")
def test_it_is_said_how_many_are_left_out_for_good(hospital, home, series, people):
    """Also others who were given the number of somebody forgotten: nobody can tell them from who had it."""
    forget(series, people, again=False)
    said = list[str]()
    assert examine(series, said.append) == 0
    assert any(
        f"{THIRD}: left out because they were forgotten for good: {SOME}. Give" in line for line in said
    )
    assert not any(IDENTIFIER.search(line.encode()) for line in said)
    assert take_snapshot(series, THIRD).stated["forgotten"] == SOME


def test_another_product_is_still_compared_with_those_who_are_never_published_again(
    hospital, home, series, people
):
    forget(series, [*people, "P99999999"], again=False)
    (hospital.folder / "clinic.yaml").write_text(
        hospital.contract.read_text().replace("product: hospital", "product: clinic")
    )
    clinic = Series(load_contract(hospital.folder / "clinic.yaml"), Home.at(home))
    with pytest.raises(ContractError, match=f"{SOME} people of clinic/v1 are in releases of hospital"):
        refuse_same_people(clinic, [pl.Series(people)])
    refuse_same_people(clinic, [pl.Series(["P99999999"])])


def test_under_another_key_nothing_is_forgotten(hospital, home, series, people, monkeypatch):
    """Their rows would go, and what is remembered of them, under pseudonyms of that key, would stay."""
    before = everything(home)
    with monkeypatch.context() as patch:
        patch.setenv("REPUBLISH_KEY", "a second key, made up as well")
        for look in (lambda: forget(series, people, again=False), lambda: find(series, people[0])):
            with pytest.raises(HomeError, match="under this key"):
                look()
    assert everything(home) == before


@pytest.mark.parametrize(
    "file", ["snapshot.parquet", "state-memory.parquet", "linkage.parquet", "candidate.json"]
)
def test_a_file_that_was_changed_is_not_vouched_for(hospital, home, series, people, file):
    changed = series.private(SECOND) / file
    if file == "candidate.json":
        changed.write_text(changed.read_text().replace('"m": 3', '"m": 2'))
    else:
        read_table(changed).slice(1).write_parquet(changed)
    before = everything(home)
    with pytest.raises(HomeError, match="was changed"):
        forget(series, people, again=False)
    assert published(home)
    assert {name: one for name, one in everything(home).items() if ".replacing" not in str(name)} == before


def test_what_a_killed_run_wrote_half_is_gone(home, series, people):
    half = series.private(SECOND) / ".snapshot.parquet.partial"
    shutil.copy(series.private(SECOND) / "snapshot.parquet", half)
    forget(series, people, again=False)
    assert not half.exists()


def test_a_series_of_which_nothing_is_published_is_gone_through(hospital, home, series, people):
    """Its snapshot was taken, and then the contract named another series again."""
    hospital.declare(series="v2", separate_readers=True)
    take_snapshot(hospital.series(home), FIRST)
    hospital.declare()
    assert any("/v2/" in one.file for of in find(series, people[0]).series for one in of.held)
    forget(series, people, again=False)
    assert not list(home.glob("private/hospital/v2/2*"))


@pytest.mark.slow("takes more than a second")
def test_a_series_that_is_begun_goes_on_from_another_without_them(hospital, home, series, people):
    """Its candidate has those who are absent, too, under the pseudonyms of the series before."""
    own, common = pseudonyms_of(series, people)
    without(hospital, people)
    hospital.deliver(FIRST, hospital.snapshot(THIRD))
    hospital.declare(series="v2", supersedes="v1")
    begun = hospital.series(home)
    take_snapshot(begun, FIRST)
    compare_snapshots(begun, FIRST)
    compute_candidate(begun, FIRST)
    assert any("/v2/" in name for name in traces(home, people, own))
    forget(begun, people, again=False)
    assert traces(home, people, own | common) == {"private/hospital/forgotten.parquet"}
    make(begun, FIRST)


@pytest.mark.slow("makes and audits many releases")
def test_each_series_says_for_itself_when_they_were_forgotten(hospital, home, series, people):
    """Another series is further: the next release of this one is made with them all the same."""
    other = hospital.declare(series="v2", separate_readers=True).series(home)
    make(other, *RELEASES)
    series = hospital.declare(separate_readers=True).series(home)
    forget(series, people, again=True)
    make(series, THIRD)
    assert set(people) <= set(read_table(series.private(THIRD) / "snapshot.parquet")["identifier"])
    take_snapshot(series, THIRD)


def test_people_are_counted_once(hospital, home, series, people):
    """Somebody whose value changed is in two rows of a file, and each is in a file of their own."""
    rows = read_table(series.private(SECOND) / "state-memory.parquet")
    known = read_table(series.private(SECOND) / "snapshot.parquet")
    twice = known.join(rows.filter(pl.len().over("pseudonym") > 1), on="pseudonym", how="semi")
    some = [twice["identifier"].min(), *people]
    (found,) = what_is_kept(series, some)
    assert found.people == len(set(some))


def test_another_spelling_is_found_where_no_snapshot_says_the_source_s(hospital, home, series, people):
    for release in (FIRST, SECOND):
        (series.private(release) / "snapshot.parquet").unlink()
    own, _ = pseudonyms_of_memory(home)
    before = len(own)
    forget(series, [one.lower() for one in people], again=False)
    own, lots = pseudonyms_of_memory(home)
    assert len(own) == before
    assert lots == len(people)


def pseudonyms_of_memory(home):
    memory = read_table(home / f"private/hospital/v1/{SECOND}/state-memory.parquet")["pseudonym"]
    noted = read_table(home / "private/hospital/v1/people.parquet")["pseudonym"]
    return set(memory), len(set(memory) - set(noted))


@pytest.mark.slow("takes more than a second")
def test_what_version_0_3_wrote_of_the_forgotten_still_counts(home, series, people):
    forget(series, people, again=True)
    file = home / "private/hospital/forgotten.parquet"
    read_table(file).drop("series").write_parquet(file)
    make(series, FIRST, SECOND, THIRD)
    assert set(people) <= set(read_table(series.private(THIRD) / "snapshot.parquet")["identifier"])
    assert find(series, people[0]).forgotten_through == SECOND


def test_what_another_process_finds_while_files_are_put_in_their_places_is_left_to_the_first(
    home, tmp_path, monkeypatch, caplog
):
    """A series that is begun just now is locked by nobody else."""
    replace, others = os.replace, []

    def after_another(source, target):
        if not others:
            others.append(target)
            settle_replacing(home, folder)
        replace(source, target)

    home, folder = Home.at(home), tmp_path / "files"
    with replacing(home, folder, "some files") as staged:
        (staged / "one").write_text("new")
        settle_replacing(home, folder)
        assert (staged / "one").exists()
        monkeypatch.setattr(os, "replace", after_another)
        replace_files(home, folder, [], {"what": "forget"})
    assert others
    assert "another command takes people out of these files at this moment" in caplog.text
    assert (folder / "one").read_text() == "new"
    assert not (folder / ".replacing").exists()
    assert noted(home.path)[-1]["what"] == "forget"
    assert len(noted(home.path)) == 3


# ---- killed, and another command comes next


@pytest.fixture
def killed_while(home, series, people, monkeypatch, tmp_path):
    """Kill the command while it writes new files, or while it puts them in place."""

    def killed(by_name):
        def kill(_, folder, *_words):
            shutil.copytree(
                folder / ".replacing", tmp_path / "staged"
            )  # a process that is killed cleans nothing
            raise KeyboardInterrupt

        function = {"writing": "rights.forget.replace_files", "replacing": "storage.replacing._finish"}[
            by_name
        ]
        with monkeypatch.context() as patch:
            patch.setattr(f"republish.orchestration.{function}", kill)
            with pytest.raises(KeyboardInterrupt):
                forget(series, people, again=False)
        left = home / "private/hospital/.replacing"
        shutil.rmtree(left, ignore_errors=True)
        shutil.move(tmp_path / "staged", left)
        assert len(list(left.rglob("*.parquet"))) > 5
        assert read_table(left / f"v1/{FIRST}/snapshot.parquet").height > 100

    return killed


def run(*words, **more):
    return CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False, **more)


NEXT = {
    "release": lambda hospital, home, _: run(
        "release", hospital.contract, "--home", home, "--through", SECOND
    ),
    "forget": lambda hospital, home, _: run("forget", hospital.contract, "--home", home, input="P99999999\n"),
    "person": lambda hospital, home, folder: run(
        "person", hospital.contract, "--home", home, "--out", folder, input="P99999999\n"
    ),
    "backup": lambda _, home, folder: run("backup", home, "--out", folder / "monday.tar"),
    "tidy": lambda _, home, _folder: run("tidy", "--home", home, "--delete"),
    "audit": lambda hospital, home, _: run("audit", hospital.contract, "--home", home, "--seconds", "0.1"),
}


@pytest.mark.slow("kills processes")
@pytest.mark.usefixtures("only_verdicts")
@pytest.mark.parametrize("command", NEXT)
@pytest.mark.parametrize("stage", ["writing", "replacing"])
def test_the_next_command_finishes_or_removes_what_a_killed_one_wrote_and_says_so(
    hospital, home, series, people, killed_while, tmp_path, caplog, command, stage
):
    killed_while(stage)
    NEXT[command](hospital, home, tmp_path / "out")
    assert not list(home.rglob(".replacing"))
    assert f"{home / 'private/hospital'}: a command was killed" in caplog.text
    kept = sum(one.rows for one in what_is_kept(series, people))
    assert (kept > SOME, counted(home)) == ((True, []) if stage == "writing" else (False, [SOME]))


def test_what_a_killed_command_wrote_half_is_gone_before_a_person_is_answered(hospital, home, tmp_path):
    left = [
        home / f"private/hospital/v1/{name}"
        for name in (
            ".people.parquet.partial",
            f"{FIRST}/.snapshot.parquet.partial",
            f"{FIRST}/.merging.partial",
        )
    ]
    for path in left[:2]:
        path.write_bytes(b"people")
    left[2].mkdir()
    with only_one(home / "private/hospital/v1", "the series"):
        NEXT["person"](hospital, home, tmp_path / "out")
        assert all(path.exists() for path in left)  # a release is being made, it may be
    NEXT["person"](hospital, home, tmp_path / "out")
    assert not any(path.exists() for path in left)
