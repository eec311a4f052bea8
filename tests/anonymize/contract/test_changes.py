"""What may change in a contract within a series: safe, with consent, or in a new series only."""

import copy

import pytest

from republish.anonymize.contract.changes import column_changes, declared_columns
from republish.anonymize.principles import parse_contract, principle_of
from tests.anonymize.contract.test_contract import hospital

BEFORE = hospital(
    quasi_identifiers=[
        {"name": "age", "kind": "number", "domain": [0, 120], "min_width": 5},
        {"name": "born", "kind": "date", "domain": ["1900-01-01", "2030-12-31"], "min_width": 365},
        {"name": "town", "kind": "category", "order": ["Bonn", "Kiel", "Ulm"]},
    ]
)


def columns_changed(alter):
    declared = copy.deepcopy(BEFORE)
    alter(declared)
    before, now = parse_contract(BEFORE), parse_contract(declared)
    return [(change.name, change.verdict) for change in column_changes(declared_columns(before), now)]


def qi(position, **changes):
    return lambda declared: declared["quasi_identifiers"][position].update(changes)


def values(*listed):
    return lambda declared: declared["sensitive"].update(values=list(listed))


def as_a_number(declared):
    declared["quasi_identifiers"][1] = {"name": "born", "kind": "number", "domain": [1900, 2030]}


COLUMNS = {
    "nothing": (lambda _: None, []),
    "a quasi-identifier dropped": (lambda declared: declared["quasi_identifiers"].pop(0), [("age", "safe")]),
    "a quasi-identifier added": (
        lambda declared: declared["quasi_identifiers"].append(
            {"name": "sex", "kind": "category", "order": ["F", "M"]}
        ),
        [("sex", "consent")],
    ),
    "columns in another order": (lambda declared: declared["quasi_identifiers"].reverse(), []),
    "a minimum width from 365 to 1": (qi(1, min_width=1), [("born.min_width", "consent")]),
    "a minimum width left out": (qi(1, min_width=0), [("born.min_width", "consent")]),
    "a larger minimum width": (qi(0, min_width=10), [("age.min_width", "safe")]),
    "a date that becomes a number": (as_a_number, [("born.kind", "consent")]),
    "a wider domain": (qi(0, domain=[0, 130]), [("age.domain", "safe")]),
    "a step": (qi(0, step=5), [("age.step", "safe")]),
    "a narrower domain": (qi(0, domain=[10, 110]), [("age.domain", "safe")]),
    "labels in another order": (qi(2, order=["Kiel", "Bonn", "Ulm"]), [("town.order", "consent")]),
    "a new label": (qi(2, order=["Bonn", "Kiel", "Trier", "Ulm"]), [("town.labels", "safe")]),
    "a label that is gone": (qi(2, order=["Bonn", "Ulm"]), [("town.labels", "safe")]),
    "a new value": (
        values("bronchitis", "dyspepsia", "flu", "gastritis", "gout"),
        [("sensitive.values", "consent")],
    ),
    "many new values": (
        values("bronchitis", "dyspepsia", "flu", "gastritis", *(f"J{code}" for code in range(10))),
        [("sensitive.values", "safe")],
    ),
    "a value that may be known from now on": (
        lambda declared: declared["sensitive"].update(not_sensitive=["flu"]),
        [("sensitive.not_sensitive", "new series")],
    ),
    "a value that is gone": (values("bronchitis", "dyspepsia", "flu"), [("sensitive.values", "consent")]),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_columns(case):
    alter, found = COLUMNS[case]
    assert columns_changed(alter) == found


M, E = {"name": "m_invariance", "m": 3}, {"name": "e_equivalence", "m": 3, "e": 3}
PARAMETERS = [
    (M, {}, []),
    (M, {"m": 4}, [("m", "safe")]),
    (M, {"m": 2}, [("m", "consent")]),
    (M, {"on_ineligible": "wait"}, [("on_ineligible", "safe")]),
    (
        M,
        {"on_ineligible": "counterfeit", "people_per_group": 2},
        [("on_ineligible", "consent"), ("people_per_group", "safe")],
    ),
    (M | {"people_per_group": 3}, {"people_per_group": 2}, [("people_per_group", "new series")]),
    (M, {"on_value_change": "refuse"}, [("on_value_change", "safe")]),
    (E, {"e": 4}, [("e", "safe")]),
    (E, {"e": 2}, [("e", "new series")]),
    (E, {"m": 2, "e": 4}, [("m", "consent"), ("e", "safe")]),
]


@pytest.mark.parametrize(("principle", "changes", "found"), PARAMETERS)
def test_parameters(principle, changes, found):
    exact = [{"name": "age", "kind": "number", "domain": [0, 120]}]
    before = parse_contract(hospital(principle=principle, quasi_identifiers=exact))
    now = parse_contract(hospital(principle=principle | changes, quasi_identifiers=exact))
    changed = principle_of(now).parameter_changes(before.principle, now.principle)
    assert [(change.name, change.verdict) for change in changed] == found
    assert all(change.why.endswith(".") for change in changed)
