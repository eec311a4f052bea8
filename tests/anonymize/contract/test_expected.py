"""What is ordinary of a snapshot and a release, by their counts alone."""

import pytest

from republish.anonymize.contract.expected import (
    DeltaFigures,
    describe_odd,
    expected_of_release,
    expected_of_snapshot,
)
from republish.anonymize.principles import parse_contract
from tests.anonymize.contract.test_contract import hospital

GUARANTEE = {"name": "global_guarantee", "l": 2, "strategy": "geometric"}


def contract(semantics="persistent", **expect):
    sensitive = {"name": "disease", "semantics": semantics}
    changes = {"principle": GUARANTEE} if semantics == "transient" else {}
    return parse_contract(hospital(expect=expect, sensitive=sensitive, **changes))


def odd(declared, accepted=(), **counts):
    figures = DeltaFigures(**{"carried": 0, "changed": 0, "deleted": 0, "inserted": 0} | counts)
    evidence = expected_of_snapshot(figures, declared, accepted)
    return evidence.filter(evidence["odd"] > 0)["measure"].to_list()


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        ({"inserted": 1}, []),  # a first snapshot is ordinary if anybody is in it
        ({}, ["people"]),
        ({"deleted": 400}, ["people", "carried"]),
        ({"carried": 400}, []),
        ({"carried": 50, "deleted": 50}, []),
        ({"carried": 49, "deleted": 51}, ["carried"]),
        ({"carried": 190, "deleted": 210}, ["carried"]),  # a file that was cut at a line's end
        ({"deleted": 400, "inserted": 400}, ["carried"]),  # identifiers in another form
        ({"carried": 90, "changed": 10}, []),
        ({"carried": 89, "changed": 11}, ["changed"]),
    ],
)
def test_the_defaults_find_what_is_odd(counts, found):
    assert odd(contract(), **counts) == found


def test_values_that_come_and_go_may_all_change():
    assert odd(contract("transient"), carried=0, changed=100) == []
    assert odd(contract("transient", changed=0.5), carried=49, changed=51) == ["changed"]


@pytest.mark.parametrize(
    ("expect", "counts", "found"),
    [
        ({"people": [10, 20]}, {"inserted": 9}, ["people"]),
        ({"people": [10, 20]}, {"inserted": 10}, []),
        ({"people": [10, 20]}, {"inserted": 20}, []),
        ({"people": [10, 20]}, {"inserted": 21}, ["people"]),
        ({"carried": 0.9}, {"carried": 89, "deleted": 11}, ["carried"]),
        ({"new": 0.2}, {"carried": 79, "inserted": 21}, ["new"]),
        ({"new": 0.2}, {"carried": 80, "inserted": 20}, []),
        ({"carried": 0}, {"deleted": 5, "inserted": 5}, []),
    ],
)
def test_a_publisher_says_what_is_ordinary(expect, counts, found):
    assert odd(contract(**expect), **counts) == found


def test_what_is_accepted_by_name_is_not_odd_and_what_is_not_named_stays_odd():
    counts = {"carried": 20, "changed": 20, "deleted": 60}
    assert odd(contract(), **counts) == ["carried", "changed"]
    assert odd(contract(), ["carried"], **counts) == ["changed"]
    assert odd(contract(), ["carried", "changed"], **counts) == []


@pytest.mark.parametrize(("tuples", "counterfeits", "found"), [(0, 0, 0), (800, 400, 0), (842, 442, 1)])
def test_a_release_may_be_half_counterfeits_and_no_more(tuples, counterfeits, found):
    assert expected_of_release(counterfeits, tuples, contract(), ())["odd"].sum() == found
    assert expected_of_release(counterfeits, tuples, contract(), ["counterfeits"])["odd"].sum() == 0


def test_what_is_odd_is_said_with_what_was_found_and_what_is_expected():
    figures = DeltaFigures(carried=190, changed=0, deleted=210, inserted=0)
    assert describe_odd(expected_of_snapshot(figures, contract(people=[300, 500]), ())) == [
        "the snapshot has 190 people; expect.people says at least 300",
        "47.5% of the people of the snapshot before are in this one; expect.carried says at least 0.5",
    ]


def test_who_stays_is_counted_in_people_and_what_changes_in_rows():
    """Half of the people stay: a few of them with most of the rows that are gone."""
    people = {"people_before": 100, "people_now": 60, "people_in_both": 50}
    counts = {"carried": 60, "deleted": 240, "inserted": 10}
    assert odd(contract(), **counts) == ["carried"]
    assert odd(contract(), **counts, **people) == []
    assert odd(contract(people=[61, 100], new=0.1), **counts, **people) == ["people", "new"]
    figures = DeltaFigures(carried=90, changed=40, deleted=0, inserted=0, **people | {"people_in_both": 49})
    evidence = expected_of_snapshot(figures, contract(), ())
    carried, changed = describe_odd(evidence, "rows")
    assert carried.startswith("49.0% of the people of the snapshot before")
    assert changed.startswith("30.8% of the rows in both snapshots")
