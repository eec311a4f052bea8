"""Two products of one home on the same people: refused, unless a contract says why both may be released."""

import json
import shutil
from collections import defaultdict

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM
from republish.anonymize.errors import ContractError
from republish.orchestration.audit.command import audit
from republish.orchestration.chain import publication
from republish.orchestration.chain.candidate import compute_candidate
from republish.orchestration.chain.delta import compare_snapshots
from republish.orchestration.chain.population_overlap import NOTED, note_people, with_release
from republish.orchestration.chain.publication import publish
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.cli.examine import examine
from republish.orchestration.series.persons import comparable
from republish.orchestration.series.recorded import begin
from republish.orchestration.storage.home import Home, private_folder
from tests.hospital import RELEASES, everything, make, make_by_dagster

FIRST, SECOND, THIRD = RELEASES
SEPARATE = {"hospital": "separate_readers"}
ONCE = {"name": "streamliner", "l": 2}
DATES = {"since": pl.String, "until": pl.String}
PEOPLE = {IDENTIFIER: pl.String, PSEUDONYM: pl.Binary}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return private_folder(tmp_path_factory.mktemp("home"))


def clinic(hospital, home, **keys):
    """Another product, of the hospital's own tables."""
    return hospital.declare(product="clinic", **keys).series(home)


def refusal(series, release=FIRST):
    """What the first fault of the contract says."""
    with pytest.raises(ContractError) as refused:
        make(series, release)
    ((key, message),) = refused.value.faults
    assert key == "same_people"
    assert not series.is_published(release)
    return message


def known_for_certain(home, *series):
    """How many people have a single value left in all releases of some series, counted in plain Python."""
    values = defaultdict(lambda: defaultdict(set))
    for product, name in series:
        for folder in sorted((home / "published" / product / name).iterdir()):
            rows = pl.read_parquet(folder / "microdata.parquet").rows(named=True)
            held = defaultdict(set)
            for row in rows:
                held[row["group_id"]].add(row["disease"])
            linkage = pl.read_parquet(home / "private" / product / name / folder.name / "linkage.parquet")
            for row in linkage.rows(named=True):
                values[row["patient_id"]][folder.name].add(frozenset(held[row["group_id"]]))
    # Within one date nobody's value changes.
    left = (
        frozenset.intersection(*groups) for dates in values.values() for groups in dates.values() if groups
    )
    return sum(len(found) == 1 for found in left)


@pytest.mark.slow("takes more than a second")
def test_another_product_on_the_same_people_is_refused(hospital, home):
    before = everything(home)
    series = clinic(hospital, home)
    assert refusal(series) == (
        "300 people of clinic/v1 are in releases of hospital, another product of this home, too: both publish"
        " disease, and anybody with both can intersect them. To go on, write same_people: {hospital:"
        " separate_readers} (nobody gets releases of both); or write same_people: {hospital: other_people}"
        " (the identifiers there are other people's); or make this a new series of hospital, with supersedes"
    )
    assert {name for name in everything(home) if "clinic" not in name} == set(before)
    said = []
    assert examine(series, said.append) == 2
    assert sum("would be refused: " in line and "300 people of clinic/v1" in line for line in said) == 1
    with pytest.raises(ContractError, match="300 people of clinic/v1"):
        make_by_dagster(series, FIRST)


@pytest.mark.slow("takes more than a second")
def test_the_way_out_that_it_names_gives_nobody_away(hospital, home):
    make(hospital.declare(series="v2", supersedes="v1", expect={"changed": 0.5}).series(home), FIRST, SECOND)
    assert known_for_certain(home, ("hospital", "v1"), ("hospital", "v2")) == 0


@pytest.mark.slow("makes and audits many releases")
def test_both_together_give_people_away_and_an_audit_of_both_says_so(hospital, home, tmp_path):
    """What the rule prevents: a single value is left for people of whom each product leaves three."""
    make(clinic(hospital, home, same_people=SEPARATE), FIRST, SECOND)
    assert known_for_certain(home, ("hospital", "v1")) == known_for_certain(home, ("clinic", "v1")) == 0
    assert known_for_certain(home, ("hospital", "v1"), ("clinic", "v1")) > 20
    folders = [home / "published" / product for product in ("hospital", "clinic")]
    said = {"out": tmp_path / "report", "console": Console(quiet=True)}
    truth, private = hospital.file(FIRST).parent, home / "private"
    assert audit(folders, truth, hospital.contract, private=private, **said) == 3
    rows = json.loads((tmp_path / "report/audit.json").read_text())["promises"]
    broken = {row["promise"]: row for row in rows if not row["holds"]}
    assert {row["series"] for row in broken.values()} == {"all series together"}
    assert broken["candidates over several series, by hosting group"]["found"] == 1


# ---- what may be declared, and where


@pytest.mark.slow("takes more than a second")
def test_one_of_the_two_contracts_says_it_for_both(hospital, home):
    make(clinic(hospital, home, same_people=SEPARATE), FIRST)
    make(hospital.declare().series(home), THIRD)
    assert hospital.series(home).is_published(THIRD)


def test_a_declaration_that_is_taken_back_counts_no_more(hospital, home):
    make(clinic(hospital, home, same_people=SEPARATE), FIRST)
    assert "people of clinic/v1 are in releases of hospital" in refusal(clinic(hospital, home), SECOND)


def test_the_same_sensitive_column_is_not_each_by_itself(hospital, home):
    series = clinic(hospital, home, same_people={"hospital": "each_by_itself"})
    assert " each_by_itself is not accepted here. To go on, write" in refusal(series)


def test_the_same_identifiers_may_be_other_people_s(hospital, home):
    """Two houses that each count their patients from 1."""
    make(clinic(hospital, home, same_people={"hospital": "other_people"}), FIRST)


def with_income(hospital):
    """The tables with another column that nobody may learn."""
    for release in RELEASES:
        table = hospital.snapshot(release)
        hospital.deliver(release, table.with_columns(income=pl.format("class {}", pl.col("zipcode") % 7)))


@pytest.mark.slow("takes more than a second")
def test_another_sensitive_column_takes_a_line_too(hospital, home):
    with_income(hospital)
    income = {"sensitive": {"name": "income", "values": None}}
    message = refusal(clinic(hospital, home, **income))
    assert "each_by_itself} (somebody may get both, and what one says of the other is not covered)" in message
    make(clinic(hospital, home, **income, same_people={"hospital": "each_by_itself"}), FIRST, SECOND)
    make(hospital.declare().series(home), THIRD)


def test_no_product_publishes_what_another_one_hides(hospital, home):
    with_income(hospital)
    declared = {
        "sensitive": {"name": "income", "values": None},
        "quasi_identifiers": [
            {"name": "age", "kind": "number", "domain": [0, 120]},
            {"name": "disease", "kind": "category", "order": hospital.series(home).contract.sensitive.values},
        ],
    }
    declared["quasi_identifiers"][1]["order"] = list(declared["quasi_identifiers"][1]["order"])
    series = clinic(hospital, home, **declared, same_people={"hospital": "each_by_itself"})
    assert "both publish disease" in refusal(series)


@pytest.mark.parametrize("order", [("ward", "pressure"), ("pressure", "ward")])
def test_what_one_product_publishes_exactly_no_other_hides_whatever_it_is_called(hospital, tmp_path, order):
    """Its name ends as that of an interval's end does; which of the two is first makes no difference."""
    for release in RELEASES:
        table = hospital.snapshot(release)
        hospital.deliver(release, table.with_columns(bp_low=60 + pl.col("zipcode") % 7))
    age = {"name": "age", "kind": "number", "domain": [0, 120]}
    keys = {
        "ward": {
            "quasi_identifiers": [age, {"name": "bp_low", "kind": "number", "domain": [0, 200]}],
            "principle": {"format": "anatomy"},
        },
        "pressure": {"quasi_identifiers": [age], "sensitive": {"name": "bp_low", "values": None}},
    }
    beside = {"ward": {"pressure": "each_by_itself"}, "pressure": {"ward": "each_by_itself"}}
    for product in order:
        declared = {"product": product, "same_people": beside[product], **keys[product]}
        series = hospital.declare(**declared).series(tmp_path)
        if product == order[0]:
            make(series, FIRST)
    message = refusal(series)
    assert "both publish bp_low, and anybody with both can intersect them. each_by_itself is not" in message


@pytest.mark.slow("takes more than a second")
def test_nobody_is_asked_about_a_product_of_other_people(hospital, home):
    for release in RELEASES:
        snapshot = hospital.snapshot(release)
        hospital.deliver(release, snapshot.with_columns(pl.col("patient_id").str.replace("P", "Q")))
    make(clinic(hospital, home), *RELEASES)


def test_the_product_itself_is_no_other_product(hospital, home):
    with pytest.raises(ContractError, match="hospital is this product itself"):
        hospital.declare(same_people=SEPARATE).series(home)
    with pytest.raises(ContractError, match="accepted: separate_readers, each_by_itself, other_people"):
        clinic(hospital, home, same_people={"hospital": "friends"})


# ---- who is recognised


def test_people_are_recognised_however_their_identifiers_are_written(hospital, home):
    snapshot = hospital.snapshot(FIRST)
    hospital.deliver(FIRST, snapshot.with_columns(" " + pl.col("patient_id").str.to_lowercase()))
    assert refusal(clinic(hospital, home)).startswith("300 people")


def test_a_single_person_is_enough_long_after_leaving(hospital, home):
    """Pseudonyms of all are kept when the working files of all releases but the last are deleted."""
    make(hospital.declare(keep_private=1).series(home), THIRD)
    assert [path.name for path in (home / "private/hospital/v1").glob("2024*")] == [THIRD]
    noted = home / "private/hospital/v1" / NOTED
    assert (noted.stat().st_mode & 0o777, noted.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    ever = {name for release in RELEASES for name in hospital.snapshot(release)["patient_id"]}
    assert pl.read_parquet(noted).height == len(ever)
    assert hospital.identifiers_in(noted.read_bytes()) == set()
    (gone, *_) = sorted(ever - set(hospital.snapshot(THIRD)["patient_id"]))
    strangers = hospital.snapshot(FIRST).with_columns(pl.col("patient_id").str.replace("P", "Q"))
    one = hospital.snapshot(FIRST).filter(patient_id=gone)
    left = one if one.height else hospital.snapshot(SECOND).filter(patient_id=gone)
    hospital.deliver(FIRST, pl.concat([strangers, left]))
    assert refusal(clinic(hospital, home)).startswith("1 people of clinic/v1")


def published_before(hospital, home, tmp_path, **keys):
    """The same two products, both published by software that did not compare them."""
    other = tmp_path / "other"
    make(clinic(hospital, other, **keys), FIRST, SECOND)
    for kind in ("private", "published"):
        shutil.copytree(other / kind / "clinic", home / kind / "clinic")
    for product in ("hospital", "clinic"):
        (home / f"private/{product}/v1" / NOTED).unlink()


@pytest.mark.slow("makes and audits many releases")
def test_products_that_were_published_before_are_recognised_by_their_snapshots(hospital, home, tmp_path):
    published_before(hospital, home, tmp_path, keep_private=1)
    ever = {name for release in RELEASES for name in hospital.snapshot(release)["patient_id"]}
    hospital.declare()
    message = refusal(hospital.series(home), THIRD)
    assert message.startswith("300 people of hospital/v1 are in releases of clinic")
    assert "people of clinic/v1 are in releases of hospital" in refusal(clinic(hospital, home), THIRD)
    hospital.declare(same_people={"clinic": "separate_readers"})
    make(hospital.series(home), THIRD)
    assert pl.read_parquet(home / "private/hospital/v1" / NOTED).height == len(ever)


def test_a_product_of_which_nothing_is_left_to_compare_is_asked_about(hospital, home):
    shutil.rmtree(home / "private/hospital")
    message = refusal(clinic(hospital, home))
    assert message.startswith(
        "nobody can tell who of clinic/v1 is in hospital, another product of this home: its working files are"
        " gone or damaged"
    )
    assert "other_people} (the identifiers there are other people's)" in message
    make(clinic(hospital, home, same_people={"hospital": "other_people"}), FIRST)


def test_people_under_another_key_cannot_be_compared(hospital, home, monkeypatch):
    monkeypatch.setenv("REPUBLISH_KEY", "a second key, made up as well")
    assert refusal(clinic(hospital, home)).startswith("nobody can tell who")


# ---- interrupted, and at once


def test_of_two_candidates_that_are_made_at_once_one_is_published(hospital, tmp_path):
    home = tmp_path / "new"
    both = [hospital.series(home)]
    both.append(clinic(hospital, home))
    for series in both:
        take_snapshot(series, FIRST)
        compare_snapshots(series, FIRST)
        compute_candidate(series, FIRST)
    publish(both[1], FIRST)
    with pytest.raises(ContractError, match="300 people of hospital/v1 are in releases of clinic"):
        publish(both[0], FIRST)
    assert not both[0].is_published(FIRST)


def test_a_release_that_was_never_published_has_no_people(hospital, tmp_path):
    home = tmp_path / "new"
    killed = hospital.series(home)
    begin(killed)
    take_snapshot(killed, FIRST)
    note_people(killed, FIRST)
    make(clinic(hospital, home), FIRST)


@pytest.mark.slow("takes more than a second")
def test_a_run_that_is_killed_before_it_notes_its_release_has_declared_all_the_same(
    hospital, home, monkeypatch
):
    series = clinic(hospital, home, same_people=SEPARATE)
    with monkeypatch.context() as killed:
        killed.setattr(publication, "record_publication", interrupt)
        with pytest.raises(KeyboardInterrupt):
            make(series, FIRST)
    assert series.is_published(FIRST)
    make(hospital.declare().series(home), THIRD)


def interrupt(*_):
    raise KeyboardInterrupt


# ---- other principles


@pytest.mark.parametrize(("first", "second"), [(None, ONCE), (ONCE, None)])
def test_releases_that_are_made_once_are_no_exception(hospital, tmp_path, first, second):
    home = tmp_path / "new"
    for principle, product in ((first, "clinic"), (second, "hospital")):
        keys = {
            "product": product,
            "releases": {"first": FIRST} | ({} if principle is None else {"cron": None}),
        }
        declared = hospital.declare(**keys) if principle is None else hospital.under(principle, **keys)
        series = declared.series(home)
        if product == "clinic":
            make(series, FIRST)
    assert "300 people of hospital/v1 are in releases of clinic" in refusal(series)


@given(st.lists(st.sets(st.integers(0, 30)), min_size=1, max_size=6), st.integers(0, 30), st.booleans())
def test_who_is_noted_is_everybody_with_their_first_and_last_release(folder, stays, respelt, has_pseudonyms):
    home, dates = Home(folder), {}
    noted = pl.DataFrame(schema=dict.fromkeys(("person", PSEUDONYM), pl.Binary) | DATES)
    for at, numbers in enumerate(stays):
        release = f"202{at}-01-01"
        is_respelt = {number: at > 0 and number == respelt for number in numbers}
        rows = [
            (f" P{one}" if other else f"p{one}", bytes([one, other] * 8)) for one, other in is_respelt.items()
        ]
        people = pl.DataFrame(rows, schema=PEOPLE, orient="row")
        if not has_pseudonyms:  # as an older version left it
            noted = noted.with_columns(pl.lit(None, pl.Binary).alias(PSEUDONYM))
        noted = with_release(noted, home, people, release)
        for person in comparable(home, people[IDENTIFIER]):
            dates[person] = (dates.get(person, (release,))[0], release)
    assert {person: tuple(rest) for person, *rest in noted.select("person", *DATES).rows()} == dates
    assert noted.height == len(dates)
