"""A divided series is audited shard by shard, where the private folder says who is in which."""

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from republish.anonymize.errors import SnapshotError
from republish.orchestration.audit.read.material import Material
from republish.orchestration.storage.manifest import MANIFEST
from republish.orchestration.storage.parts import table_files
from republish.orchestration.storage.store import write_table
from tests.hospital import RELEASES, Hospital, audited, make
from tests.orchestration.audit.published_folders import seal
from tests.orchestration.chain.test_shards import divided

pytestmark = pytest.mark.slow("starts processes")

FIRST, SECOND, _ = RELEASES
COUNTED = ("people", "broken", "holds", "required", "broken_in")


def linked(series, release, shard):
    return series.private(release) / f"shard-{shard:04d}/linkage.parquet"


@pytest.fixture(scope="module")
def made(_built, tmp_path_factory):
    """A hospital and its series of two releases in two shards."""
    folder = tmp_path_factory.mktemp("divided")
    shutil.copytree(_built / "hospital", folder / "hospital")
    hospital = Hospital(folder / "hospital")
    return hospital, make(divided(hospital, folder / "home", 2), FIRST, SECOND)


@pytest.fixture
def hospital(made):
    return made[0]


@pytest.fixture
def series(made, tmp_path):
    """What the series published and keeps, to be doctored."""
    for kind in ("published", "private"):
        shutil.copytree(getattr(made[1], f"{kind}_folder"), tmp_path / f"{kind}/hospital/v1")
    return Doctored(tmp_path / "published/hospital/v1", tmp_path / "private/hospital/v1")


class Doctored(NamedTuple):
    published_folder: Path
    private_folder: Path

    def published(self, release):
        return self.published_folder / release

    def private(self, release):
        return self.private_folder / release


def report(folder):
    return json.loads((folder / "audit.json").read_text())


def test_shards_are_found_to_keep_what_the_whole_keeps(hospital, series, tmp_path, monkeypatch):
    code, by_shard = audited(hospital, series, tmp_path / "by shard", figures=True)
    monkeypatch.setattr(Material, "goes_by_shard", False)
    expected, whole = audited(hospital, series, tmp_path / "whole", figures=True)
    assert code == expected == 0
    assert by_shard.pop("shards")["people"] == whole["hosting groups"]["people"]
    assert set(by_shard) == set(whole)
    for name, row in whole.items():
        assert [by_shard[name][part] for part in COUNTED] == [row[part] for part in COUNTED], name
        if row["found"] is not None and row["of_people"]:  # who knows the shard is left with no more
            least, most = sorted((by_shard[name]["found"], row["found"]))
            assert (least if row["bound"] == "at least" else most) == by_shard[name]["found"]
    (told,), (expected,) = (report(tmp_path / name)["series"] for name in ("by shard", "whole"))
    for mine, its in zip(told["releases"], expected["releases"], strict=True):
        for part in ("tuples", "useful", "guesses"):
            assert mine[part] == its[part]
        for figure in ("people", "people_ever", "hosts_known", "vulnerable", "fewest_people"):
            assert mine["figures"][figure] == its["figures"][figure]
    assert [row["attacked"] for row in told["intersection"]] == [
        row["attacked"] for row in expected["intersection"]
    ]


def test_a_series_that_goes_on_keeps_its_shards(hospital, tmp_path, monkeypatch):
    shutil.copytree(hospital.folder, tmp_path / "hospital", ignore=shutil.ignore_patterns(".*"))
    hospital, home, last = Hospital(tmp_path / "hospital"), tmp_path / "home", RELEASES[2]
    make(divided(hospital, home, 2), FIRST, SECOND)
    later = divided(hospital, home, 2, series="v2", supersedes="v1", releases={"first": last})
    make(later, last)
    both = Doctored(later.published_folder.parent, later.private_folder.parent)
    code, by_shard = audited(hospital, both, tmp_path / "by shard")
    monkeypatch.setattr(Material, "goes_by_shard", False)
    expected, whole = audited(hospital, both, tmp_path / "whole")
    assert code == expected == 0
    assert by_shard.pop("shards")["people"] == whole["hosting groups"]["people"]
    assert {name: (row["people"], row["holds"]) for name, row in by_shard.items()} == {
        name: (row["people"], row["holds"]) for name, row in whole.items()
    }


def test_a_person_who_changes_shard_is_convicted(hospital, tmp_path, series):
    here, there = (linked(series, SECOND, shard) for shard in (0, 1))
    before = pl.read_parquet(linked(series, FIRST, 0))
    own, other = pl.read_parquet(here), pl.read_parquet(there)
    group = own.join(before, on="patient_id", how="semi")["group_id"][0]
    moved = pl.col("group_id") == group  # with their whole group, so that no group has people of two shards
    again = own.filter(moved).join(before, on="patient_id", how="semi").height
    write_table(here, own.filter(~moved))
    write_table(there, pl.concat([other, own.filter(moved)]))
    code, promises = audited(hospital, series, tmp_path / "report")
    assert code == 3
    assert (promises["shards"]["broken"], promises["shards"]["broken_in"]) == (again, [SECOND])


def test_a_group_with_people_of_two_shards_is_convicted(hospital, tmp_path, series):
    here, there = (linked(series, FIRST, shard) for shard in (0, 1))
    own, other = pl.read_parquet(here), pl.read_parquet(there)
    size = own.filter(pl.col("group_id") == own["group_id"][0]).height
    write_table(here, own[1:])
    write_table(there, pl.concat([other, own[:1]]))
    code, promises = audited(hospital, series, tmp_path / "report")
    assert code == 3
    assert promises["shards"]["broken"] >= size
    assert not promises["hosting groups"]["holds"]


def test_what_only_the_whole_can_show_is_looked_at(hospital, tmp_path, series):
    """All groups of the first shard before those of the second: in each shard they are in order."""
    folder = series.published(FIRST)
    first = pl.read_parquet(linked(series, FIRST, 0))["group_id"].unique().implode()
    (file,) = table_files(folder, "microdata")
    table = pl.read_parquet(file)
    write_table(file, table.sort(~pl.col("group_id").is_in(first), maintain_order=True))
    seal(folder)
    stated = json.loads((series.published(SECOND) / MANIFEST).read_text())
    assert stated["previous"]
    shutil.rmtree(series.published(SECOND))
    code, promises = audited(hospital, series, tmp_path / "report")
    assert code == 3
    assert not promises["row order"]["holds"]


def test_private_folders_that_lack_a_shard_or_people_are_refused(hospital, tmp_path, series):
    file = linked(series, SECOND, 1)
    table = pl.read_parquet(file)
    write_table(file, table[2:])
    held = json.loads((series.published(SECOND) / MANIFEST).read_text()).get("held_back") or 0
    with pytest.raises(SnapshotError, match=f"the linkages of {SECOND} lack {2 + held} of the"):
        audited(hospital, series, tmp_path / "report")
    file.unlink()
    with pytest.raises(SnapshotError, match=r"has no linkage\.parquet of shard-0001") as refused:
        audited(hospital, series, tmp_path / "report")
    assert str(series.private(SECOND)) in str(refused.value)
    assert not (tmp_path / "report").exists()
