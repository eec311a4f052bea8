"""What each principle promises, as data: all that an attack is told. A weaker promise would acquit a leak."""

import json

import pytest

from anonymize.contract import Table
from anonymize.principles import PRINCIPLES, parse_contract
from anonymize.promise.promise import Join, Promise
from tests.anonymize.sequential.sequential_tables import view_contract
from tests.clinic import CLINIC

BASE = {
    **CLINIC,
    "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 99]}],
}
SEX = {"name": "sex", "kind": "category", "order": ["F", "M"]}
T2 = {"path": "t2.csv", "columns": ["job", "disease"]}


def promised(contract: Table) -> Promise:
    return PRINCIPLES[contract.principle.name].promise(contract.principle)


@pytest.mark.parametrize(
    ("principle", "promise"),
    [
        (
            {"name": "m_invariance", "m": 4},
            Promise(candidates=4, largest_share=1 / 4, signatures="unique"),
        ),
        (
            {"name": "e_equivalence", "m": 3, "e": 5},
            Promise(candidates=3, largest_share=1 / 3, signatures="even", equivalence=5),
        ),
        ({"name": "streamliner", "l": 5}, Promise(candidates=5, largest_share=1 / 5)),
        (
            {"name": "global_guarantee", "l": 4, "strategy": "minimum", "forget_after": 6},
            Promise(breach_probability=1 / 4, forgets_after=6),
        ),
    ],
    ids=lambda declared: declared["name"] if isinstance(declared, dict) else "",
)
def test_what_principles_of_groups_promise(principle, promise):
    semantics = "transient" if principle["name"] == "global_guarantee" else "persistent"
    declared = {**BASE, "sensitive": {"name": "disease", "semantics": semantics}, "principle": principle}
    assert promised(parse_contract(declared)) == promise


@pytest.mark.parametrize(
    ("principle", "promise"),
    [
        ({"k": 3, "y": ["pid"]}, Promise(linked_values=3)),
        ({"requirement": "linkability", "k": 0.5, "y": ["disease"]}, Promise(linkability=0.5)),
        ({"requirement": "linkability", "k": {"HIV": 0.2, "flu": 0.6}}, Promise(linkability=0.6)),
    ],
    ids=["anonymity", "linkability", "a confidence for each value"],
)
def test_what_a_view_promises_of_its_join(principle, promise):
    """Of several confidences the largest is stated; the join's own limits are what it is judged by."""
    wanted = view_contract([SEX], x=["sex"], previous=[T2], **{"y": ["disease"], **principle})
    found = promised(wanted)
    assert (found.linked_values, found.linkability) == (promise.linked_values, promise.linkability)
    assert found.join.previous == (("job", "disease"),)
    assert found.join.limits == ({"disease": principle["k"]} if "requirement" in principle else None)


@pytest.mark.parametrize(
    "promise",
    [
        Promise(candidates=3, signatures="even", equivalence=2),
        Promise(
            linkability=0.5,
            join=Join(
                x=("age",),
                y=("disease",),
                limits={"disease": {"HIV": 0.5}},
                previous=(("job", "disease"),),
                records=(None,),
                inconsistent=(("sex", "disease", "M", "pregnant"),),
            ),
        ),
    ],
    ids=["of groups", "of a join"],
)
def test_a_promise_comes_back_from_a_file_as_it_was(promise):
    assert Promise.from_json(json.loads(json.dumps(promise.as_json()))) == promise
