"""People are the same people whatever they are called, and people who are not alike are others."""

import re
from collections import defaultdict

import numpy as np
import polars as pl
import pytest

from republish.anonymize.errors import SnapshotError
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.rights.find import find
from republish.orchestration.rights.forget import forget
from republish.orchestration.snapshots.crosswalks import asked_for, crosswalk
from republish.orchestration.snapshots.rekeyed import count_alike, form_of_change
from republish.orchestration.snapshots.sources import read_snapshot, source_of
from tests.hospital import RELEASES, audited, make

FIRST, SECOND, THIRD = RELEASES
M = 3


def rekey(hospital, release, share=3, form="N{}"):
    """Give every third person of a snapshot who was in the one before another identifier; old and new."""
    now, before = hospital.snapshot(release), hospital.snapshot(RELEASES[RELEASES.index(release) - 1])
    both = now.join(before, on="patient_id", how="semi")["patient_id"].sort().gather_every(share)
    became = pl.DataFrame({"old": both, "new": [form.format(name[1:]) for name in both]})
    for later in RELEASES[RELEASES.index(release) :]:
        known = hospital.snapshot(later).join(
            became, left_on="patient_id", right_on="old", how="left", maintain_order="left"
        )
        hospital.deliver(
            later, known.with_columns(pl.coalesce("new", "patient_id").alias("patient_id")).drop("new")
        )
    return became


def state(hospital, release, became, name="crosswalk.csv", **keys):
    became.write_csv(hospital.folder / name)
    return hospital.declare(identifiers={release: name}, **keys)


def left_of(series, names):
    """The values that an adversary has left of each person who knows all their groups: a count by person.

    `names` has all names of each person. Everything is read from the published rows, and from the publisher's
    list of who is in which group.
    """
    groups = defaultdict(list)
    for release in series.releases:
        rows = pl.read_parquet(series.published_folder / release / "microdata.parquet")
        values = {group: set(row) for group, row in rows.group_by("group_id").agg("disease").iter_rows()}
        linkage = pl.read_parquet(series.private(release) / "linkage.parquet")
        for name, group in linkage.select("patient_id", "group_id").iter_rows():
            groups[name].append(values[group])
    return [len(set.intersection(*(one for name in person for one in groups[name]))) for person in names]


@pytest.mark.slow("makes and audits many releases")
def test_people_under_other_identifiers_keep_their_signatures_and_else_do_not(hospital, tmp_path):
    home = tmp_path / "home"
    became = rekey(hospital, SECOND)
    again = rekey(hospital, THIRD, 4, "Z{}")
    last = became.join(again, left_on="new", right_on="old", how="left", suffix="_last")
    people = [[name for name in row if name is not None] for row in last.iter_rows()]
    state(hospital, SECOND, became)
    again.write_csv(hospital.folder / "again.csv")
    hospital.declare(identifiers={SECOND: "crosswalk.csv", THIRD: "again.csv"})
    series = make(hospital.series(home), *RELEASES)
    assert min(left_of(series, people)) >= M
    hospital.declare(accept={SECOND: ["alike"], THIRD: ["alike"]})
    others = make(hospital.series(tmp_path / "other"), *RELEASES)
    assert min(left_of(others, people)) == 1  # the same attack, where nobody says who became whom
    hospital.declare(identifiers={SECOND: "crosswalk.csv", THIRD: "again.csv"})
    code, promises = audited(hospital, series, tmp_path / "report")
    assert code == 0
    assert all(row["holds"] for row in promises.values())
    today = next(person[-1] for person in people if len(person) == 3)
    for name in (today, today.lower()):
        assert [one.in_release for one in find(series, name).series[0].releases] == [True] * 3
    forget(series, [today], again=False)
    assert not any(one.in_snapshot for one in find(series, today).series[0].releases)


@pytest.mark.slow("makes and audits many releases")
def test_an_account_goes_on_under_another_identifier(hospital, tmp_path):
    """Whoever was linked to a value as often as is promised is not linked to it again."""
    principle = {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 2}
    became = rekey(hospital, THIRD)

    def risks(series):
        escaped = defaultdict(lambda: 1.0)
        names = dict(became.select("new", "old").iter_rows())
        for release in series.releases:
            rows = pl.read_parquet(series.published_folder / release / "microdata.parquet")
            people = pl.read_parquet(series.private(release) / "linkage.parquet")
            shares = (
                rows.group_by("group_id", "disease")
                .len("rows")
                .with_columns(share=pl.col("rows") / pl.col("rows").sum().over("group_id"))
            )
            both = people.join(shares, on="group_id").select("patient_id", "disease", "share")
            for name, disease, share in both.iter_rows():
                escaped[names.get(name, name), disease] *= 1 - share
        return 1 - min(escaped.values())

    keys = {"sensitive": {"semantics": "transient"}}
    hospital.under(principle | {"on_ineligible": "wait"}, identifiers={THIRD: "crosswalk.csv"}, **keys)
    became.write_csv(hospital.folder / "crosswalk.csv")
    assert risks(make(hospital.series(tmp_path / "home"), *RELEASES)) <= 0.5 + 1e-9
    hospital.under(principle | {"on_ineligible": "wait"}, accept={THIRD: ["alike"]}, **keys)
    assert risks(make(hospital.series(tmp_path / "other"), *RELEASES)) > 0.5


@pytest.mark.slow("makes a release")
def test_leavers_and_newcomers_alike_are_asked_about(hospital, tmp_path):
    became = rekey(hospital, SECOND)
    series = make(hospital.declare().series(tmp_path / "home"), FIRST)
    with pytest.raises(SnapshotError) as refused:
        make(series, SECOND)
    words = str(refused.value)
    found = re.search(r"(\d+) people left, and as many came who are alike in every column", words)
    assert 0.6 * became.height < int(found[1]) <= became.height  # of the others, something changed
    assert "the new ones have another character at the beginning" in words
    assert f"identifiers: {{{SECOND}: FILE.csv}}" in words
    assert f"accept: {{{SECOND}: [alike]}}" in words
    assert not any(name in words for name in became["new"])


FAULTS = {
    "merger": (lambda became: became.with_columns(new=pl.lit("N1")), "1 new identifiers were several old"),
    "split": (
        lambda became: pl.concat([became, became.with_columns(new="X" + pl.col("new"))]),
        "old identifiers became several new ones",
    ),
    "no new": (lambda became: became.with_columns(new=pl.lit("")), "rows lack one of the two"),
    "columns": (lambda became: became.rename({"old": "before"}), "its columns must be old and new"),
    "swapped": (lambda became: became.select(old="new", new="old"), "Are old and new swapped in that file"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_crosswalk_that_does_not_say_who_became_whom_is_refused(hospital, home, fault):
    alter, words = FAULTS[fault]
    became = rekey(hospital, SECOND)
    series = state(hospital, SECOND, alter(became)).series(home)
    with pytest.raises(SnapshotError, match=words) as refused:
        take_snapshot(series, SECOND)
    assert not any(name in str(refused.value) for name in became["old"])
    (hospital.folder / "crosswalk.csv").unlink()
    with pytest.raises(SnapshotError, match="there is no such file"):
        take_snapshot(series, SECOND)


@pytest.mark.slow("makes a release")
@pytest.mark.parametrize("shards", [1, 2])
def test_whoever_has_the_new_identifier_already_gets_no_second_signature(hospital, tmp_path, shards):
    """A register lists a merged record under the number of the one that goes on, which it does not list."""
    one, other = hospital.snapshot(FIRST)["patient_id"].sort()[:2]
    hospital.deliver(SECOND, hospital.snapshot(SECOND).filter(pl.col("patient_id") != one))
    merged = pl.DataFrame({"old": [one], "new": [other]})
    series = state(hospital, SECOND, merged, shards=shards).series(tmp_path / "own")
    make(series, FIRST)
    with pytest.raises(SnapshotError, match="1 new identifiers are those of people whom the file") as refused:
        make(series, SECOND)
    assert other not in str(refused.value)


def test_a_later_list_gives_nobody_the_number_of_somebody_else(hospital):
    lists(hospital, {"P1": "N1", "P2": "N2"}, {"P3": "N1"})
    with pytest.raises(SnapshotError, match="1 new identifiers are those of people whom the file"):
        crosswalk(load_contract(hospital.contract), THIRD)
    lists(hospital, {"P1": "N1", "P2": "N2"}, {"P3": "N1", "N1": "N3"})
    known = crosswalk(load_contract(hospital.contract), THIRD)
    assert known.first_of(pl.Series(["N1", "N2", "N3"])).to_list() == ["P3", "P2", "P1"]


def test_people_are_found_by_each_identifier_that_is_nobody_elses(hospital):
    """Whoever asks to be forgotten has a letter with the number of that year."""
    lists(hospital, {"P1": "N1", "P2": "N2"}, {"N1": "N2", "N2": "X2"})
    asked = asked_for(load_contract(hospital.contract), ["P1", "n1", "N2", "X2", "P3"])
    assert asked == ["P1", "P1", "P1", "P2", "P3"]


def lists(hospital, *lists):
    names = dict(zip((SECOND, THIRD), ("crosswalk.csv", "later.csv"), strict=True))
    for name, became in zip(names.values(), lists, strict=True):
        pl.DataFrame({"old": [*became], "new": [*became.values()]}).write_csv(hospital.folder / name)
    hospital.declare(identifiers=names)


@pytest.mark.slow("makes a release")
def test_a_list_that_is_there_is_named_where_it_lists_others(hospital, tmp_path):
    became = rekey(hospital, SECOND)
    series = state(hospital, SECOND, became.with_columns(old="x" + pl.col("old"))).series(tmp_path / "own")
    make(series, FIRST)
    with pytest.raises(SnapshotError, match=r"crosswalk\.csv has to list them, each as they were"):
        make(series, SECOND)


def test_numbers_that_all_move_up_are_translated_at_once(hospital, home):
    names = hospital.snapshot(SECOND)["patient_id"].sort()
    moved = pl.DataFrame({"old": names, "new": names.shift(-1).fill_null("P99999999")})
    file = state(hospital, SECOND, moved)
    known = crosswalk(load_contract(file.contract), SECOND)
    assert known.first_of(moved["new"]).to_list() == moved["old"].to_list()
    assert known.given_up.to_list() == [names[0]]
    assert crosswalk(load_contract(file.contract), FIRST) is None


def people(number, seed, columns=(2, 4, 6), first=0):
    chance = np.random.default_rng(seed)
    rest = {f"rest_{at}": chance.integers(0, size, number).astype(str) for at, size in enumerate(columns)}
    return pl.DataFrame({"text": [f"P{first + at:05d}" for at in range(number)], **rest})


COLUMNS = {"few values": (2, 4, 6), "some": (70, 2, 5, 6), "dates": (25_000, 2, 4, 6), "one": (90, 2)}


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("number", [12, 400])
def test_people_who_come_in_place_of_others_are_alike_by_chance_alone(number, columns):
    found = [
        count_alike(
            people(number, seed, columns),
            people(number, seed + 1_000, columns, 5_000),
            people(2 * number, seed + 2_000, columns, 9_000),
        )
        for seed in range(50)
    ]
    assert sum(map(bool, found)) <= 1


@pytest.mark.parametrize("columns", [(70, 2, 5, 6), (25_000, 2, 4, 6)])
@pytest.mark.parametrize("number", [12, 60, 400])
def test_the_same_people_among_others_are_found(number, columns):
    same = people(number, 1, columns)
    renamed = same.with_columns(text=pl.format("Q{}", pl.col("text").str.slice(1)))
    gone = pl.concat([same, people(number, 2, columns, 20_000)])
    new = pl.concat([renamed, people(number, 3, columns, 40_000)])
    stayed = people(4 * number, 4, columns, 60_000)
    assert count_alike(gone, new, stayed) >= number
    assert count_alike(same, renamed, stayed.clear()) == number


CHANGES = {
    "the new ones have characters more at the beginning": lambda name: "01-" + name,
    "the new ones have characters more at the end": lambda name: name + "-a",
    "the new ones have characters fewer at the beginning": lambda name: name.str.slice(1),
    "the new ones have other characters at the beginning": lambda name: "QZ" + name.str.slice(2),
}


@pytest.mark.parametrize("words", CHANGES)
def test_the_form_of_a_change_of_identifiers_is_said(words):
    gone = people(60, 1, COLUMNS["dates"])
    assert form_of_change(gone, gone.with_columns(text=CHANGES[words](pl.col("text")))) == words
    others = pl.Series([f"{number:012x}" for number in np.random.default_rng(5).integers(0, 2**45, 60)])
    assert form_of_change(gone, gone.with_columns(text=others)) is None


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_with_new_names_are_read_by_them(hospital, home, kind):
    """Also where two columns have each other's names."""
    names = {"patient_id": "Person ID", "age": "sex", "sex": "Age"}
    hospital.declare(
        source={"path": f"{kind}/{{release}}.{kind}"},
        sources={THIRD: {"names": names, "final_newline": False}},
    )
    (hospital.folder / kind).mkdir()
    people = hospital.snapshot(THIRD)
    renamed, file = people.rename(names), hospital.folder / kind / f"{THIRD}.{kind}"
    renamed.write_csv(file) if kind == "csv" else renamed.write_parquet(file)
    read = read_snapshot(source_of(load_contract(hospital.contract), THIRD))
    assert sorted(read["identifier"]) == sorted(people["patient_id"])
    ages = dict(people.select("patient_id", "age").iter_rows())
    assert all(ages[name] == age for name, age in read.select("identifier", "qi_0").iter_rows())
    hospital.declare(source={"path": f"{kind}/{{release}}.{kind}"})
    with pytest.raises(
        SnapshotError, match=r"the column patient_id is missing.* names: \{patient_id: Person ID\}"
    ):
        read_snapshot(source_of(load_contract(hospital.contract), THIRD))
