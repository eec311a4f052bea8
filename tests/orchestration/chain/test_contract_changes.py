"""A contract that changes within a series: what is not safe is refused, unless it is accepted by name."""

import duckdb
import polars as pl
import pytest
import yaml

from republish.anonymize.errors import ContractError, SnapshotError
from republish.orchestration.cli.examine import examine
from republish.orchestration.storage.manifest import verify_series
from tests.hospital import RELEASES, make, published
from tests.orchestration.chain.test_bad_input import refused
from tests.orchestration.chain.test_equivalence_chain import equivalent

FIRST, SECOND, THIRD = RELEASES


def alter(hospital, change, accept=()):
    """Change the quasi-identifiers or the values of the contract; `accept` names what is consented to."""
    declared = yaml.safe_load(hospital.contract.read_text())
    change(declared)
    if accept:
        declared["accept"] = {THIRD: list(accept)}
    hospital.contract.write_text(yaml.safe_dump(declared, sort_keys=False))


def qi(name, **keys):
    def change(declared):
        (found,) = (qi for qi in declared["quasi_identifiers"] if qi["name"] == name)
        found.update(keys)

    return change


def added(declared):
    declared["quasi_identifiers"].append({"name": "ward", "kind": "number", "domain": [1, 9]})


def sex_as_a_number(declared):
    declared["quasi_identifiers"][2] = {"name": "sex", "kind": "number", "domain": [0, 1]}


def without_zipcode(declared):
    declared["quasi_identifiers"] = [qi for qi in declared["quasi_identifiers"] if qi["name"] != "zipcode"]


def m_is(m):
    return lambda declared: declared["principle"].update(m=m)


# What becomes of each change by itself is said in tests/anonymize/contract/test_changes.py.
WIDER = [m_is(4), without_zipcode, qi("age", min_width=10, domain=[0, 130]), qi("sex", order=["F", "M", "X"])]
SAFE = {"all of it": WIDER, "a narrower domain, and nobody outside": [qi("age", domain=[0, 110])]}
WEAKER = [lambda d: d["principle"].update(m=2, on_ineligible="wait"), added, qi("sex", order=["M", "F"])]
CONSENT = {
    "several": ([*WEAKER, qi("zipcode", min_width=1)], ["m", "ward", "sex.order", "zipcode.min_width"]),
    "another kind": ([sex_as_a_number], ["sex.kind"]),
}


def with_all_columns(hospital):
    """The third snapshot with a column more, and `sex` as a number where the contract says so."""
    snapshot = hospital.snapshot(THIRD).with_columns(ward=pl.int_range(pl.len()) % 9 + 1)
    if "kind: number\n" in hospital.contract.read_text().split("name: sex")[1][:30]:
        snapshot = snapshot.with_columns(sex=(pl.col("sex") == "F").cast(pl.Int64))
    hospital.deliver(THIRD, snapshot)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("case", SAFE)
def test_what_is_safe_holds_from_the_next_release_on(hospital, home, case):
    for change in SAFE[case]:
        alter(hospital, change)
    series = make(hospital.series(home), THIRD)
    assert series.is_published(THIRD)


@pytest.mark.parametrize(
    "change", [qi("age", domain=[0, 40]), qi("age", domain=[40, 120]), qi("sex", order=["F"])]
)
def test_whoever_is_outside_a_narrower_domain_is_no_reason_to_publish_less(hospital, home, change):
    """The change is safe because it only ever refuses: nobody is left out for it, or clipped to it."""
    alter(hospital, change)
    before = published(home)
    message, code = refused(hospital, home, SnapshotError)
    assert "rows lie outside the domain" in message
    assert (code, published(home)) == (2, before)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("case", CONSENT)
def test_what_weakens_the_promise_needs_consent_by_name(hospital, home, case):
    changes, names = CONSENT[case]
    for change in changes:
        alter(hospital, change)
    with_all_columns(hospital)
    message, code = refused(hospital, home, ContractError)
    for name in names:
        assert f"  {name}: " in message
        assert f"accept: {{{THIRD}: [{name}]}}" in message
    assert code == 2
    alter(hospital, lambda _: None, accept=names[1:] or ["people"])
    assert f"  {names[0]}: " in refused(hospital, home, ContractError)[0]
    alter(hospital, lambda _: None, accept=names)
    assert make(hospital.series(home), THIRD).is_published(THIRD)


@pytest.mark.slow("takes more than a second")
def test_a_source_named_in_another_way_goes_on_in_the_same_series(hospital, tmp_path):
    query = "SELECT * FROM people WHERE :release = :release"
    for database, release in (("one", FIRST), ("other", SECOND)):
        with duckdb.connect(hospital.folder / f"{database}.duckdb") as connection:
            people = hospital.snapshot(release)  # noqa: F841 - the statement reads it
            connection.execute("CREATE TABLE people AS FROM people")
        alter(
            hospital,
            lambda d, at=database: d.update(source={"dsn": f"duckdb:///{at}.duckdb", "query": query}),
        )
        make(hospital.series(tmp_path / "home"), release)
    before, after = verify_series(hospital.series(tmp_path / "home").published_folder)
    assert before["contract_sha256"] != after["contract_sha256"]


def test_a_value_that_is_added_when_somebody_has_it_needs_consent(hospital, home):
    """Readers have both lists: the person whose value changed would be known to have the new one."""
    values = yaml.safe_load(hospital.contract.read_text())["sensitive"]["values"]
    alter(hospital, lambda d: d["sensitive"].update(values=[*values, "acne"]))
    message, _ = refused(hospital, home, ContractError)
    assert "  sensitive.values: 1 values are new since the release before" in message
    assert "Whoever reads both lists may guess why: somebody has one." in message
    alter(hospital, lambda _: None, accept=["sensitive.values"])
    make(hospital.series(home), THIRD)


@pytest.mark.slow("takes more than a second")
def test_a_value_that_is_gone_needs_consent(hospital, home):
    values = yaml.safe_load(hospital.contract.read_text())["sensitive"]["values"]
    hospital.deliver(THIRD, hospital.snapshot(THIRD).filter(pl.col("disease") != "stroke"))
    alter(hospital, lambda d: d["sensitive"].update(values=[value for value in values if value != "stroke"]))
    message, _ = refused(hospital, home, ContractError)
    assert "  sensitive.values: 1 values are gone since the release before" in message
    alter(hospital, lambda _: None, accept=["sensitive.values"])
    make(hospital.series(home), THIRD)


@pytest.mark.slow("takes more than a second")
def test_a_smaller_e_needs_a_new_series(hospital, tmp_path):
    home = tmp_path / "new home"
    make(equivalent(hospital, e=4).series(home), FIRST, SECOND)
    equivalent(hospital, e=3)
    message, code = refused(hospital, home, ContractError)
    assert "  e: 4 -> 3: begin a new series. People published before could then be in attacks" in message
    alter(hospital, lambda _: None, accept=["e"])
    assert refused(hospital, home, ContractError)[0] == message
    assert code == 2


@pytest.mark.slow("takes more than a second")
def test_validate_prints_what_changed_and_whether_it_would_be_refused(hospital, home):
    alter(hospital, lambda d: (m_is(4)(d), qi("zipcode", min_width=1)(d)))
    lines = []
    assert examine(hospital.series(home), lines.append) == 2
    said = "\n".join(lines)
    assert (
        "changed since the release before: m: 3 -> 4 (safe: what was promised still holds). People who are"
        " new get larger signatures, which costs counterfeits and wider groups."
    ) in said
    assert "zipcode.min_width: 2000 -> 1 (weakens what is promised" in said
    assert f"{THIRD}: would be refused" in said
    alter(hospital, lambda _: None, accept=["zipcode.min_width"])
    lines.clear()
    examine(hospital.series(home), lines.append)
    said = "\n".join(lines)
    assert "would be refused" not in said
    series = make(hospital.series(home), THIRD)
    before, after = (
        f"{one['counterfeits'] / one['tuples']:.1%}" for one in verify_series(series.published_folder)[1:]
    )
    assert f"with what changed, {after} of the tuples would be counterfeits" in said
    assert f"in the release before {before} are" in said


def test_a_series_that_goes_on_from_another_is_held_to_the_others_contract(hospital, home):
    hospital.declare(series="v2", supersedes="v1")
    alter(hospital, qi("zipcode", min_width=1))
    with pytest.raises(ContractError, match=r"zipcode.min_width: 2000 -> 1 since the release before"):
        make(hospital.series(home), FIRST)
