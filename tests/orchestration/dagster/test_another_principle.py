"""A principle is a folder of its own and one line in `PRINCIPLES`: the product follows from it."""

import json
from typing import Literal

import numpy as np
import polars as pl
import pytest
import yaml
from pydantic import StrictFloat, StrictInt
from rich.console import Console
from typer.testing import CliRunner

from anonymize import principles
from anonymize.attack import finding as fi
from anonymize.columns import PSEUDONYM, VALUE
from anonymize.contract import Parameters
from anonymize.errors import AuditFailed, ContractError
from anonymize.evidence.generalized import coverage
from anonymize.evidence.groups import counterfeit_statistics, group_table
from anonymize.formats import GENERALIZATION
from anonymize.formats.generalization import MICRODATA, generalize
from anonymize.people.codes import encode_columns
from anonymize.principle.candidate import Candidate
from anonymize.principle.checks import Check
from anonymize.principle.principle import Principle
from anonymize.principle.state import State
from anonymize.promise.promise import Promise
from orchestration.audit.command import audit
from orchestration.cli import app as cli
from orchestration.contracts.contract_file import load_contract
from orchestration.storage.manifest import verify_series
from tests.hospital import RELEASES, definitions, make, make_by_dagster, published

# ---- what would be the principle's folder


class GroupsOfNeighbours(Parameters):
    """Groups of people with similar quasi-identifiers, anew in every release."""

    name: Literal["groups_of_neighbours"]
    size: StrictInt
    """The fewest people in a group."""
    largest_share: StrictFloat
    """No value has a larger share of a group."""


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
        figures={**counted, "counterfeits": 0, "held_back": 0},
    )


def evidence(candidate, people, _before, contract, _attacked):
    tables = GENERALIZATION.internal(candidate.published, contract)
    groups = group_table(GENERALIZATION.read(tables, contract))
    hosted = people.join(candidate.linkage, on=PSEUDONYM)
    return {
        "coverage": coverage(tables[MICRODATA], hosted, contract),
        "counterfeits": counterfeit_statistics(groups, hosted, people),
    }


GROUPS_OF_NEIGHBOURS = Principle(
    parameters=GroupsOfNeighbours,
    version="1",
    release=release,
    evidence=evidence,
    checks=(
        Check("coverage", "Every person's group covers them."),
        Check("counterfeits", "There are no counterfeits."),
    ),
    suite_parameters=lambda _contract, figures: {"held_back": figures["held_back"]},
    promise=lambda parameters: Promise(largest_share=parameters.largest_share),
    format=lambda _contract: GENERALIZATION,
    memory=None,
)

# ---- what it is to the product


@pytest.fixture
def declare(hospital, monkeypatch):
    """The hospital under the new principle, which is one line in the table of principles."""
    monkeypatch.setitem(principles.PRINCIPLES, "groups_of_neighbours", GROUPS_OF_NEIGHBOURS)

    def write(**parameters):
        declared = yaml.safe_load(hospital.contract.read_text())
        principle = {"name": "groups_of_neighbours", "size": 10, "largest_share": 0.9} | parameters
        hospital.contract.write_text(yaml.safe_dump(declared | {"principle": principle}, sort_keys=False))
        return hospital

    return write


def audited(hospital, series, folder):
    """The exit code of `republish audit` with all there is, and the rows of its report."""
    code = audit(
        [series.published_folder],
        hospital.file(RELEASES[0]).parent,
        hospital.contract,
        private=series.private_folder,
        out=folder,
        seconds=1,  # equivalence is not promised here, and its figure may stay undecided
        console=Console(quiet=True),
    )
    described = json.loads((folder / "audit.json").read_text())
    return code, {row["promise"]: row for row in described["promises"]}


def test_it_is_released_verified_and_audited_by_its_own_promise(declare, tmp_path):
    hospital = declare()
    series = hospital.series(tmp_path / "home")
    released = make_by_dagster(series, *RELEASES)
    assert [(one.people, one.groups, one.counterfeits) for one in released] == [(300, 30, 0)] * 3
    manifests = verify_series(series.published_folder)
    stated = {"name": "groups_of_neighbours", "size": 10, "largest_share": 0.9}
    assert [manifest["principle"] for manifest in manifests] == [stated] * 3
    assert {manifest["format"] for manifest in manifests} == {"generalization"}
    verified = CliRunner().invoke(cli.app, ["verify", str(series.published_folder)])
    assert (verified.exit_code, verified.stdout.splitlines()[-1]) == (0, "3 releases, an unbroken chain")

    code, promises = audited(hospital, series, tmp_path / "report")
    assert code == 0
    assert promises[fi.SHARE]["required"] == 0.9
    assert promises[fi.SHARE]["found"] < 0.9
    assert {fi.COVERAGE, fi.COUNTS, fi.HOSTS} <= promises.keys()


def test_what_it_does_not_promise_is_not_asked_of_it(declare, tmp_path):
    """Intersecting releases gives people away; m-invariance would be broken, and was not promised."""
    hospital = declare(size=3, largest_share=1.0)
    series = hospital.series(tmp_path / "home")
    make_by_dagster(series, *RELEASES)
    committed = series.committed(RELEASES[-1])
    assert committed.attack["smallest_candidates_by_host"] == 1
    assert {verdict.promise for verdict in committed.verdicts} == {
        "coverage",
        "counterfeits",
        "attack",
        "expected",
    }
    assert all(verdict.passed for verdict in committed.verdicts)
    _, promises = audited(hospital, series, tmp_path / "report")
    unpromised = {fi.CANDIDATES, fi.HOST_CANDIDATES, fi.CHANGES, fi.EQUIVALENCE, fi.BREACH}
    assert not unpromised & promises.keys()


def test_a_release_that_breaks_its_own_promise_is_not_published(declare, tmp_path):
    series = declare(largest_share=0.2).series(tmp_path / "home")
    with pytest.raises(AuditFailed, match=f"attack: {fi.SHARE} is broken for"):
        make_by_dagster(series, RELEASES[0])
    assert not published(tmp_path / "home")


def test_an_auditor_sees_that_its_own_promise_is_broken(declare, tmp_path, monkeypatch):
    """A publisher whose audit was switched off."""
    series = declare(largest_share=0.2).series(tmp_path / "home")
    with monkeypatch.context() as careless:
        for step in ("candidate", "snapshot"):
            careless.setattr(f"orchestration.chain.{step}.refuse_broken", lambda *_: None)
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
