"""`import republish`: what a program makes, reads and attacks is what the commands do."""

import inspect
import subprocess
import sys

import polars as pl
import pytest

import republish as rp
from republish.anonymize.errors import (
    AuditFailed,
    ContractError,
    HomeError,
    NotEligible,
    PublishedFolderError,
    SnapshotError,
)
from republish.orchestration.library import release as releasing
from republish.orchestration.library import state as saving
from tests.hospital import KEY, RELEASES, make, manifest

DECLARED = {
    "identifier": "name",
    "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 120]}],
    "sensitive": {"name": "disease"},
    "principle": {"name": "m_invariance", "m": 2},
}


def people(count=40, first=0, diseases=("flu", "gout", "asthma", "ulcer")):
    numbers = range(first, first + count)
    return pl.DataFrame(
        {
            "name": [f"p{number}" for number in numbers],
            "age": [number * 7 % 90 for number in numbers],
            "disease": [diseases[number % len(diseases)] for number in numbers],
            "ward": ["north"] * count,
        }
    )


def made(hospital, key=KEY):
    contract, state, releases = rp.Contract.load(hospital.contract), rp.State.begin(key), []
    for date in RELEASES:
        releases.append(rp.release(hospital.snapshot(date), contract, state, date=date))
        state = releases[-1].state
    return releases


@pytest.mark.slow("takes more than a second")
def test_a_series_goes_on_from_a_saved_state(hospital, tmp_path):
    contract, whole = rp.Contract.load(hospital.contract), made(hospital)
    whole[1].state.save(tmp_path / "state")
    loaded = rp.State.load(tmp_path / "state")
    assert loaded.releases == RELEASES[:2]
    last = rp.release(hospital.snapshot(RELEASES[2]), contract, loaded, date=RELEASES[2])
    assert last.tables["microdata"].equals(whole[2].tables["microdata"])
    assert {file.stat().st_mode & 0o077 for file in (tmp_path / "state").iterdir()} == {0}
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0
    last.state.save(tmp_path / "state")  # in the place of the one before
    assert rp.State.load(tmp_path / "state").releases == RELEASES
    rp.State.begin().save(tmp_path / "new")
    assert rp.State.load(tmp_path / "new").releases == ()


@pytest.mark.slow("takes more than a second")
def test_a_state_that_was_changed_or_is_not_there_is_not_gone_on_from(hospital, tmp_path):
    with pytest.raises(HomeError, match="no state was saved there"):
        rp.State.load(tmp_path / "nowhere")
    made(hospital)[0].state.save(tmp_path)
    for pattern in ("state-*.parquet", "snapshot.parquet"):
        file = next(tmp_path.glob(pattern))
        content = file.read_bytes()
        file.write_bytes(content[:-1])
        with pytest.raises(HomeError, match="not as it was saved"):
            rp.State.load(tmp_path)
        file.write_bytes(content)
    assert rp.State.load(tmp_path).releases == RELEASES[:1]
    with pytest.raises(HomeError, match="at least 16 characters"):
        rp.State.begin("short")


@pytest.mark.slow("takes more than a second")
def test_a_state_that_is_half_written_over_another_one_is_none(hospital, tmp_path, monkeypatch):
    first, second, _ = made(hospital)
    first.state.save(tmp_path)
    monkeypatch.setattr(saving, "write_tables", lambda *_: 1 / 0)  # after the snapshot
    with pytest.raises(ZeroDivisionError):
        second.state.save(tmp_path)
    with pytest.raises(HomeError, match="not as it was saved"):
        rp.State.load(tmp_path)


@pytest.mark.slow("takes more than a second")
def test_a_release_touches_no_file_and_says_nothing_of_anybody(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    release = rp.release(people(), rp.Contract.of(DECLARED), date="2026-01-01")
    assert not [*tmp_path.iterdir()]
    assert release.findings["holds"].all()
    assert release.linkage.columns[0] == "name"
    assert release.linkage.height == release.figures["people"] == 40
    assert "ward" not in release.tables["microdata"].columns
    assert not [word for word in ("p1", release.state.key, "flu") if word in repr(release)]


@pytest.mark.slow("takes more than a second")
def test_what_is_written_is_read_attacked_and_counted(tmp_path):
    contract = rp.Contract.of(DECLARED)
    first = rp.release(people(), contract, date="2026-01-01")
    second = rp.release(people(first=4), contract, first.state, date="2026-02-01")
    for release in (first, second):
        assert release.write(tmp_path / "v1") == tmp_path / "v1" / release.date
    found = rp.read(tmp_path / "v1")
    assert found.manifests.keys() == {"2026-01-01", "2026-02-01"}
    assert found.manifests["2026-02-01"]["previous"]
    assert (
        found.tables["microdata"]
        .filter(pl.col("release").cast(str) == "2026-02-01")
        .equals(second.tables["microdata"])
    )
    assert found.package["resources"]
    truth = {"2026-01-01": people(), "2026-02-01": people(first=4)}
    findings = rp.audit(tmp_path / "v1", truth, contract)
    assert findings.keeps_contract
    assert findings.promises().height
    counted = rp.estimate(tmp_path / "v1" / "2026-01-01", by="disease")
    assert counted["people"].sum() == 40


@pytest.mark.slow("takes more than a second")
def test_an_audit_finds_what_a_release_gives_away(tmp_path):
    contract = rp.Contract.of(DECLARED)
    rp.release(people(), contract, date="2026-01-01").write(tmp_path / "v1")
    asked = rp.Contract.of({**DECLARED, "principle": {"name": "m_invariance", "m": 4}})
    assert not rp.audit(tmp_path / "v1", {"2026-01-01": people()}, asked).keeps_contract
    with pytest.raises(PublishedFolderError, match="is no folder"):
        rp.audit(tmp_path / "v1", tmp_path / "nowhere", contract)
    with pytest.raises(PublishedFolderError, match="names no folder"):
        rp.audit([], {}, contract)


@pytest.mark.slow("takes more than a second")
def test_a_release_is_written_once_and_after_the_one_before(tmp_path):
    contract = rp.Contract.of(DECLARED)
    first = rp.release(people(), contract, date="2026-01-01")
    second = rp.release(people(first=4), contract, first.state, date="2026-02-01")
    with pytest.raises(PublishedFolderError, match="write the release before first"):
        second.write(tmp_path)
    folder = first.write(tmp_path)
    with pytest.raises(PublishedFolderError, match="is there already"):
        first.write(tmp_path)
    (folder / "README.md").write_text("another")
    with pytest.raises(PublishedFolderError):
        second.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["2026-01-01"]


def refused(error, match, table, declared=DECLARED, state=None, date="2026-02-01"):
    with pytest.raises(error, match=match) as caught:
        rp.release(table, rp.Contract.of(declared), state, date=date)
    assert "p1" not in str(caught.value)
    return str(caught.value)


def test_people_who_are_not_what_the_contract_says_are_refused():
    refused(SnapshotError, "disease", people().drop("disease"))
    refused(SnapshotError, "repeat", pl.concat([people(), people(1)]))
    refused(SnapshotError, "accept", people(0))
    refused(NotEligible, "30 of them share a value", people(diseases=("flu", "flu", "flu", "gout")))


@pytest.mark.slow("takes more than a second")
def test_people_who_are_odd_beside_those_before_are_refused_and_accepted_by_name():
    state = rp.release(people(), rp.Contract.of(DECLARED), date="2026-01-01").state
    said = refused(SnapshotError, "carried", people(first=35), state=state)
    assert "accept: {2026-02-01: [carried]}" in said
    accepting = {**DECLARED, "accept": {"2026-02-01": ["carried"]}}
    release = rp.release(people(first=35), rp.Contract.of(accepting), state, date="2026-02-01")
    assert release.state.releases == ("2026-01-01", "2026-02-01")
    assert state.releases == ("2026-01-01",)


def test_a_weaker_promise_and_what_takes_a_home_are_refused():
    strong = {**DECLARED, "principle": {"name": "m_invariance", "m": 3}}
    state = rp.release(people(), rp.Contract.of(strong), date="2026-01-01").state
    refused(ContractError, "m: 3 -> 2", people(), state=state)
    for key, value in {"supersedes": "v0", "published_to": "s3://bucket/x"}.items():
        refused(ContractError, "republish release", people(), {**DECLARED, key: value})
    with pytest.raises(ContractError, match="principle"):
        rp.Contract.of({name: part for name, part in DECLARED.items() if name != "principle"})


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("product", {"product": "other"}),
        ("series", {"series": "v2"}),
        ("identifier", {"identifier": "number"}),
        ("rows", {"rows": "several", "principle": DECLARED["principle"] | {"values_per_person": 1}}),
    ],
)
def test_a_state_goes_on_with_its_own_releases_alone(tmp_path, key, changes):
    """Else people are new under other names, and two groups of theirs are intersected."""
    table = people().with_columns(number=pl.format("n{}", pl.int_range(pl.len())))
    state = rp.release(table, rp.Contract.of(DECLARED), date="2026-01-01").state
    state.save(tmp_path)
    other = rp.Contract.of(DECLARED | {"expect": {"carried": 0.0}} | changes)
    for left in (state, rp.State.load(tmp_path)):
        with pytest.raises(ContractError) as refused:
            rp.release(table, other, left, date="2026-02-01")
        (named, said), *_ = refused.value.faults
        assert named == key
        assert f"and the state was left by releases with {key}: " in said
        assert "Go on from the state that the last release of this contract left; or leave" in said
    rp.release(table, rp.Contract.of(DECLARED), rp.State.load(tmp_path), date="2026-02-01")


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize(
    ("change", "measure", "kind"),
    [
        (lambda name: "A" + name, "extended_identifiers", pl.String),
        (lambda name: "CLINIC/" + name, "extended_identifiers", pl.String),
        (lambda name: name.str.replace("p", "p-"), "extended_identifiers", pl.String),
        (lambda name: name + "X", "extended_identifiers", pl.String),
        (lambda name: name + " ", "identifiers", pl.Binary),
        (lambda name: "CLINIC/" + name, "extended_identifiers", pl.Binary),
    ],
    ids=["letter", "prefix", "hyphen", "end", "space in bytes", "prefix in bytes"],
)
def test_a_third_of_the_identifiers_with_characters_more_needs_consent(change, measure, kind):
    one, contract = people(240), rp.Contract.of(DECLARED)
    names = change(one["name"]).zip_with(pl.Series(range(240)) % 3 == 0, one["name"])
    one, other = (one.with_columns(name=column.cast(kind)) for column in (one["name"], names))
    state = rp.release(one, contract, date="2026-01-01").state
    with pytest.raises(SnapshotError, match=rf"80 people .* accept: {{2026-02-01: \[{measure}\]}}"):
        rp.release(other, contract, state, date="2026-02-01")
    accepted = rp.Contract.of(DECLARED | {"accept": {"2026-02-01": [measure]}})
    rp.release(other, accepted, state, date="2026-02-01")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda table: table.lazy(), "a polars.LazyFrame: .collect() makes a DataFrame"),
        (lambda table: table.to_pandas(), "a pandas.DataFrame: polars.from_pandas(table, nan_to_null=True)"),
        (lambda table: table.to_arrow(), "a pyarrow.Table: polars.from_arrow(table)"),
        (lambda table: table.to_dict(), "a builtins.dict: polars.DataFrame(table)"),
    ],
    ids=["lazy", "pandas", "arrow", "dict"],
)
def test_a_table_of_another_kind_is_refused_with_the_way_to_make_one(tmp_path, made, said):
    given, contract = made(people()), rp.Contract.of(DECLARED)
    with pytest.raises(SnapshotError) as refused:
        rp.release(given, contract, date="2026-01-01")
    assert str(refused.value).startswith(f"people: must be a polars DataFrame, and is {said}")
    with pytest.raises(SnapshotError, match="truth, 2026-01-01: must be a polars DataFrame"):
        rp.audit(tmp_path, {"2026-01-01": given}, contract)


def test_a_date_is_one_and_comes_after_the_last():
    state = rp.release(people(), rp.Contract.of(DECLARED), date="2026-01-01").state
    refused(SnapshotError, "is not after 2026-01-01", people(), state=state, date="2026-01-01")
    refused(SnapshotError, "is no date", people(), date="January")


def test_a_broken_promise_is_no_release(monkeypatch):
    def careless(*arguments):
        attacked, knowledge = attack(*arguments)
        findings = attacked.evidence["attack"].with_columns(holds=False, broken=3)
        return type(attacked)({**attacked.evidence, "attack": findings}, {}, attacked.figures), knowledge

    attack = releasing.attack_candidate
    monkeypatch.setattr(releasing, "attack_candidate", careless)
    refused(AuditFailed, "is broken for 3 of 40", people())


def test_what_is_public_is_there_typed_and_documented():
    assert {*rp.__all__} <= {*dir(rp)}
    for name in rp.__all__:
        one = getattr(rp, name)
        assert inspect.getdoc(one), name
    with pytest.raises(AttributeError, match="no attribute 'secret'"):
        _ = rp.secret


def test_importing_republish_imports_nothing_else():
    slow = ("polars", "dagster", "numpy")
    code = f"import sys, republish; print([name for name in {slow} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


@pytest.mark.slow("takes more than a second")
def test_the_manifest_of_a_release_is_that_of_a_home(hospital, tmp_path):
    make(hospital.series(tmp_path / "home"), RELEASES[0])
    made(hospital)[0].write(tmp_path)
    assert rp.read(tmp_path / RELEASES[0]).manifests[RELEASES[0]] == manifest(tmp_path / "home", RELEASES[0])


def test_labels_that_were_merged_are_asked_about_until_that_is_accepted():
    """Fewer people have moved than may; but nobody is left of a whole area."""
    town = {"name": "ward", "kind": "category", "order": ["north", "south", "east", "west"]}
    declared = DECLARED | {"quasi_identifiers": [*DECLARED["quasi_identifiers"], town]}
    wards = pl.Series("ward", ["north", "south", "east", "west"] * 10)
    first = rp.release(
        people().with_columns(wards), rp.Contract.of(declared), rp.State.begin(KEY), date="2024-01-01"
    )
    merged = people().with_columns(wards.replace("east", "west"))
    with pytest.raises(rp.RepublishError) as refused:
        rp.release(merged, rp.Contract.of(declared), first.state, date="2024-07-01")
    assert "10 people have a value that looks renamed" in str(refused.value)
    assert (
        "Nobody has 'ward: east' any more, and 10 of the 10 people who had it now have 'ward: west'. If"
        in (str(refused.value))
    )
    accepted = rp.Contract.of(declared | {"accept": {"2024-07-01": ["renamed"]}})
    assert rp.release(merged, accepted, first.state, date="2024-07-01").figures["people"] == 40
