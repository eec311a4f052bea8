"""A snapshot or a release that looks odd is not published, unless it is accepted by name for that release."""

import json
import re
import shutil

import duckdb
import polars as pl
import pytest
import yaml

from republish.anonymize.errors import HomeError, NotEligible, SnapshotError
from republish.orchestration.chain import candidate
from republish.orchestration.chain.arrival import has_arrived
from republish.orchestration.chain.candidate import compute_candidate
from republish.orchestration.chain.delta import compare_snapshots
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.cli.examine import examine
from republish.orchestration.expectations.judge import Judge
from republish.orchestration.expectations.verdict import no_verdict
from tests.hospital import RELEASES, Hospital, audited, make
from tests.orchestration.chain.test_bad_input import refused

FIRST, SECOND, THIRD = RELEASES


def with_identifiers(snapshot, alter):
    return snapshot.with_columns(patient_id=alter(pl.col("patient_id")))


def as_numbers(identifier):
    return identifier.str.slice(1).cast(pl.Int64)


FORMS = {
    "lower case": (lambda name: name.str.to_lowercase(), "small and capital letters"),
    "spaces": (lambda name: name + " ", "spaces around them"),
    "numbers": (as_numbers, "letters, spaces and signs between the digits"),
}


@pytest.mark.parametrize("form", FORMS)
def test_identifiers_that_change_their_form(hospital, home, form):
    """Everybody would have left, and as many would have come: their signatures would be new ones."""
    alter, words = FORMS[form]
    hospital.deliver(THIRD, with_identifiers(hospital.snapshot(THIRD), alter))
    message, code = refused(hospital, home, SnapshotError)
    assert (
        "0.0% of the people of the snapshot before are in this one; expect.carried says at least" in message
    )
    assert f"of the identifiers are those of the snapshot before, but for {words}" in message
    assert re.search(rf"accept: {{{THIRD}: \[carried(, alike)?\]}}", message)
    assert code == 2


@pytest.mark.parametrize("form", ["{} ", "{}\u200b"])
def test_a_fifth_of_the_identifiers_in_another_form(hospital, home, form):
    """Most people are carried, and the others would be published as if they were new."""
    is_one = pl.int_range(pl.len()) % 5 == 0
    other = pl.format(form, pl.col("patient_id"))
    people = hospital.snapshot(THIRD).with_columns(
        patient_id=pl.when(is_one).then(other).otherwise("patient_id")
    )
    known = hospital.snapshot(SECOND)["patient_id"]
    drift = hospital.snapshot(THIRD)[::5]["patient_id"].is_in(known.implode()).sum()
    hospital.deliver(THIRD, people)
    message, code = refused(hospital, home, SnapshotError)
    assert f"{drift} people of the snapshot before are here under an identifier in another form" in message
    assert f"accept: {{{THIRD}: [identifiers]}}" in message
    assert code == 2


@pytest.fixture
def numbered(hospital):
    """A hospital whose identifiers are digits with leading zeros, delivered as CSV."""
    declared = yaml.safe_load(hospital.contract.read_text())
    declared["source"] = {"path": "csv/{release}.csv"}
    hospital.contract.write_text(yaml.safe_dump(declared, sort_keys=False))
    (hospital.folder / "csv").mkdir()
    return hospital


def deliver_csv(hospital, release, identifiers, kind="csv"):
    known = {name: n for n, name in enumerate(sorted(hospital.snapshot(FIRST)["patient_id"]), start=1)}
    others = sorted(set(hospital.snapshot(release)["patient_id"]) - known.keys())
    known |= {name: n for n, name in enumerate(others, start=len(known) + 1)}
    snapshot = hospital.snapshot(release).with_columns(
        patient_id=pl.col("patient_id").replace_strict(known, return_dtype=pl.Int64)
    )
    snapshot = snapshot.with_columns(patient_id=identifiers(pl.col("patient_id")))
    file = hospital.folder / "csv" / f"{release}.{kind}"
    snapshot.write_csv(file) if kind == "csv" else snapshot.write_parquet(file)


def padded(number):
    return number.cast(pl.String).str.zfill(5)


@pytest.mark.slow("takes more than a second")
def test_leading_zeros_that_are_lost_or_added(numbered, tmp_path):
    deliver_csv(numbered, FIRST, padded)
    home = tmp_path / "new home"
    make(numbered.series(home), FIRST)
    for identifiers in (
        lambda number: number.cast(pl.String),
        lambda number: pl.concat_str(pl.lit("0"), padded(number), pl.lit(" ")),
    ):
        deliver_csv(numbered, SECOND, identifiers)
        message, _ = refused(numbered, home, SnapshotError, release=SECOND)
        assert "but for leading zeros" in message


@pytest.mark.slow("takes more than a second")
def test_the_same_identifiers_as_text_and_as_numbers_are_the_same_people(numbered, tmp_path):
    deliver_csv(numbered, FIRST, lambda number: number)
    deliver_csv(numbered, SECOND, lambda number: number, kind="parquet")
    series = make(numbered.series(tmp_path / "new home"), FIRST)
    text = numbered.contract.read_text()
    numbered.contract.write_text(text.replace("csv/{release}.csv", "csv/{release}.parquet"))
    series = make(numbered.series(series.home.path), SECOND)
    assert compare_snapshots(series, SECOND).figures.carried > 250


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize(("kept", "share"), [(0, "0.0%"), (140, "4")])
def test_a_csv_file_with_a_header_only_or_cut_at_a_lines_end(numbered, tmp_path, kept, share):
    for release in (FIRST, SECOND):
        deliver_csv(numbered, release, padded)
    file = numbered.folder / "csv" / f"{SECOND}.csv"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[: kept + 1]))
    home = tmp_path / "new home"
    make(numbered.series(home), FIRST)
    message, code = refused(numbered, home, SnapshotError, release=SECOND)
    assert f"{share}" in message
    assert "of the people of the snapshot before are in this one" in message
    assert ("the snapshot has 0 people" in message) == (not kept)
    assert code == 2


def test_a_first_snapshot_with_nobody(hospital, tmp_path):
    hospital.deliver(FIRST, hospital.snapshot(FIRST).clear())
    series = hospital.series(tmp_path / "new home")
    with pytest.raises(SnapshotError) as refusal:
        make(series, FIRST)
    assert "the snapshot has 0 people; expect.people says at least 1" in str(refusal.value)
    assert refusal.value.exit_code == 2
    assert not series.published_folder.exists()


@pytest.mark.slow("takes more than a second")
def test_what_is_accepted_by_name_is_accepted_for_that_release_alone(hospital, home):
    half = hospital.snapshot(THIRD)[::3]
    hospital.deliver(THIRD, half)
    for other in ({SECOND: ["carried"]}, {THIRD: ["changed", "people"]}):
        hospital.declare(accept=None).declare(accept=other)
        refused(hospital, home, SnapshotError)
    hospital.declare(accept=None).declare(accept={THIRD: ["carried"]})
    series = make(hospital.series(home), THIRD)
    assert compare_snapshots(series, THIRD).verdict.passed


def test_great_expectations_decides(hospital, home, monkeypatch):
    """Whatever is odd is refused by the suite; without its verdict, nothing is released."""
    series = hospital.series(home)
    take_snapshot(series, THIRD)

    def ended(*_):
        raise EOFError

    monkeypatch.setattr(Judge, "ask", ended)
    with pytest.raises(SnapshotError, match="Great Expectations ended before it gave a verdict"):
        compare_snapshots(series, THIRD)
    assert not (series.private(THIRD) / "delta.parquet").exists()


# ---- values that one person alone has


def with_notes(hospital, release, note, share):
    """Texts of people's own in place of diseases, for a share of them."""
    notes = pl.when(pl.int_range(pl.len()) < share * pl.len()).then(pl.format(note, pl.int_range(pl.len())))
    snapshot = hospital.snapshot(release)
    hospital.deliver(release, snapshot.with_columns(disease=notes.otherwise("disease")))


@pytest.mark.slow("makes and audits many releases")
def test_free_text_is_refused_until_it_is_accepted(hospital, tmp_path):
    """What is free text and what is somebody's own value is in tests/anonymize/people/test_own_values.py."""
    hospital.declare({"sensitive": {"values": None}})
    accepted = ["own_values", "free_text"]
    with_notes(hospital, FIRST, note="fell from a ladder at no. {}", share=1.0)
    take_snapshot(series := hospital.series(tmp_path / "new home"), FIRST)
    with pytest.raises(SnapshotError) as refusal:
        compare_snapshots(series, FIRST)
    message = str(refusal.value)
    assert "100.0% of the people have a value of disease that nobody else has" in message
    assert "sensitive.hierarchy" in message
    assert f"accept: {{{FIRST}: [{', '.join(accepted)}]}}" in message
    assert "looks like a sentence" in message
    assert "ladder" not in message
    hospital.declare(accept={FIRST: accepted})
    series = hospital.series(series.home.path)
    assert compare_snapshots(series, FIRST).verdict.passed
    # It is the column that is accepted, and not the one snapshot.
    assert set(series.contract.accepted(SECOND)) == set(accepted)


# ---- values that were recoded


def recoded(hospital, release, **names):
    snapshot = hospital.snapshot(release)
    hospital.deliver(release, snapshot.with_columns(disease=pl.col("disease").replace(names)))


RECODED = {"flu": "influenza", "stroke": "apoplexy", "asthma": "asthma bronchiale", "diabetes": "diabetes 2"}
RECODED |= {"hypertension": "high blood pressure"}


@pytest.fixture(scope="module")
def _undeclared(_built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undeclared")
    shutil.copytree(_built / "hospital", folder / "hospital")
    hospital = Hospital(folder / "hospital").declare(sensitive={"values": None})
    return make(hospital.series(folder / "home"), FIRST).home.path


@pytest.fixture
def undeclared(_undeclared, hospital, tmp_path):
    """A hospital that lists no values, one release long, and its home."""
    shutil.copytree(_undeclared, tmp_path / "new home")
    return hospital.declare(sensitive={"values": None}), tmp_path / "new home"


@pytest.mark.slow("takes more than a second")
def test_a_recoding_is_refused_and_says_how_to_name_it(undeclared):
    hospital, home = undeclared
    recoded(hospital, SECOND, **RECODED)
    message, code = refused(hospital, home, SnapshotError, release=SECOND)
    assert (
        "of the people in both snapshots have another sensitive value; expect.changed says at most" in message
    )
    assert code == 2


@pytest.mark.slow("takes more than a second")
def test_many_changes_are_refused_and_say_what_to_expect_if_they_are_usual(undeclared):
    hospital, home = undeclared
    snapshot = hospital.snapshot(SECOND)
    changed = pl.col("disease").shuffle(seed=1).over(pl.int_range(pl.len()) % 3 == 0)
    hospital.deliver(SECOND, snapshot.with_columns(disease=changed))
    message, code = refused(hospital, home, SnapshotError, release=SECOND)
    said = (
        r"If as many change in every release, write under expect: changed: (0\.\d+); values that come and go"
    )
    assert code == 2
    share = float(re.search(said, message)[1])
    found = float(re.search(r"([\d.]+)% of the people in both snapshots have another", message)[1]) / 100
    assert 0 <= share - found < 0.05


@pytest.mark.slow("takes more than a second")
def test_a_value_that_looks_renamed_is_refused_with_the_line_that_declares_it(undeclared):
    """The share of people who changed is ordinary, and everybody who changed would be given away."""
    hospital, home = undeclared
    people = hospital.snapshot(SECOND).filter(disease="stroke").height
    both = hospital.snapshot(FIRST).filter(disease="stroke").join(hospital.snapshot(SECOND), on="patient_id")
    assert 1 < both.height <= people < 0.1 * 300
    recoded(hospital, SECOND, stroke="apoplexy: I63")
    message, code = refused(hospital, home, SnapshotError, release=SECOND)
    assert code == 2
    assert f"{both.height} people have a value that looks renamed" in message
    assert f"{both.height} of the {both.height} people who had it now have 'apoplexy: I63'" in message
    line = "renamed: {stroke: 'apoplexy: I63'}"
    assert f"write under sensitive: {line}. " in message
    assert f"accept: {{{SECOND}: [renamed]}}" in message
    said = []
    assert examine(hospital.series(home), said.append) == 2
    assert line in "\n".join(said)
    hospital.declare(sensitive={"values": None} | yaml.safe_load(line))
    assert compare_snapshots(make(hospital.series(home), SECOND), SECOND).verdict.passed


def values_left(series, kept):
    """How many values are left to whoever knows people's groups, and that apoplexy is stroke."""
    left = {}
    for release in (FIRST, SECOND):
        groups = {}
        published = pl.read_parquet(series.published(release) / "microdata.parquet")
        for group, value in published.select("group_id", "disease").iter_rows():
            groups.setdefault(group, set()).add({"apoplexy": "stroke"}.get(value, value))
        linkage = pl.read_parquet(series.private(release) / "linkage.parquet")
        for person, group in linkage.select("patient_id", "group_id").iter_rows():
            left.setdefault(person, []).append(groups[group])
    return [len(set.intersection(*left[person])) for person in kept]


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize(
    ("declared", "is_refused"),
    [({"accept": {SECOND: ["renamed"]}}, True), ({"sensitive": {"renamed": {"stroke": "apoplexy"}}}, False)],
)
def test_a_value_under_two_names_would_give_people_away_and_a_declared_one_gives_nobody(
    hospital, tmp_path, declared, is_refused
):
    # With people_per_group, those whose value is certain would wait.
    undeclared = {
        "sensitive": {"values": None},
        "principle": {"on_ineligible": "wait", "people_per_group": 1},
    }
    home = make(hospital.declare(undeclared).series(tmp_path / "home"), FIRST).home.path
    values = [hospital.snapshot(release).select("patient_id", "disease") for release in (FIRST, SECOND)]
    kept = values[0].join(values[1], on=("patient_id", "disease"))["patient_id"]
    recoded(hospital, SECOND, stroke="apoplexy")
    undeclared["sensitive"] |= declared.pop("sensitive", {})
    hospital.declare(undeclared, **declared)
    if is_refused:
        with pytest.raises(NotEligible, match="nobody else is known to have had their new value"):
            make(hospital.series(home), SECOND)
    else:
        assert min(values_left(make(hospital.series(home), SECOND), kept)) == 3


def test_a_renamed_value_that_the_source_has_under_both_names_is_refused(undeclared):
    hospital, home = undeclared
    hospital.declare({"sensitive": {"values": None, "renamed": {"stroke": "apoplexy"}}})
    snapshot = hospital.snapshot(SECOND)
    is_some = (pl.col("disease") == "stroke") & (pl.int_range(pl.len()) % 2 == 0)
    called = pl.when(is_some).then(pl.lit("apoplexy")).otherwise("disease").alias("disease")
    hospital.deliver(SECOND, snapshot.with_columns(called))
    message, code = refused(hospital, home, SnapshotError, release=SECOND)
    assert code == 2
    assert "rows have stroke, and " in message
    assert "have apoplexy, its new name by sensitive.renamed" in message


@pytest.mark.slow("takes more than a second")
def test_values_that_look_merged_can_only_be_accepted_or_undone(undeclared):
    hospital, home = undeclared
    recoded(hospital, SECOND, angina="asthma")
    message, _ = refused(hospital, home, SnapshotError, release=SECOND)
    assert "Nobody has 'angina' any more" in message
    assert "was split, merged" in message
    assert "write under sensitive" not in message


def test_a_declared_value_that_is_called_otherwise_is_refused_with_the_line_that_declares_it(hospital, home):
    recoded(hospital, THIRD, stroke="apoplexy")
    message, _ = refused(hospital, home, SnapshotError)
    line = "write under sensitive: renamed: {stroke: apoplexy}; else correct them in the source, or widen"
    assert line in message


@pytest.mark.slow("takes more than a second")
def test_a_recoding_that_is_named_changes_nothing(undeclared, tmp_path):
    hospital, home = undeclared
    plain = make(hospital.series(tmp_path / "plain"), FIRST, SECOND)
    recoded(hospital, SECOND, **RECODED)
    hospital.declare(sensitive={"renamed": RECODED})
    series = make(hospital.series(home), SECOND)
    assert compare_snapshots(series, SECOND).figures.changed < 10
    said = pl.read_parquet(series.published(SECOND) / "microdata.parquet")["disease"]
    assert not set(RECODED.values()) & set(said)
    for name in ("microdata.parquet", "counterfeits.parquet"):
        same = [(one.published(SECOND) / name).read_bytes() for one in (plain, series)]
        assert same[0] == same[1]


@pytest.mark.slow("takes more than a second")
def test_a_release_of_which_most_would_be_counterfeits(hospital, home):
    hospital.declare(expect={"counterfeits": 0.0001})
    series = hospital.series(home)
    take_snapshot(series, THIRD)
    compare_snapshots(series, THIRD)
    with pytest.raises(NotEligible) as refusal:
        compute_candidate(series, THIRD)
    message = str(refusal.value)
    assert "of the tuples would be counterfeits; expect.counterfeits says at most 0.0001" in message
    assert "sensitive.renamed" in message
    assert f"accept: {{{THIRD}: [counterfeits]}}" in message
    assert refusal.value.exit_code == 3
    (verdict,) = refusal.value.verdicts  # of Great Expectations
    assert verdict.promise == "expected"
    assert [row["odd"] for row in verdict.table] == [1]
    assert not series.published(THIRD).exists()
    accepted = hospital.declare(expect={"counterfeits": 0.0001}, accept={THIRD: ["counterfeits"]})
    made = make(accepted.series(home), THIRD)
    (kept,) = [one for one in made.committed(THIRD).verdicts if one.promise == "expected"]
    assert kept.passed
    assert "(at most 0.0001 is expected, accepted)" in kept.found


def related(snapshot):
    """The hospital with diseases that go with the age: whoever is young has one of the first ones."""
    diseases = sorted(snapshot["disease"].unique())
    place = (pl.col("age") * len(diseases) // 101 + pl.int_range(pl.len()) % 3) % len(diseases)
    return snapshot.with_columns(disease=pl.lit(pl.Series(diseases)).implode().list.get(place))


@pytest.fixture
def telling(hospital):
    for release in RELEASES:
        hospital.deliver(release, related(hospital.snapshot(release)))
    return hospital


@pytest.mark.slow("makes and audits many releases")
def test_a_release_of_which_too_much_is_guessed(telling, tmp_path):
    home = tmp_path / "new"
    series = make(telling.declare(expect={"guessed": 1, "changed": 1}).series(home), FIRST, SECOND)
    telling.declare(expect={"guessed": 0.2, "changed": 1})
    message, code = refused(telling, home, NotEligible)
    assert "would be guessed right by learning from the groups; expect.guessed says at most 0.2" in message
    assert "Choose a larger m (republish compare" in message
    assert f"accept: {{{THIRD}: [guessed]}}" in message
    assert code == 3
    accepted = telling.declare(expect={"guessed": 0.2, "changed": 1}, accept={THIRD: ["guessed"]})
    make(accepted.series(home), THIRD)
    found = guessed_in(series)
    assert all(one > 0.4 for one in found)
    report = tmp_path / "report"
    audited(telling, series, report, figures=True)
    releases = json.loads((report / "audit.json").read_text())["series"][0]["releases"]
    # An audit knows departed people, too, who return; nobody does here.
    assert found == [round(100 * one["guesses"]["learned"]) / 100 for one in releases]


def guessed_in(series):
    """What the verdict on each release says of guesses, to a hundredth."""
    words = [verdict.found for release in RELEASES for verdict in series.record(release).verdicts]
    said = [re.search(r"([\d.]+)% of the people's values would be guessed", one) for one in words]
    return [round(float(one[1])) / 100 for one in said if one]


def test_nothing_is_measured_of_guesses_that_nobody_bounds(hospital, home, monkeypatch):
    monkeypatch.setattr("republish.orchestration.chain.audit.guessed", None)
    series = make(hospital.series(home), THIRD)
    assert guessed_in(series) == []
    assert not [*series.private(THIRD).glob("knowledge-clues*")]


def test_no_verdict_on_the_share_of_counterfeits_is_no_release(hospital, home, monkeypatch):
    series = hospital.series(home)
    take_snapshot(series, THIRD)
    compare_snapshots(series, THIRD)
    ended = no_verdict("expected", "Great Expectations ended before it gave a verdict.")
    monkeypatch.setattr(candidate, "judge", lambda *_: [ended])
    with pytest.raises(NotEligible, match="ended before it gave a verdict"):
        compute_candidate(series, THIRD)
    assert series.committed(THIRD) is None


@pytest.mark.parametrize(("people", "twin"), [(4, "a value of fewer than 5 people"), (5, "'str\\xadoke'")])
def test_a_value_of_the_releases_before_in_another_spelling_is_refused(undeclared, people, twin):
    hospital, home = undeclared
    snapshot = hospital.snapshot(SECOND).filter(pl.col("disease") != "stroke")
    some = pl.int_range(pl.len()) < people
    hospital.deliver(
        SECOND, snapshot.with_columns(disease=pl.when(some).then(pl.lit("str\xadoke")).otherwise("disease"))
    )
    message, code = refused(hospital, home, SnapshotError, release=SECOND)
    assert f"'stroke' and {twin} are one value in two spellings, and the releases before have one" in message
    assert "xad" in twin or "xad" not in message
    assert "sensitive.renamed" in message
    assert code == 2


# ---- a query with no rows


@pytest.fixture
def queried(hospital):
    """A hospital whose snapshots a DuckDB file answers with."""
    declared = yaml.safe_load(hospital.contract.read_text())
    query = "SELECT * EXCLUDE quarter FROM patients WHERE quarter = :release"
    declared["source"] = {"dsn": "duckdb:///source.duckdb", "query": query}
    hospital.contract.write_text(yaml.safe_dump(declared, sort_keys=False))
    load(hospital, FIRST)
    return hospital


def load(hospital, release):
    """Load a snapshot into the table of all of them."""
    day, file = {"day": release}, str(hospital.file(release))
    with duckdb.connect(hospital.folder / "source.duckdb") as database:
        database.read_parquet(file).create_view("delivered")
        columns = "SELECT *, DATE '1900-01-01' AS quarter FROM delivered LIMIT 0"
        database.execute(f"CREATE TABLE IF NOT EXISTS patients AS {columns}")
        database.execute("INSERT INTO patients SELECT *, CAST($day AS DATE) FROM delivered", day)
        database.execute("DROP VIEW delivered")


@pytest.mark.slow("makes and audits many releases")
def test_a_query_that_answers_no_row_waits(queried, tmp_path):
    series = make(queried.series(tmp_path / "new home"), FIRST)
    assert not has_arrived(series, SECOND)
    with pytest.raises(SnapshotError):
        make(series, SECOND)
    assert not series.published(SECOND).exists()
    load(queried, THIRD)
    with pytest.raises(SnapshotError, match=f"That of {THIRD} is there: if this one never comes"):
        has_arrived(series, SECOND)
    load(queried, SECOND)
    assert has_arrived(series, SECOND)
    make(series, SECOND, THIRD)


# ---- the snapshot before


def test_without_the_snapshot_before_nothing_would_look_odd(hospital, home):
    (hospital.series(home).private(SECOND) / "snapshot.parquet").unlink()
    message, code = refused(hospital, home, HomeError)
    assert "snapshot.parquet: is not there" in message
    assert "Put it back from a copy" in message
    assert code == 2
