"""Shards merged range by range: the same bytes however many ranges there are, and whatever is interrupted."""

import stat

import polars as pl
import pytest

from republish.anonymize.errors import HomeError
from republish.anonymize.principles import principle_of
from republish.orchestration.chain import merging
from republish.orchestration.chain.merging import MERGING, merge_shards, ranges_of, write_groups
from republish.orchestration.readers.datapackage.dated import undated
from republish.orchestration.series.shards import shards_of
from republish.orchestration.storage import parts
from republish.orchestration.storage.store import read_table
from tests.hospital import RELEASES, make

pytestmark = pytest.mark.slow("starts processes")

FIRST = RELEASES[0]
SHARDS = 3
PRINCIPLES = {
    "generalization": {"name": "m_invariance", "m": 3, "on_ineligible": "counterfeit", "people_per_group": 2},
    "anatomy": {"name": "m_invariance", "m": 3, "on_ineligible": "wait", "format": "anatomy"},
}


class Released:
    """A release in one shard; each of three shards is given all of its groups, so that all have twins."""

    def __init__(self, hospital, folder, release_format):
        hospital.under(PRINCIPLES[release_format])
        whole = make(hospital.series(folder / "one"), FIRST)
        self.names = principle_of(whole.contract).format(whole.contract).tables(whole.contract)
        private = whole.private(FIRST)
        self.tables = {
            name: undated(read_table(private / f"candidate-{name}.parquet"), FIRST) for name in self.names
        }
        self.linkage = read_table(private / "linkage.parquet")
        hospital.declare(shards=SHARDS).under(PRINCIPLES[release_format], shards=SHARDS)
        self.series = hospital.series(folder / "two")

    def deal(self, folder, nobody_in=()):
        """Write the groups of all shards; of some, by their numbers, none."""
        for shard in shards_of(self.series):
            rows = 0 if shard.number in nobody_in else None
            tables = {name: table[:rows] for name, table in self.tables.items()}
            linkage = self.linkage.with_columns(pl.col("patient_id") + f" {shard.number}")[:rows]
            write_groups(shard, shard.within(folder), tables, linkage)

    def merge(self, folder):
        """Merge them; returns every file's bytes by name."""
        digests = merge_shards(self.series, FIRST, folder)
        found = {f"{file.relative_to(folder)}": file for file in folder.rglob("*") if file.is_file()}
        assert found.keys() == digests.keys()
        return {name: file.read_bytes() for name, file in found.items()}


@pytest.fixture(params=PRINCIPLES)
def released(request, hospital, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "PART_ROWS", 50)
    return Released(hospital, tmp_path, request.param)


@pytest.fixture
def in_ranges(monkeypatch):
    """Ranges of so few people that many parts have rows of several."""

    def cut(people=100, every=2):
        monkeypatch.setattr(merging, "PEOPLE_OF_A_RANGE", people)
        monkeypatch.setattr(merging, "EVERY", every)

    return cut


def test_no_byte_depends_on_the_ranges_or_on_where_groups_that_are_alike_are_cut(
    released, in_ranges, tmp_path
):
    released.deal(tmp_path / "whole")
    assert len(ranges_of(released.series, FIRST, tmp_path / "whole")[0]) == 1
    expected = released.merge(tmp_path / "whole")
    first = f"candidate-{released.names[0]}/"
    assert sum(name.startswith(first) for name in expected) > 4
    for people, every in ((40, 1), (90, 2), (25, 5)):
        in_ranges(people, every)
        folder = tmp_path / f"{people} {every}"
        released.deal(folder)
        assert len(ranges_of(released.series, FIRST, folder)[0]) > 5
        assert released.merge(folder) == expected


def test_groups_that_are_alike_are_in_the_order_of_their_shards(released, in_ranges, tmp_path):
    in_ranges(people=25, every=1)
    released.deal(tmp_path / "merged")
    released.merge(tmp_path / "merged")
    own = [
        read_table(shard.within(tmp_path / "merged") / "linkage.parquet").select(
            pl.col("patient_id").str.head(-2), pl.col("group_id").alias(f"in {shard.number}")
        )
        for shard in shards_of(released.series)
    ]
    both = own[0].join(own[1], on="patient_id").join(own[2], on="patient_id")
    assert both.height == released.linkage.height
    assert (
        both.select((pl.col("in 0") < pl.col("in 1")) & (pl.col("in 1") < pl.col("in 2"))).to_series().all()
    )


def test_a_release_of_nobody_has_one_part_without_rows_for_each_table(released, in_ranges, tmp_path):
    in_ranges()
    released.deal(tmp_path / "merged", nobody_in=range(SHARDS))
    found = released.merge(tmp_path / "merged")
    tables = {name for name in found if name.startswith("candidate-")}
    assert tables == {f"candidate-{name}/part-0000.parquet" for name in released.names}
    for name in released.names:
        table = undated(read_table(tmp_path / f"merged/candidate-{name}/part-0000.parquet"), FIRST)
        assert table.is_empty()
        assert table.schema == released.tables[name].schema


def test_shards_without_groups_are_merged_with_others(released, in_ranges, tmp_path):
    released.deal(tmp_path / "whole", nobody_in=[0, 2])
    expected = released.merge(tmp_path / "whole")
    in_ranges()
    released.deal(tmp_path / "merged", nobody_in=[0, 2])
    assert released.merge(tmp_path / "merged") == expected
    for name, table in released.tables.items():
        files = sorted((tmp_path / f"merged/candidate-{name}").iterdir())
        assert undated(pl.concat(map(read_table, files)), FIRST).equals(table)


class Twice:
    """An engine that begins every job twice, as one does whose process ended."""

    def run(self, function, jobs, people=0, what="shard"):
        for job in jobs:
            first = function(job)
            assert function(job) == first
            yield first


class Ends(Twice):
    """An engine that ends after so many jobs, of all that it is given."""

    def __init__(self, jobs):
        self.left = jobs

    def run(self, function, jobs, people=0, what="shard"):
        for job in jobs:
            self.left -= 1
            if self.left < 0:
                raise HomeError("ended")
            yield function(job)


def test_what_is_begun_twice_is_written_alike(released, in_ranges, tmp_path, monkeypatch):
    released.deal(tmp_path / "once")
    expected = released.merge(tmp_path / "once")
    in_ranges()
    released.deal(tmp_path / "twice")
    monkeypatch.setattr(merging, "the_engine", Twice)
    assert released.merge(tmp_path / "twice") == expected


def test_merging_that_is_interrupted_leaves_nothing_that_counts_and_is_begun_anew(
    released, in_ranges, tmp_path, monkeypatch
):
    folder = tmp_path / "merged"
    released.deal(tmp_path / "whole")
    expected = released.merge(tmp_path / "whole")
    in_ranges()
    released.deal(folder)
    ranges, _ = ranges_of(released.series, FIRST, folder)
    for jobs in (0, 1, len(ranges), len(ranges) + 3):
        with monkeypatch.context() as patch:
            patch.setattr(merging, "the_engine", lambda jobs=jobs: Ends(jobs))
            with pytest.raises(HomeError, match="ended"):
                released.merge(folder)
        assert not [*folder.glob("candidate-*"), *folder.rglob("*.partial")]
    stale = folder / MERGING / f"candidate-{released.names[0]}"  # of a process that was killed
    stale.mkdir(parents=True)
    (stale / "part-0099.parquet").touch()
    assert released.merge(folder) == expected


def test_everything_that_is_merged_is_its_owner_s_alone(released, in_ranges, tmp_path, monkeypatch):
    seen = {}

    def look(_folder):
        for path in tmp_path.joinpath("merged").rglob("*"):
            seen[path] = stat.S_IMODE(path.stat().st_mode)

    in_ranges()
    monkeypatch.setattr(merging, "sync", look)  # before what was worked with is deleted
    released.deal(tmp_path / "merged")
    released.merge(tmp_path / "merged")
    assert {path.name for path in seen} >= {MERGING, "origins.parquet", "linkage.parquet", "keys.parquet"}
    assert all(mode == (0o700 if path.suffix in ("", ".partial") else 0o600) for path, mode in seen.items())


def test_a_group_that_no_shard_has_is_no_person_s(released, tmp_path):
    released.linkage = released.linkage.with_columns(pl.col("group_id") + 1_000)
    released.deal(tmp_path / "merged")
    with pytest.raises(HomeError, match=r"hosts\.parquet: names a group"):
        released.merge(tmp_path / "merged")
