"""`republish forget`: nothing is left of them, later releases are safe, all of it or nothing is done."""

import contextlib
import itertools
import os
import shutil

import polars as pl
import pytest
from typer.testing import CliRunner

from orchestration.chain.snapshot import take_snapshot
from orchestration.cli.app import app
from orchestration.rights.find import find
from orchestration.rights.forget import forget, what_is_kept
from orchestration.rights.pages import sheet
from orchestration.series.persons import comparable
from orchestration.storage.store import read_table
from tests.hospital import IDENTIFIER, RELEASES, audited, everything, make, published
from tests.profiles import drawn

pytestmark = pytest.mark.halved

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


def test_a_return_is_as_if_nobody_had_been_forgotten(hospital, home, series, people, alone):
    """Signatures stay: the next release of the same people has the same bytes."""
    forget(series, people, again=True)
    make(series, THIRD)
    make(alone, THIRD)
    assert published(home) == published(alone.home.path)


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


def test_of_whoever_may_return_the_last_memory_is_left_and_no_name(home, series, people):
    own, common = pseudonyms_of(series, people)
    forget(series, people, again=True)
    assert traces(home, people, set()) == set()
    left = traces(home, people, own)
    assert left
    assert all(name.startswith(f"private/hospital/v1/{SECOND}/") for name in left)
    assert {name.split("/")[-1].split("-")[0] for name in left} == {"state", "knowledge"}
    assert traces(home, people, common) == {
        "private/hospital/forgotten.parquet",
        "private/hospital/v1/people.parquet",
    }


@pytest.mark.parametrize("again", drawn([True, False], 1))
def test_everybody_else_is_as_they_were(home, series, hospital, people, again):
    others = sorted(set(hospital.snapshot(SECOND)["patient_id"]) - set(people))[:3]
    before = [find(series, one) for one in others]
    forget(series, people, again=again)
    assert [find(series, one) for one in others] == before


@pytest.mark.parametrize("again", drawn([True, False], 1))
def test_attacks_find_nobody_before_and_after(hospital, home, series, people, tmp_path, again):
    code, _ = audited(hospital, series, tmp_path / "before")
    forget(series, people, again=again)
    make(series, THIRD)
    without(hospital, people if not again else [])
    after, promises = audited(hospital, series, tmp_path / "after", private=False)
    assert (code, after) == (0, 0)
    assert all(row["holds"] for row in promises.values())


@pytest.mark.parametrize("again", drawn([True, False], 1))
def test_published_releases_stay_and_are_still_those_of_their_snapshots(
    hospital, home, series, people, again
):
    """Also where the people are deleted from the source, and where they are not."""
    before = published(home)
    forget(series, people, again=again)
    take_snapshot(series, FIRST)
    hospital.deliver(FIRST, hospital.snapshot(FIRST).filter(~pl.col("patient_id").is_in(people)))
    take_snapshot(series, FIRST)
    series.verify_published()
    assert published(home) == before


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
    assert "nothing was changed" in result.output
    assert everything(home) == before


def test_the_command_forgets_and_says_how_much(hospital, home, series, people, tmp_path):
    (tmp_path / "who").write_text("\n".join([*people, "P99999999", ""]))
    words = ["forget", str(hospital.contract), "--home", str(home), "--identifiers", str(tmp_path / "who")]
    result = CliRunner().invoke(app, [*words, "--never-again", "--delete"])
    assert result.exit_code == 0
    assert f"{SOME} people in" in result.output
    assert not IDENTIFIER.search(result.output.encode())
    assert [one.rows for one in what_is_kept(series, people)] == [0]
    assert not IDENTIFIER.search((home / "log.jsonl").read_bytes())


def test_killed_anywhere_all_of_it_is_done_or_nothing(hospital, home, people, tmp_path, monkeypatch):
    """Killed at a file that is moved to its place: whoever comes next moves the others."""
    before, replace = everything(home), os.replace

    def forget_killed_at(point, copy):
        shutil.copytree(home, copy)
        moves = []

        def move(source, target):
            moves.append(target)
            if len(moves) == point:
                raise KeyboardInterrupt
            replace(source, target)

        with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
            patch.setattr(os, "replace", move)
            forget(hospital.series(copy), people, again=False)
        return len(moves)

    number = forget_killed_at(0, tmp_path / "not killed")
    assert number > 10
    for point in drawn(range(1, number + 1), 4):
        copy = tmp_path / f"killed at {point}"
        assert forget_killed_at(point, copy) == point
        series = hospital.series(copy)
        assert everything(copy) != before
        with series.locked():
            assert [one.rows for one in what_is_kept(series, people)] == [0]
        assert series.committed(SECOND) is not None
        assert not list(copy.rglob(".replacing"))


def test_killed_before_all_is_written_nothing_is_done(hospital, home, series, people, monkeypatch):
    def killed(*_words, **_more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("orchestration.rights.forget.replace_files", killed)
        with pytest.raises(KeyboardInterrupt):
            forget(series, people, again=False)
    assert sum(one.rows for one in what_is_kept(series, people)) > SOME
    make(series, THIRD)
    forget(series, people, again=False)
    assert [one.rows for one in what_is_kept(series, people)] == [0]


PRINCIPLES = [
    {"name": "m_invariance", "m": 3, "format": "anatomy", "on_ineligible": "wait"},
    {"name": "m_invariance", "m": 3, "adversary": "knows_algorithm", "on_ineligible": "refuse"},
    {"name": "e_equivalence", "m": 3, "e": 2},
    {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 3},
]


@pytest.mark.parametrize(
    ("principle", "again"),
    drawn(itertools.product(PRINCIPLES, (True, False)), 1),
    ids=lambda one: "-".join(map(str, one.values())) if isinstance(one, dict) else None,
)
def test_under_every_principle_the_series_goes_on(hospital, tmp_path, principle, people, again):
    hospital.under(principle)
    series = make(hospital.series(tmp_path / "home of another"), FIRST, SECOND)
    forget(series, people, again=again)
    make(series, THIRD)
    without(hospital, people if not again else [])
    code, promises = audited(hospital, series, tmp_path / "report", private=False)
    assert code == 0
    assert all(row["holds"] for row in promises.values())


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
