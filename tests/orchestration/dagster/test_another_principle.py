"""A principle is a folder of its own and one line in `PRINCIPLES`: the product follows from it."""

import json
import shutil
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl
import pytest
import yaml
from pydantic import StrictFloat, StrictInt
from typer.testing import CliRunner

from republish.anonymize import principles
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Parameters
from republish.anonymize.errors import AuditFailed, ContractError
from republish.anonymize.figures import Figures, Least
from republish.anonymize.formats import GENERALIZATION
from republish.anonymize.formats.generalization import generalize
from republish.anonymize.people.codes import encode_columns
from republish.anonymize.principle.candidate import Candidate, ReleaseFigures
from republish.anonymize.principle.principle import Principle
from republish.anonymize.principle.state import State
from republish.anonymize.promise import LargestShare, Part, Promise, Scope, registry
from republish.anonymize.promise.check import Check
from republish.anonymize.promise.part import Chart, Curve
from republish.orchestration.cli import app as cli
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.storage.manifest import verify_series
from tests import findings as fi
from tests.hospital import RELEASES, audited, definitions, make, make_by_dagster, published

pytestmark = pytest.mark.slow("makes and audits many releases")

# ---- what would be the principle's folder


class GroupsOfNeighbours(Parameters):
    """Groups of people with similar quasi-identifiers, anew in every release."""

    name: Literal["groups_of_neighbours"]
    size: StrictInt
    """The fewest people in a group."""
    largest_share: StrictFloat
    """No value has a larger share of a group."""
    promised: StrictInt | None = None
    """How many people are promised to be in a group; a careless publisher promises more than there are."""


def release(people, contract, _state, _number, _draw):
    """Everybody in order of their quasi-identifiers, cut into groups of the size."""
    people = people.sort(*(column for column, _ in contract.attributes()), PSEUDONYM)
    groups = people.height // contract.principle.size
    group = np.minimum(np.arange(people.height) // contract.principle.size, groups - 1)
    nobody = np.zeros(people.height, dtype=bool)
    generalization = generalize(encode_columns(people, contract), people[VALUE], group, nobody, contract)
    counted = {"people": people.height, "tuples": people.height, "groups": groups}
    return Candidate(
        published=generalization.tables,
        linkage=people.select(PSEUDONYM, pl.Series("group_id", generalization.group_id)),
        state=State.empty(),
        figures=ReleaseFigures(**counted, counterfeits=0, held_back=0),
    )


@dataclass(frozen=True)
class PeopleFigures(Figures):
    fewest_people: Least


def attack_fewest_people(seen, promised):
    """Counted from what is published, its own way: nothing is asked of the principle."""
    if promised is None:
        return AttackResult()
    people = seen.published.sizes.select("group_id", people="size")
    table = people.with_columns(lacking=(promised - pl.col("people").cast(pl.Int64)).clip(0))
    few, fewest = table.filter(pl.col("lacking") > 0).height, people["people"].min()
    return AttackResult({"": Count(people.height, few, fewest, promised)}, PeopleFigures(fewest), table)


@dataclass(frozen=True)
class FewestPeople(Part):
    """No group is of fewer people than this: a promise that no other principle makes."""

    fewest_people: int

    attacked_by = attack_fewest_people
    judges = "today"
    scopes: ClassVar = {
        "": Scope("people in a group", "Each group is of as many people as promised.", "at least")
    }
    counted = PeopleFigures
    charts: ClassVar = (
        Chart(
            "The fewest people in any group.",
            "people",
            (Curve("fewest_people", "fewest"),),
            level=lambda part: part.fewest_people,
        ),
    )

    sentence = "Each group is of at least {fewest_people} people."
    check = Check(
        "fewest_people", "Each group is of as many people as promised.", "Fewest found: {people_min}."
    )


SUITE = {
    "name": "fewest_people",
    "expectations": [
        {
            "type": "expect_column_values_to_be_in_set",
            "kwargs": {"column": "lacking", "value_set": [0]},
            "notes": "No group lacks people.",
        },
        {
            "type": "expect_table_row_count_to_be_between",
            "kwargs": {"min_value": {"$PARAMETER": "fewest_groups"}},
        },
    ],
}
"""Its suite of expectations: a file of its own in `data_contracts/expectations`."""

GROUPS_OF_NEIGHBOURS = Principle(
    parameters=GroupsOfNeighbours,
    version="1",
    release=release,
    promise=lambda parameters: Promise(
        LargestShare(parameters.largest_share), FewestPeople(parameters.promised or parameters.size)
    ),
    format=lambda _contract: GENERALIZATION,
    memory=None,
)

# ---- what it is to the product


@pytest.fixture
def declare(hospital, monkeypatch, tmp_path):
    """The hospital under the new principle: a line in the tables of principles and of parts, and a suite."""
    from republish.orchestration.expectations import suites  # here: its import takes seconds

    monkeypatch.setattr(registry, "KINDS", (*registry.KINDS, FewestPeople))
    monkeypatch.setitem(principles.PRINCIPLES, "groups_of_neighbours", GROUPS_OF_NEIGHBOURS)
    folder = shutil.copytree(suites.SUITES, tmp_path / "expectations")
    (folder / "fewest_people.json").write_text(json.dumps(SUITE))
    monkeypatch.setattr(suites, "SUITES", folder)

    def judge_here(evidence, parameters):
        """The same judge in this process, where the new suite is."""
        return [suites.verdict(name, table, parameters) for name, table in evidence.items()]

    monkeypatch.setattr("republish.orchestration.chain.audit.judge", judge_here)

    def write(**parameters):
        declared = yaml.safe_load(hospital.contract.read_text())
        principle = {"name": "groups_of_neighbours", "size": 10, "largest_share": 0.9} | parameters
        hospital.contract.write_text(yaml.safe_dump(declared | {"principle": principle}, sort_keys=False))
        return hospital

    return write


def test_it_is_released_verified_and_audited_by_its_own_promise(declare, tmp_path):
    """Its check, the release's README, the record that the next release reads, the report and its chart."""
    hospital = declare()
    series = hospital.series(tmp_path / "home")
    released = make_by_dagster(series, *RELEASES[:2])
    assert [(one.people, one.groups, one.counterfeits) for one in (made.counts for made in released)] == [
        (300, 30, 0)
    ] * 2
    manifests = verify_series(series.published_folder)
    stated = {"name": "groups_of_neighbours", "size": 10, "largest_share": 0.9, "promised": None}
    assert [manifest["principle"] for manifest in manifests] == [stated] * 2
    assert {manifest["format"] for manifest in manifests} == {"generalization"}
    verified = CliRunner().invoke(cli.app, ["verify", str(series.published_folder)])
    assert (verified.exit_code, verified.stdout.splitlines()[-1]) == (0, "2 releases, an unbroken chain")
    committed = series.committed(RELEASES[1])
    (verdict,) = (one for one in committed.verdicts if one.promise == "fewest_people")
    assert (verdict.passed, verdict.found) == (True, "Fewest found: 10.")
    assert verdict.figures["smallest people"] == 10
    assert [promise.part(FewestPeople) for promise in committed.promises] == [FewestPeople(10)] * 2
    assert committed.attack["fewest_people"] == 10
    readme = (series.published_folder / RELEASES[1] / "README.md").read_text()
    assert "- Each group is of at least 10 people.\n" in readme

    code, promises = audited(hospital, series, tmp_path / "report")
    assert code == 0
    assert promises[fi.SHARE]["required"] == 0.9
    assert promises[fi.SHARE]["found"] < 0.9
    assert {fi.COVERAGE, fi.COUNTS, fi.HOSTS} <= promises.keys()
    row = promises["people in a group"]
    assert (row["bound"], row["required"], row["found"], row["holds"]) == ("at least", 10, 10, True)
    page = (tmp_path / "report/audit.html").read_text()
    assert "Each group is of as many people as promised." in page
    assert "The fewest people in any group." in page
    assert "promised: at least 10" in page


def test_a_release_that_breaks_the_new_promise_is_convicted_by_its_attack_and_its_check(declare, tmp_path):
    series = declare(promised=11).series(tmp_path / "home")
    with pytest.raises(AuditFailed, match="people in a group is broken for 30 of 30") as failed:
        make_by_dagster(series, RELEASES[0])
    assert "fewest_people: No group lacks people. Not so in 30 rows of evidence." in str(failed.value)
    assert not published(tmp_path / "home")


def test_what_it_does_not_promise_is_not_asked_of_it(declare, tmp_path):
    """Intersecting releases gives people away; m-invariance would be broken, and was not promised."""
    hospital = declare(size=3, largest_share=1.0)
    series = hospital.series(tmp_path / "home")
    make(series, *RELEASES)
    committed = series.committed(RELEASES[-1])
    assert committed.attack["smallest_candidates_by_host"] == 1
    assert {verdict.promise for verdict in committed.verdicts} == {
        *("largest_share", "fewest_people", "coverage", "counterfeits", "minimum_widths"),
        *("attack", "expected"),
    }
    assert all(verdict.passed for verdict in committed.verdicts)
    _, promises = audited(hospital, series, tmp_path / "report")
    unpromised = {fi.CANDIDATES, fi.HOST_CANDIDATES, fi.CHANGES, fi.EQUIVALENCE, fi.BREACH}
    assert not unpromised & promises.keys()


def test_an_auditor_sees_that_its_own_promise_is_broken(declare, tmp_path, monkeypatch):
    """A publisher whose audit was switched off."""
    series = declare(largest_share=0.2).series(tmp_path / "home")
    with monkeypatch.context() as careless:
        for step in ("candidate", "snapshot"):
            careless.setattr(f"republish.orchestration.chain.{step}.refuse_broken", lambda *_: None)
        make(series, RELEASES[0])
    code, promises = audited(declare(largest_share=0.2), series, tmp_path / "report")
    assert code == 3
    assert [name for name, row in promises.items() if not row["holds"]] == [fi.SHARE]
    assert promises[fi.SHARE]["required"] == 0.2


def test_without_a_memory_there_is_no_asset_for_one(declare, tmp_path):
    series = declare().series(tmp_path / "home")
    nodes = {node.key.path[-1] for node in definitions(series).resolve_asset_graph().asset_nodes}
    assert nodes == {"snapshot", "delta", "release", "counterfeits", "audit", "publication"}


def test_its_parameters_are_checked_as_those_of_any_principle(declare):
    hospital = declare(size="ten", colour="blue")
    with pytest.raises(ContractError) as refused:
        load_contract(hospital.contract)
    assert {key for key, _ in refused.value.faults} == {"principle.size", "principle.colour"}
