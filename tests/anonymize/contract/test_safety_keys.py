"""The keys that keep a release from being made by accident: what is ordinary, and which series it is."""

import pytest

from republish.anonymize.principles import parse_contract
from tests.anonymize.contract.test_contract import exact, faults, hospital


@pytest.mark.parametrize("declare", [hospital, exact])
def test_counterfeits_for_an_ineligible_batch_are_refused_where_they_would_give_certainty(declare):
    declared = declare()
    declared["principle"] |= {"m": 2, "on_ineligible": "counterfeit"}
    ((key, message),) = faults(declared)
    assert key == "principle.on_ineligible"
    assert message.startswith("counterfeit is refused with m = 2")
    assert message.endswith("Write wait, or a larger m")
    for allowed in ({"m": 3, "people_per_group": 2}, {"on_ineligible": "wait"}):
        parse_contract(declared | {"principle": declared["principle"] | allowed})


@pytest.mark.parametrize(
    ("principle", "said"),
    [
        ({"m": 3, "on_ineligible": "counterfeit"}, "counterfeit needs 2, and it is 1"),
        (
            {"m": 4, "on_ineligible": "counterfeit", "people_per_group": 4},
            "counterfeit needs a number from 2 to 3, and it is 4",
        ),
        ({"m": 3, "people_per_group": 4}, "a group of 3 values has no 4 people. Write a number from 1 to 3"),
        ({"m": 3, "people_per_group": 0}, "Input should be greater than or equal to 1"),
    ],
)
def test_people_per_group_is_a_number_that_groups_can_have(principle, said):
    declared = hospital()
    declared["principle"] |= principle
    ((key, message),) = faults(declared)
    assert key == "principle.people_per_group"
    assert message.startswith(said)


def test_people_per_group_is_stated_where_it_promises_anything():
    declared = hospital()
    assert "people_per_group" not in parse_contract(declared).principle.model_dump()
    declared["principle"] |= {"m": 3, "people_per_group": 2}
    assert parse_contract(declared).principle.model_dump()["people_per_group"] == 2


@pytest.mark.parametrize("people", [[1, 1], [1, 9], [9, 9]])
def test_a_snapshot_of_one_person_may_be_ordinary(people):
    assert parse_contract(hospital(expect={"people": people})).expect.people == tuple(people)


def test_what_is_ordinary_has_documented_defaults():
    expect = parse_contract(hospital()).expect
    assert expect.model_dump() == {
        "people": None,
        "carried": 0.5,
        "new": 1.0,
        "changed": None,
        "counterfeits": 0.5,
    }


def test_what_is_ordinary_does_not_bear_on_the_bytes_that_are_published():
    plain = parse_contract(hospital())
    expecting = parse_contract(
        hospital(expect={"carried": 0.9}, accept={"2024-07-01": ["carried"]}, separate_readers=True)
    )
    assert expecting.privacy_digest() == plain.privacy_digest()
