"""Forgets people, keeps what a kill at any step in the file system would leave, and goes on from there.

    python kill_points.py HOSPITAL HOME HOW IDENTIFIER… [-- NUMBER SEED]

HOW is `again` or `never`. Every home that a kill can leave is tried, or NUMBER that SEED draws. Prints each
kill point that made a difference, and at the end how many there are, how many different homes they leave, and
in how many of these nothing was done yet.
"""
# ruff: noqa: T201 - what it prints is its answer

import random
import shutil
import sys
import tempfile
from pathlib import Path

import polars as pl

from republish.orchestration.rights.forget import forget, what_is_kept
from republish.orchestration.series.lock import locked
from republish.orchestration.series.persons import comparable, forgotten
from republish.orchestration.series.recorded import verify_published
from republish.orchestration.storage.store import read_table
from tests.hospital import RELEASES, Hospital, noted, published
from tests.orchestration.chain.kill_points import Copies


def left(series):
    """What is kept, but for the numbers drawn by lot: the rows of tables; and what is out."""
    private = series.private_folder.parent
    tables = {file.relative_to(private): read_table(file) for file in sorted(private.rglob("*.parquet"))}
    kept = {
        f"{name}": table.with_columns(pl.col(pl.Binary).is_null()).rows() for name, table in tables.items()
    }
    return kept, published(series.home.path)


def goes_on(hospital, home, people, *, again):
    """Whether the next command finds nothing done, or all; and what differs after forgetting once more."""
    series = hospital.series(home)
    with locked(series):
        rows = [one.rows for one in what_is_kept(series, people)]
        assert not list(home.rglob(".replacing")), "what was staged is left over"
    gone = forgotten(series.home, "hospital")["person"]
    is_done = comparable(series.home, pl.Series(people)).is_in(gone.implode()).all()
    assert counted(home) == [len(people)] * is_done, "the log says something else"
    for release in RELEASES[:2]:
        assert series.committed(release) is not None, "what was found of a release does not hold any more"
    verify_published(series)
    forget(series, people, again=again)
    assert not list(home.rglob(".replacing")), "something is left over"
    assert not list(home.rglob("*.partial")), "something is left half-written"
    assert sum(counted(home)) == len(people), "a restored home would ask for others"
    return is_done, rows


def counted(home):
    """How many people each line of the log says were forgotten."""
    return [line["people"] for line in noted(home) if line["what"] == "forget"]


def main():
    given = sys.argv[1:]
    words, draw = (
        (given[: given.index("--")], given[given.index("--") + 1 :]) if "--" in given else (given, [])
    )
    hospital, before, again, people = Hospital(Path(words[0])), Path(words[1]), words[2] == "again", words[3:]
    work = Path(tempfile.mkdtemp(dir=before.parent))
    home, copies = work / "undisturbed", work / "copies"
    shutil.copytree(before, home)
    copies.mkdir()
    whole = [one.rows for one in what_is_kept(hospital.series(home), people)]
    counter = Copies(home, copies)
    forget(hospital.series(home), people, again=again)
    count, counter.is_busy = counter.count, True
    expected, done = (
        left(hospital.series(home)),
        [one.rows for one in what_is_kept(hospital.series(home), people)],
    )
    killed = sorted(copies.iterdir(), key=lambda folder: int(folder.name))
    tried = killed
    if draw:  # and the first, at which nothing is done yet
        tried = [killed[0], *random.Random(int(draw[1])).sample(killed[1:], int(draw[0]))]
    nothing = 0
    for folder in tried:
        try:
            is_done, rows = goes_on(hospital, folder, people, again=again)
            assert rows == (done if is_done else whole), f"a part is done: {rows}"
            assert left(hospital.series(folder)) == expected, "it is not what it would be"
            nothing += not is_done
        except Exception as error:  # noqa: BLE001 - told, whatever it is
            print(f"kill point {folder.name}: {error}")
        shutil.rmtree(folder)
    print(f"{count} kill points, {len(killed)} different homes, in {nothing} of them nothing was done")


if __name__ == "__main__":
    main()
