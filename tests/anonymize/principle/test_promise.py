"""What each principle promises, as data: all that an attack is told. A weaker promise would acquit a leak."""

import json
import re
from functools import partial

import polars as pl
import pytest

from republish.anonymize.attack.figures import CandidateFigures
from republish.anonymize.contract import Table
from republish.anonymize.principles import PRINCIPLES, parse_contract
from republish.anonymize.promise import (
    KINDS,
    BreachProbability,
    Candidates,
    Equivalence,
    Join,
    LargestShare,
    Linkability,
    LinkedValues,
    Part,
    Promise,
    Signatures,
    promise_of,
)
from republish.anonymize.promise.check import named_together
from republish.anonymize.promise.minimum_people import MinimumPeople
from republish.anonymize.promise.part import Chart, Curve
from republish.anonymize.promise.registry import promised_in, scopes
from republish.anonymize.promise.reidentification import KAnonymity, LDiversity
from republish.anonymize.promise.rules import RULES
from tests import findings as fi
from tests.anonymize.sequential.sequential_tables import view_contract
from tests.clinic import CLINIC
from tests.findings import promise

BASE = {**CLINIC, "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 99]}]}
SEX = {"name": "sex", "kind": "category", "order": ["F", "M"]}
A_JOIN = Join(x=("age",), y=("disease",))
T2 = {"path": "t2.csv", "columns": ["job", "disease"]}


def promised(contract: Table) -> Promise:
    return PRINCIPLES[contract.principle.name].promise(contract.principle)


@pytest.mark.parametrize(
    ("principle", "promise"),
    [
        ({"name": "m_invariance", "m": 4}, promise(candidates=4, largest_share=1 / 4, signatures="unique")),
        (
            {"name": "e_equivalence", "m": 3, "e": 5},
            promise(candidates=3, largest_share=1 / 3, signatures="even", equivalence=5),
        ),
        ({"name": "streamliner", "l": 5}, promise(candidates=5, largest_share=1 / 5, posterior=1 / 5)),
        (
            {"name": "global_guarantee", "l": 4, "strategy": "minimum", "forget_after": 6},
            promise(breach_probability=1 / 4, forgets_after=6),
        ),
    ],
    ids=lambda declared: declared["name"] if isinstance(declared, dict) else "",
)
def test_what_principles_of_groups_promise(principle, promise):
    semantics = "transient" if principle["name"] == "global_guarantee" else "persistent"
    declared = {**BASE, "sensitive": {"name": "disease", "semantics": semantics}, "principle": principle}
    assert promised(parse_contract(declared)) == promise


@pytest.mark.parametrize(
    ("principle", "kind", "bound"),
    [
        ({"k": 3, "y": ["pid"]}, LinkedValues, 3),
        ({"requirement": "linkability", "k": 0.5, "y": ["disease"]}, Linkability, 0.5),
        ({"requirement": "linkability", "k": {"HIV": 0.2, "flu": 0.6}}, Linkability, 0.6),
    ],
    ids=["anonymity", "linkability", "a confidence for each value"],
)
def test_what_a_view_promises_of_its_join(principle, kind, bound):
    """Of several confidences the largest is stated; the join's own limits are what it is judged by."""
    wanted = view_contract([SEX], x=["sex"], previous=[T2], **{"y": ["disease"], **principle})
    (found,) = promised(wanted)
    assert found == kind(bound, found.join)
    assert found.join.previous == (("job", "disease"),)
    assert found.join.limits == ({"disease": principle["k"]} if "requirement" in principle else None)


@pytest.mark.parametrize(
    "promise",
    [
        Promise(Candidates(3), Signatures("even"), Equivalence(2)),
        Promise(BreachProbability(0.25, forgets_after=6)),
        Promise(
            Linkability(
                0.5,
                Join(
                    x=("age",),
                    y=("disease",),
                    limits={"disease": {"HIV": 0.5}},
                    previous=(("job", "disease"),),
                    records=(None,),
                    inconsistent=(("sex", "disease", "M", "pregnant"),),
                ),
            )
        ),
    ],
    ids=["of groups", "of values that come and go", "of a join"],
)
def test_a_promise_comes_back_from_a_file_as_it_was(promise):
    assert promise_of(json.loads(json.dumps(promise.as_json()))) == promise


def test_a_file_of_an_earlier_version_states_what_is_not_promised_as_null():
    stated = {"candidates": 4, "largest_share": 0.25, "breach_probability": None, "forgets_after": None}
    stated |= {"signatures": "unique", "equivalence": None, "linked_values": None, "join": None}
    assert promise_of(stated) == Promise(Candidates(4), LargestShare(0.25), Signatures("unique"))


@pytest.mark.parametrize(
    ("kind", "bound", "words"),
    [
        (Candidates, 0, "candidates (0) must be at least 1"),
        (LargestShare, 1.5, "largest_share (1.5) must be at least 0, at most 1"),
        (BreachProbability, -0.1, "breach_probability (-0.1) must be at least 0, at most 1"),
        (Equivalence, 0, "equivalence (0) must be at least 1"),
        (MinimumPeople, 1, "people_per_group (1) must be at least 2"),
        (KAnonymity, 0, "k_anonymity (0) must be at least 1"),
        (LDiversity, 0, "l_diversity (0) must be at least 1"),
        (partial(LinkedValues, join=A_JOIN), 0, "linked_values (0) must be at least 1"),
        (partial(Linkability, join=A_JOIN), 1.1, "linkability (1.1) must be at least 0, at most 1"),
        (Signatures, "odd", "signatures (odd) must be one of unique, even"),
    ],
)
def test_a_bound_that_can_not_be_promised_is_refused_where_it_is_made(kind, bound, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        kind(bound)


@pytest.mark.parametrize(
    ("kind", "bounds"),
    [
        (Candidates, [1]),
        (BreachProbability, [0, 1]),
        (MinimumPeople, [2]),
        (partial(LinkedValues, join=A_JOIN), [1]),
        (partial(Linkability, join=A_JOIN), [0, 1]),
    ],
)
def test_the_ends_of_what_can_be_promised_can_be(kind, bounds):
    assert len({str(kind(bound)) for bound in bounds}) == len(bounds)


def test_a_promise_is_as_old_as_the_first_of_the_last_releases_that_promise_as_much():
    promises = [Promise(), Promise(Candidates(2)), Promise(Candidates(3)), Promise(Candidates(3))]
    assert [Candidates.since(promises[:number]) for number in (1, 2, 3, 4)] == [1, 2, 3, 3]
    for name in (fi.CANDIDATES, fi.HOST_CANDIDATES):
        assert [promised_in(name, since, promises) for since in (2, 3)] == [[2], [3, 4]]
    assert promised_in(fi.COVERAGE, 1, promises) == promised_in(fi.COVERAGE, 3, promises) == [1, 2, 3, 4]


def test_charts_draw_the_promised_number_of_candidates_and_the_risk_that_it_allows():
    assert {chart.level(Candidates(4)) for chart in Candidates.charts if chart.level} == {4, 0.25}


def test_evidence_of_one_shard_is_all_there_is():
    cuts = pl.DataFrame({"column": ["age"], "uncovered_sum": [2]})
    assert named_together([cuts]).equals(cuts)


def test_each_part_that_readers_are_told_says_what_is_promised():
    said = Promise(Candidates(3), MinimumPeople(2), Signatures("unique"), KAnonymity(5)).sentences()
    assert all(said)
    assert "stands in at least 5 rows" in said[-1]
    assert any("at most one in 2 has" in sentence for sentence in said)


def test_what_is_about_files_tables_and_groups_counts_no_people():
    """A reader is not told of people, where entries, rows or columns were counted."""
    assert {name for name, scope in scopes().items() if not scope.counts_people} == {
        *(fi.ENTRIES, fi.VALUES, fi.INTERVALS, "minimum widths", "taxonomy cuts"),
        *(fi.ROW_ORDER, fi.NUMBERING, fi.COUNTERFEITS, fi.IDENTIFIERS, fi.UNREAD),
        *("k-anonymity", "l-diversity", fi.CHAIN, fi.CLAIMS, fi.METADATA),
    }


def test_rules_about_tables_alone_are_judged_of_all_shards_together():
    assert {scope.name for rule in RULES if rule.of_tables for scope in rule.scopes.values()} == {
        *(fi.ENTRIES, fi.INTERVALS, fi.ROW_ORDER, fi.NUMBERING, fi.IDENTIFIERS, fi.UNREAD),
    }


def test_only_a_bound_of_a_probability_is_the_likeliest_value_of_a_person():
    assert [part.likeliest for part in (MinimumPeople(2), KAnonymity(2), BreachProbability(0.2))] == [
        *(None, None, 0.2)
    ]


def test_every_row_of_findings_has_a_name_of_its_own():
    named = [scope.name for kind in KINDS for scope in kind.scopes.values()]
    joins = {LinkedValues.scopes[""].name}  # two promises about the same join, of which a view makes one
    assert {name for name in named if named.count(name) > 1} == joins


@pytest.mark.parametrize(
    "shown",
    [
        {"charts": (Chart("Fewest people.", "people", (Curve("fewest_peple", "fewest"),)),)},
        {"unpromised": ("fewest_peple", "Fewest people: {}.")},
    ],
)
def test_a_part_that_shows_a_figure_that_nobody_counts_is_refused_when_it_is_written(shown):
    """Left alone, the report would have no such column or chart, and nobody would notice."""
    with pytest.raises(TypeError, match="Misspelt shows fewest_peple, which CandidateFigures has not"):
        type("Misspelt", (Part,), {"counted": CandidateFigures, **shown})
