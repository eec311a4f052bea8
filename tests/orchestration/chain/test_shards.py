"""People who are divided into shards: the same promises, by the same chain."""

import resource
import shutil
from contextlib import contextmanager, suppress
from functools import partial

import duckdb
import polars as pl
import pytest
import yaml

from republish.anonymize.errors import AuditFailed, ContractError, HomeError, NotEligible, SnapshotError
from republish.anonymize.principles import principle_of
from republish.orchestration.chain.candidate import compute_candidate
from republish.orchestration.chain.delta import compare_snapshots
from republish.orchestration.chain.division import divide
from republish.orchestration.chain.merging import merge_shards, write_groups
from republish.orchestration.chain.publication import publish
from republish.orchestration.chain.snapshot import FAULTS, KEPT, digest_of_source, take_snapshot
from republish.orchestration.cli.examine import examine
from republish.orchestration.dagster.metadata import RELEASE, of_candidate
from republish.orchestration.engine import engine as engines
from republish.orchestration.readers.datapackage.dated import undated
from republish.orchestration.rights.find import find
from republish.orchestration.rights.forget import forget
from republish.orchestration.series import release_record
from republish.orchestration.series.shards import shard_numbers, shards_of
from republish.orchestration.snapshots import sources
from republish.orchestration.storage import parts
from republish.orchestration.storage.parts import table_files
from republish.orchestration.storage.store import read_json, read_table, sha256
from tests.hospital import (
    RELEASES,
    Hospital,
    begin,
    everything,
    make,
    make_by_dagster,
    published,
)

pytestmark = pytest.mark.slow("starts processes")

FIRST, SECOND, THIRD = RELEASES
SHARDS = 3
PRINCIPLES = {
    "generalization": {"name": "m_invariance", "m": 3, "on_ineligible": "counterfeit", "people_per_group": 2},
    "anatomy": {"name": "m_invariance", "m": 3, "on_ineligible": "wait", "format": "anatomy"},
    "e_equivalence": {"name": "e_equivalence", "m": 2, "e": 2, "on_ineligible": "wait"},
    "global_guarantee": {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 3},
}


def table(folder, name):
    return pl.concat([pl.read_parquet(file) for file in table_files(folder, name)])


def kept_in(series, release, name):
    """Which shard has each row of a file, by identifier."""
    folders = [shard.within(series.private(release)) for shard in shards_of(series)]
    tables = [read_table(folder / name).with_columns(shard=pl.lit(at)) for at, folder in enumerate(folders)]
    return pl.concat(tables)


def divided(hospital, home, shards=SHARDS, **keys):
    hospital.declare(shards=shards, **keys)
    return hospital.series(home)


@pytest.fixture(scope="module")
def begun(_built, tmp_path_factory):
    """Homes of the hospital in three shards: one release long, and two."""
    folder = tmp_path_factory.mktemp("divided")
    shutil.copytree(_built / "hospital", folder / "hospital")
    series = make(divided(Hospital(folder / "hospital"), folder / "two"), FIRST)
    shutil.copytree(folder / "two", folder / "one")
    make(series, SECOND)
    return folder


@pytest.fixture
def one_release(begun, hospital, tmp_path):
    """A divided series of the test's own, one release long."""
    shutil.copytree(begun / "one", tmp_path / "home")
    return divided(hospital, tmp_path / "home")


@pytest.fixture
def series(begun, hospital, tmp_path):
    """The same, two releases long."""
    shutil.copytree(begun / "two", tmp_path / "home")
    return divided(hospital, tmp_path / "home")


def test_people_stay_in_their_shard_and_keep_their_signatures(series):
    before, now = (kept_in(series, release, "linkage.parquet") for release in (FIRST, SECOND))
    both = before.join(now, on="patient_id", suffix="_now")
    assert both.height > 200
    assert (both["shard"] == both["shard_now"]).all()
    assert min(before["shard"].value_counts()["count"]) > 70
    assert now["patient_id"].is_unique().all()
    assert now.group_by("group_id").agg(pl.col("shard").n_unique())["shard"].max() == 1
    counted = series.committed(SECOND).counts
    assert (counted.people, counted.groups) == (now.height, now["group_id"].n_unique())
    signatures = [
        table(series.published(release), "microdata").group_by("group_id").agg(pl.col("disease").sort())
        for release in (FIRST, SECOND)
    ]
    had = both.join(signatures[0], on="group_id").join(
        signatures[1], left_on="group_id_now", right_on="group_id", suffix="_now"
    )
    overlap = pl.col("disease").list.set_intersection("disease_now").list.len()
    assert had.filter(overlap > 0).select((pl.col("disease") == pl.col("disease_now")).all()).item()


def test_the_dagster_of_a_divided_series_publishes_the_same_bytes(series, hospital, tmp_path):
    (hospital.folder / ".hospital.yaml.home").unlink()  # the first home never was
    other = hospital.series(tmp_path / "by Dagster")
    make_by_dagster(other, FIRST, SECOND)
    assert published(series.home.path) == published(other.home.path)
    shown = of_candidate(other, SECOND, other.committed(SECOND))[RELEASE]
    assert shown["people released"] == other.committed(SECOND).counts.people


def test_bytes_and_figures_do_not_depend_on_how_many_processes_there_are(hospital, tmp_path, monkeypatch):
    """Of a first release and one on another. The process that puts shards together imports no principle."""
    hospital.under(PRINCIPLES["global_guarantee"], shards=2, sensitive={"semantics": "transient"})
    one = make(hospital.series(tmp_path / "one"), FIRST, SECOND)
    (hospital.folder / ".hospital.yaml.home").unlink()  # the first home never was
    monkeypatch.setenv(engines.VARIABLE, "local[2]")
    process = begin(hospital.contract, tmp_path / "two", SECOND)
    _, said = process.communicate()
    assert process.returncode == 0, said
    assert published(tmp_path / "one") == published(tmp_path / "two")
    for release in (FIRST, SECOND):
        found, other = (each.committed(release).figures for each in (one, hospital.series(tmp_path / "two")))
        assert found == other
        assert all(isinstance(found[name], int) for name in ("placed_no_more", "releases_left_of_most"))


@pytest.mark.parametrize("release_format", ["generalization", "anatomy"])
def test_merged_shards_are_numbered_and_sorted_as_one_table_is(
    hospital, tmp_path, monkeypatch, release_format
):
    """One shard's tables, dealt out to three as if each group had been made there, come out as they were."""
    hospital.under(PRINCIPLES[release_format])
    whole = make(hospital.series(tmp_path / "one"), FIRST)
    contract, private = whole.contract, whole.private(FIRST)
    names = principle_of(contract).format(contract).tables(contract)
    tables = {name: undated(read_table(private / f"candidate-{name}.parquet"), FIRST) for name in names}
    linkage = read_table(private / "linkage.parquet")
    series = (
        hospital.declare(shards=SHARDS)
        .under(PRINCIPLES[release_format], shards=SHARDS)
        .series(tmp_path / "two")
    )
    folder, groups = tmp_path / "merged", linkage["group_id"].unique().shuffle(seed=1)
    for shard in shards_of(series):
        own = groups.gather_every(SHARDS, shard.number).shuffle(seed=2).to_frame("group_id")
        own = own.with_columns(local=pl.int_range(1, pl.len() + 1))
        dealt = [
            some.join(own, on="group_id").with_columns(group_id="local").select(some.columns)
            for some in (linkage, *tables.values())
        ]
        write_groups(shard, shard.within(folder), dict(zip(tables, dealt[1:], strict=True)), dealt[0])
    monkeypatch.setattr(parts, "PART_ROWS", 7)
    files = merge_shards(series, FIRST, folder)
    for name, expected in tables.items():
        found = [pl.read_parquet(folder / file) for file in files if file.startswith(f"candidate-{name}/")]
        assert undated(pl.concat(found), FIRST).equals(expected)
    merged = pl.concat([read_table(shard.within(folder) / "linkage.parquet") for shard in shards_of(series)])
    shown = tables[names[0]].group_by("group_id").agg(pl.exclude("group_id").unique().sort())
    alike = [one.join(shown, on="group_id").sort("patient_id").drop("group_id") for one in (merged, linkage)]
    assert alike[0].equals(alike[1])  # everybody is in a group that is published as theirs was


def test_publishing_compares_each_private_file_with_its_digest_once(begun, hospital, tmp_path, monkeypatch):
    series, read = divided(hospital, tmp_path / "home"), []
    take_snapshot(series, FIRST)
    compare_snapshots(series, FIRST)
    made = compute_candidate(series, FIRST).files
    monkeypatch.setattr(release_record, "sha256", lambda file: read.append(file) or sha256(file))
    publish(series, FIRST)
    assert sorted(read) == sorted(series.private(FIRST) / name for name in made)
    assert {"linkage.parquet", "part-0000.parquet"} <= {file.name for file in read}


@pytest.mark.parametrize("name", ["shard-0001/linkage.parquet", "candidate-microdata/part-0000.parquet"])
def test_a_candidate_of_which_a_shard_s_file_was_changed_is_none(series, name):
    file = series.private(SECOND) / name
    content = file.read_bytes()
    assert series.committed(SECOND) is not None
    file.write_bytes(content[:-1])
    assert series.committed(SECOND) is None
    file.unlink()
    assert series.committed(SECOND) is None


def test_a_record_without_files_asks_no_engine(tmp_path, monkeypatch):
    monkeypatch.setattr(release_record, "the_engine", None)
    assert release_record.is_unchanged(tmp_path, release_record.ReleaseRecord(parameters={}))


def test_the_same_identifier_in_another_spelling_is_found_in_its_shard(hospital, tmp_path):
    table = hospital.snapshot(FIRST)
    twins = table.head(9).with_columns(pl.col("patient_id").str.to_lowercase())
    hospital.deliver(FIRST, pl.concat([table, twins]))
    series = divided(hospital, tmp_path / "home")
    with pytest.raises(SnapshotError, match="9 of 309 rows repeat the identifier") as refused:
        take_snapshot(series, FIRST)
    listed = pl.read_csv(series.private(FIRST) / FAULTS)
    assert str(series.private(FIRST) / FAULTS) in str(refused.value)
    assert set(listed["row"]) <= set(range(1, 310))
    numbered = pl.concat([table, twins]).with_row_index("row", offset=1).cast({"row": pl.Int64})
    assert listed.join(numbered, left_on=["row", "identifier"], right_on=["row", "patient_id"]).height == 9
    assert not [*series.private_folder.rglob("*.partial")]


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda table: table.drop("patient_id"), "column patient_id is missing"),
        (lambda table: table.drop("age"), "column age is missing"),
        (lambda table: table.with_columns(age=pl.lit(200)), "age: 300 of 300 rows lie outside the domain"),
        (lambda table: table.clear(), "0 people"),
    ],
)
def test_what_is_wrong_is_said_of_the_whole(hospital, tmp_path, harm, said):
    hospital.deliver(FIRST, harm(hospital.snapshot(FIRST)))
    with pytest.raises((SnapshotError, NotEligible, AuditFailed), match=said):
        make(divided(hospital, tmp_path / "home"), FIRST)
    assert not published(tmp_path / "home")


def test_what_is_ordinary_is_judged_of_the_whole(hospital, tmp_path):
    """A shard that happens to have few people carried is none of anybody's business."""
    series = make(divided(hospital, tmp_path / "home", shards=6), FIRST)
    make(series, SECOND)
    hospital.deliver(THIRD, hospital.snapshot(THIRD).with_columns(pl.col("patient_id") + "x"))
    take_snapshot(series, THIRD)
    with pytest.raises(SnapshotError, match="carried"):
        compare_snapshots(series, THIRD)


def test_values_of_one_person_alone_are_counted_over_all_shards(hospital, tmp_path):
    """Each of two people with a value may be alone with it in a shard, and is not with all of them."""
    snapshot = hospital.snapshot(FIRST)
    pairs = [f"High Street {at // 2}" for at in range(snapshot.height)]
    alone = [f"High Street {at}" for at in range(snapshot.height)]
    for at, (values, texts) in enumerate(((pairs, False), (alone, True))):
        hospital.deliver(FIRST, snapshot.with_columns(disease=pl.Series(values)))
        series = divided(
            hospital, tmp_path / f"home {at}", shards=6, sensitive={"values": sorted(set(values))}
        )
        take_snapshot(series, FIRST)
        if not texts:
            assert compare_snapshots(series, FIRST).verdict.passed
            continue
        with pytest.raises(SnapshotError, match=r"100\.0% of the people have a value of disease"):
            compare_snapshots(series, FIRST)


@pytest.mark.usefixtures("one_release")
def test_shards_are_for_ever(hospital, tmp_path):
    for shards in (1, 4):
        with pytest.raises(ContractError, match=f"shards: is {shards}, but series v1 was begun with 3"):
            take_snapshot(divided(hospital, tmp_path / "home", shards=shards), SECOND)
    with pytest.raises(ContractError, match="shards: must be 3 as in v1"):
        take_snapshot(divided(hospital, tmp_path / "home", shards=1, series="v2", supersedes="v1"), SECOND)


def test_a_series_that_goes_on_from_a_divided_one_keeps_people_in_their_shards(
    one_release, hospital, tmp_path
):
    went_on = divided(hospital, tmp_path / "home", series="v2", supersedes="v1", releases={"first": SECOND})
    make(went_on, SECOND)
    before, now = kept_in(one_release, FIRST, "linkage.parquet"), kept_in(went_on, SECOND, "linkage.parquet")
    both = before.join(now, on="patient_id", suffix="_now")
    assert both.height > 200
    assert (both["shard"] == both["shard_now"]).all()


def test_validate_says_of_a_divided_series_what_would_become_of_it_and_leaves_nothing(hospital, tmp_path):
    series = divided(hospital, tmp_path / "home")
    said = []
    assert examine(series, said.append) == 0
    assert not everything(tmp_path / "home")
    made = make(series, FIRST).committed(FIRST).counts
    assert any("300 people, no faults" in line for line in said)
    foreseen = next(line for line in said if "would be released" in line)
    assert int(foreseen.split(" groups")[0].split()[-1]) == pytest.approx(made.groups, rel=0.2)
    hospital.deliver(FIRST, hospital.snapshot(FIRST).reverse())  # the same people in another order
    kept = read_json(series.private(FIRST) / KEPT)
    assert digest_of_source(series, FIRST, tmp_path / "again") == kept["sha256"]
    hospital.deliver(FIRST, hospital.snapshot(FIRST)[1:])
    said.clear()
    assert examine(series, said.append) == 0
    assert any("300 people, and the source now has another one" in line for line in said)


@pytest.mark.parametrize("again", [True, False])
def test_who_is_forgotten_is_forgotten_in_their_shards(series, hospital, tmp_path, again):
    first, *later = (hospital.snapshot(release)["patient_id"] for release in RELEASES)
    people = sorted(set(first).intersection(*later))[:12]
    shutil.copytree(tmp_path / "home", tmp_path / "alone")
    forget(series, people, again=again)
    for file in series.private_folder.rglob("*.parquet"):
        assert not set(people) & {
            cell for column in read_table(file) if column.dtype == pl.String for cell in column
        }
    make(series, THIRD)
    if again:  # as if nobody had been forgotten: they went back to their signatures
        make(hospital.series(tmp_path / "alone"), THIRD)
        assert published(tmp_path / "home") == published(tmp_path / "alone")
    else:
        present = kept_in(series, THIRD, "snapshot.parquet")["identifier"]
        assert not set(people) & set(present)


def test_a_person_is_found_in_their_shard(series):
    linkage = kept_in(series, SECOND, "linkage.parquet").row(0, named=True)
    (found,) = find(series, linkage["patient_id"]).series
    assert found.releases[-1].group == linkage["group_id"]
    microdata = table(series.published(SECOND), "microdata")
    held = microdata.filter(pl.col("group_id") == linkage["group_id"])["disease"]
    assert found.releases[-1].values == tuple(sorted(held.unique()))
    assert {one.file.split("/")[-2] for one in found.held if "/2024" in one.file} == {
        f"shard-{linkage['shard']:04d}"
    }


def test_a_snapshot_is_divided_into_the_same_files_by_one_process_and_by_two(hospital, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PIECE", 100)
    series, rows = divided(hospital, tmp_path / "home"), {}
    for workers in (1, 2):
        monkeypatch.setenv(engines.VARIABLE, f"local[{workers}]")
        rows[workers] = divide(series, sources.source_of(series.file, FIRST), tmp_path / f"{workers}").rows
    assert rows[1] == rows[2]
    assert sum(rows[1]) == hospital.snapshot(FIRST).height
    files = [{file.name: file.read_bytes() for file in (tmp_path / "1/shard-0001").iterdir()}]
    assert len(files[0]) == 1 + -(-hospital.snapshot(FIRST).height // 100)
    assert files == [{file.name: file.read_bytes() for file in (tmp_path / "2/shard-0001").iterdir()}]


def as_csv(folder, release, people):
    people.write_csv(folder / f"{release}.csv", separator=";", include_bom=True, quote_style="always")
    return {"path": str(folder / "{release}.csv"), "separator": ";"}


def as_folder(folder, release, people, kind):
    """Three files; in one of them columns are in another order."""
    (folder / release).mkdir(exist_ok=True)
    for number in range(3):
        part = people[number * 120 : (number + 1) * 120].select(people.columns[:: -1 if number == 1 else 1])
        getattr(part, f"write_{kind}")(folder / f"{release}/part-{number}.{kind}")
    return {"path": str(folder / f"{{release}}/*.{kind}")}


def as_query(folder, release, people):
    with duckdb.connect(folder / "people.duckdb") as database:
        database.register("now", people)
        database.execute(
            "CREATE TABLE IF NOT EXISTS everybody AS SELECT *, DATE '1900-01-01' AS seen FROM now"
        )
        database.execute(f"INSERT INTO everybody SELECT *, DATE '{release}' FROM now")  # noqa: S608
    query = "SELECT * FROM everybody WHERE seen = :release ORDER BY patient_id"
    return {"dsn": f"duckdb:///{folder}/people.duckdb", "query": query}


DELIVERED = {
    "csv": as_csv,
    "folder of csv": partial(as_folder, kind="csv"),
    "folder of parquet": partial(as_folder, kind="parquet"),
    "query": as_query,
}


def from_source(hospital, home, source):
    """A divided series of another source than the hospital's own."""
    declared = yaml.safe_load(hospital.declare(shards=SHARDS).contract.read_text()) | {"source": source}
    hospital.contract.write_text(yaml.safe_dump(declared))
    return hospital.series(home)


@pytest.mark.parametrize("source", DELIVERED)
def test_a_source_that_is_read_in_pieces_comes_to_the_same_snapshot_or_its_fault_is_listed(
    one_release, hospital, tmp_path, monkeypatch, source
):
    expected = kept_in(one_release, FIRST, "snapshot.parquet")
    (hospital.folder / ".hospital.yaml.home").unlink()  # the first home never was
    monkeypatch.setattr(sources, "PIECE", 100)
    table, folders = hospital.snapshot(FIRST).sort("patient_id"), (tmp_path / "faulty", tmp_path / "right")
    at_fault = pl.col("patient_id") == table["patient_id"][-1]
    faulty = table.with_columns(age=pl.when(at_fault).then(200).otherwise("age"))
    for folder, people in zip(folders, (faulty, hospital.snapshot(FIRST)), strict=True):
        folder.mkdir()
        series = from_source(hospital, tmp_path / "two", DELIVERED[source](folder, FIRST, people))
        if people is faulty:
            with pytest.raises(SnapshotError, match="age: 1 of 300 rows lie outside the domain"):
                take_snapshot(series, FIRST)
            assert pl.read_csv(series.private(FIRST) / FAULTS)["row"].to_list() == [300]  # in the last piece
    take_snapshot(series, FIRST)
    assert kept_in(series, FIRST, "snapshot.parquet").equals(expected)


def test_files_of_a_folder_whose_types_do_not_go_together_are_refused(hospital, tmp_path):
    people, folder = hospital.snapshot(FIRST), tmp_path / FIRST
    delivered = as_folder(tmp_path, FIRST, people, "parquet")
    people.with_columns(pl.col("age").reshape((-1, 1))).write_parquet(folder / "part-1.parquet")
    with pytest.raises(SnapshotError, match="in types that don't go together; deliver all of them"):
        take_snapshot(from_source(hospital, tmp_path / "home", delivered), FIRST)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_shard_may_be_empty(hospital, tmp_path, ending):
    one = hospital.snapshot(FIRST).head(1)
    {"csv": one.write_csv, "parquet": one.write_parquet}[ending](tmp_path / f"{FIRST}.{ending}")
    series = divided(hospital, tmp_path / "home", source={"path": str(tmp_path / f"{{release}}.{ending}")})
    found = divide(series, sources.source_of(series.file, FIRST), tmp_path / "divided")
    assert sorted(found.rows) == [0, 0, 1]
    assert [found.source_of(shard).height for shard in shards_of(series)] == found.rows


def test_a_snapshot_that_changes_while_it_is_read_is_refused(hospital, tmp_path):
    series = divided(hospital, tmp_path / "home")
    file = hospital.file(FIRST)
    pieces = sources.source_of(series.file, FIRST).pieces(sources.PIECE).pieces
    hospital.snapshot(FIRST).head(10).write_parquet(file)
    with pytest.raises(SnapshotError, match="changed while it was read; release again"):
        pieces[-1].read()
    file.unlink()
    with pytest.raises(SnapshotError, match="deliver it where all machines"):
        pieces[-1].read()


def test_a_shard_that_can_not_be_published_is_named(hospital, tmp_path):
    hospital.under({"name": "m_invariance", "m": 6, "on_ineligible": "refuse"}, shards=9)
    with pytest.raises(NotEligible, match=r"in shard \d of 9: "):
        make(hospital.series(tmp_path / "home"), FIRST)
    assert not published(tmp_path / "home")


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"sensitive": {"values": None}}, "list the values"),
        ({"shards": 0}, "shards"),
        ({"shards": "3"}, "shards"),
    ],
)
def test_what_can_not_be_divided_is_refused(hospital, keys, why):
    with pytest.raises(ContractError, match=why):
        hospital.declare(**{"shards": 3, **keys}).series("/nowhere")


def test_shards_are_about_equally_large_and_look_at_the_form_of_an_identifier_alone():
    numbers = pl.Series(range(30_000))
    found = shard_numbers(numbers, b"a key", 3)
    assert found.value_counts()["count"].min() > 9_700
    assert shard_numbers(numbers.cast(pl.String) + ".0", b"a key", 3).equals(found)
    assert not shard_numbers(numbers, b"another key", 3).equals(found)
    names = pl.Series(["p7", "P7 ", "p7", None])
    assert shard_numbers(names, b"a key", 1_000)[:3].n_unique() == 1


@contextmanager
def disk_full_from(size):
    """No file can be larger than so many bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_leaves_the_same_bytes_or_nothing(begun, one_release, tmp_path):
    """Whatever file of the release is the first that can't be written as a whole."""
    series, whole = one_release, published(begun / "two")
    before = published(tmp_path / "home")
    written = (begun / "two").rglob(f"{SECOND}/**/*")
    sizes = {file.stat().st_size for file in written if file.is_file()}
    refused = 0
    for size in sorted(sizes):
        with disk_full_from(size - 1), suppress(HomeError):
            make(series, SECOND)
        found = published(tmp_path / "home")
        refused += found == before
        assert found in (before, whole)
    assert refused
    make(series, SECOND)
    assert published(tmp_path / "home") == whole
    assert not [*(tmp_path / "home").rglob("*.partial")]
