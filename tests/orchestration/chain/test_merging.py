"""Shards merged in one stream: the same bytes however much comes at a time, and whatever is interrupted."""

import shutil
import stat

import polars as pl
import pytest

from republish.anonymize.errors import HomeError
from republish.anonymize.principles import principle_of
from republish.orchestration.chain import merging
from republish.orchestration.chain.merging import MERGING, merge_shards, write_groups
from republish.orchestration.readers.datapackage.dated import undated
from republish.orchestration.series.shards import shards_of
from republish.orchestration.storage import parts
from republish.orchestration.storage.store import read_table
from tests.hospital import RELEASES, Hospital, make

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


@pytest.fixture(scope="module", params=PRINCIPLES)
def released(request, _built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("merging")
    shutil.copytree(_built / "hospital", folder / "hospital")
    return Released(Hospital(folder / "hospital"), folder, request.param)


@pytest.fixture(autouse=True)
def _few_rows_in_a_part(monkeypatch):
    monkeypatch.setattr(parts, "PART_ROWS", 50)


@pytest.fixture
def few_at_a_time(monkeypatch):
    """So few groups at a time that many parts have rows of several batches."""

    def cut(groups=7):
        monkeypatch.setattr(merging, "AT_A_TIME", groups)

    return cut


def test_no_byte_depends_on_how_many_groups_come_at_a_time(released, few_at_a_time, tmp_path):
    released.deal(tmp_path / "whole")
    expected = released.merge(tmp_path / "whole")
    first = f"candidate-{released.names[0]}/"
    assert sum(name.startswith(first) for name in expected) > 4
    for groups in (1, 7, 40):
        few_at_a_time(groups)
        folder = tmp_path / f"{groups}"
        released.deal(folder)
        assert released.merge(folder) == expected


def test_groups_that_are_alike_are_in_the_order_of_their_shards(released, few_at_a_time, tmp_path):
    few_at_a_time(groups=3)
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


def test_a_release_of_nobody_has_one_part_without_rows_for_each_table(released, few_at_a_time, tmp_path):
    few_at_a_time()
    released.deal(tmp_path / "merged", nobody_in=range(SHARDS))
    found = released.merge(tmp_path / "merged")
    tables = {name for name in found if name.startswith("candidate-")}
    assert tables == {f"candidate-{name}/part-0000.parquet" for name in released.names}
    for name in released.names:
        table = undated(read_table(tmp_path / f"merged/candidate-{name}/part-0000.parquet"), FIRST)
        assert table.is_empty()
        assert table.schema == released.tables[name].schema


def test_shards_without_groups_are_merged_with_others(released, few_at_a_time, tmp_path):
    released.deal(tmp_path / "whole", nobody_in=[0, 2])
    expected = released.merge(tmp_path / "whole")
    few_at_a_time()
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


def ends(*_):
    raise HomeError("ended")


def test_what_is_begun_twice_is_written_alike(released, few_at_a_time, tmp_path, monkeypatch):
    released.deal(tmp_path / "once")
    expected = released.merge(tmp_path / "once")
    few_at_a_time()
    released.deal(tmp_path / "twice")
    monkeypatch.setattr(merging, "the_engine", Twice)
    assert released.merge(tmp_path / "twice") == expected


@pytest.mark.parametrize("at", ["in_order", "write_table", "write_linkage", "sync"])
def test_merging_that_is_interrupted_leaves_nothing_that_counts_and_is_begun_anew(
    released, few_at_a_time, tmp_path, monkeypatch, at
):
    folder = tmp_path / "merged"
    released.deal(tmp_path / "whole")
    expected = released.merge(tmp_path / "whole")
    few_at_a_time()
    released.deal(folder)
    with monkeypatch.context() as patch:
        patch.setattr(merging, at, ends)
        with pytest.raises(HomeError, match="ended"):
            released.merge(folder)
    assert not [*folder.rglob("*.partial")]
    if at != "sync":
        assert not [*folder.glob("candidate-*")]
    stale = folder / MERGING / f"candidate-{released.names[0]}"  # of a process that was killed
    stale.mkdir(parents=True)
    (stale / "part-0099.parquet").touch()
    assert released.merge(folder) == expected


def test_everything_that_is_merged_is_its_owner_s_alone(released, few_at_a_time, tmp_path, monkeypatch):
    seen = {}

    def look(_folder):
        for path in tmp_path.joinpath("merged").rglob("*"):
            seen[path] = stat.S_IMODE(path.stat().st_mode)

    few_at_a_time()
    monkeypatch.setattr(merging, "sync", look)  # before what was worked with is deleted
    released.deal(tmp_path / "merged")
    released.merge(tmp_path / "merged")
    assert {path.name for path in seen} >= {MERGING, "origins", "000000.parquet", "linkage.parquet"}
    assert all(mode == (0o700 if path.suffix in ("", ".partial") else 0o600) for path, mode in seen.items())


def test_a_group_that_no_shard_has_is_no_person_s(released, tmp_path, monkeypatch):
    monkeypatch.setattr(released, "linkage", released.linkage.with_columns(pl.col("group_id") + 1_000))
    released.deal(tmp_path / "merged")
    with pytest.raises(HomeError, match=r"hosts\.parquet: names a group"):
        released.merge(tmp_path / "merged")
