"""What a contract may say of the global guarantee, and what it may not."""

import pytest
from pydantic import ValidationError

from republish.anonymize.errors import ContractError
from republish.anonymize.global_guarantee import GLOBAL_GUARANTEE
from republish.anonymize.principles import parse_contract
from tests.anonymize.global_guarantee.guarantee_series import make_contract


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"l": 1, "strategy": "minimum"}, r"l \(1\) must be at least 2"),
        ({"l": 2.5, "strategy": "minimum"}, "valid integer"),
        ({"strategy": "minimum"} | {"l": None}, "valid integer"),
        ({"strategy": "cautious"}, "'constant_ratio', 'geometric' or 'minimum'"),
        ({}, "Field required"),
        ({"strategy": "constant_ratio"}, "releases is missing"),
        ({"strategy": "constant_ratio", "releases": 0}, "from 1 on, not 0"),
        ({"strategy": "minimum", "releases": 4}, "releases is a parameter of strategy constant_ratio"),
        ({"strategy": "minimum", "a": 0.5}, "a is a parameter of strategy geometric"),
        ({"strategy": "geometric", "a": 1}, "between 0 and 1, both excluded, not 1"),
        ({"strategy": "geometric", "a": True}, "between 0 and 1"),
        ({"strategy": "minimum", "forget_after": 0}, "from 1 on, not 0"),
        ({"strategy": "minimum", "m": 3}, "Extra inputs"),
        ({"strategy": "minimum", "on_ineligible": "counterfeit"}, "'refuse' or 'wait'"),
    ],
)
def test_faults(declared, words):
    with pytest.raises(ValidationError, match=words):
        make_contract(**declared)


def test_one_release_is_a_number_of_releases():
    declared = make_contract(strategy="constant_ratio", releases=1, forget_after=1).principle
    assert (declared.releases, declared.forget_after) == (1, 1)


def test_fewer_declared_values_than_l():
    contract = make_contract(values=["a", "b"], l=3, strategy="minimum")
    assert GLOBAL_GUARANTEE.faults(contract) == [
        ("principle.l", "l (3) needs as many sensitive values, and sensitive.values lists 2")
    ]
    assert GLOBAL_GUARANTEE.faults(make_contract(l=3, strategy="minimum")) == []


def test_other_principles_refuse_transient_values_and_say_which_principle_is_meant():
    releases = {"first": "2024-01-01", "cron": "0 0 1 1 *"}
    said = r"sensitive.semantics: transient .* principle global_guarantee"
    declared = make_contract(strategy="minimum").model_dump(mode="json")
    for principle in ({"name": "m_invariance", "m": 2}, {"name": "e_equivalence", "m": 2, "e": 2}):
        with pytest.raises(ContractError, match=said):
            parse_contract(declared | {"principle": principle, "releases": releases})


def test_what_is_promised_is_the_breach_probability_alone():
    promise = GLOBAL_GUARANTEE.promise(make_contract(l=4, strategy="minimum").principle)
    given = {part: promised for part, promised in promise.as_json().items() if promised is not None}
    assert given == {"breach_probability": 0.25}
