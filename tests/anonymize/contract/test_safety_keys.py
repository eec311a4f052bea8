"""The keys that keep a release from being made by accident: what is ordinary, and which series it is."""

import pytest

from anonymize.principles import parse_contract
from tests.anonymize.contract.test_contract import exact, faults, hospital

REFUSED = [
    ({"expect": {"people": [0, 9]}}, "expect.people", "must be [fewest, most], from 1 on, not [0, 9]"),
    ({"expect": {"people": [9, 3]}}, "expect.people", "must be [fewest, most], from 1 on, not [9, 3]"),
    ({"expect": {"people": 9}}, "expect.people", "must be a list, not 9"),
    ({"expect": {"carried": 50}}, "expect.carried", "must be a share between 0 and 1, not 50"),
    ({"expect": {"new": "all"}}, "expect.new", "must be a share between 0 and 1, not all"),
    ({"expect": {"changed": True}}, "expect.changed", "must be a share between 0 and 1, not true"),
    (
        {"expect": {"left": 0.1}},
        "expect.left",
        "is unknown; accepted: people, carried, new, changed, counterfeits",
    ),
    ({"accept": {"July": ["carried"]}}, "accept", "July must be the date of a release, YYYY-MM-DD"),
    ({"accept": "carried"}, "accept", "must be a mapping, not carried"),
    ({"accept": {"2024-07-01": "carried"}}, "accept.2024-07-01", "must be a list, not carried"),
    ({"separate_readers": "yes"}, "separate_readers", "must be true or false, not yes"),
    ({"supersedes": "v1"}, "", "supersedes: a series (v1) can't go on from itself"),
    (
        {"supersedes": "v0", "separate_readers": True},
        "",
        "give either supersedes or separate_readers, one of the two",
    ),
    ({"product": "p" * 101}, "product", "must have at most 100 letters, not 101"),
    ({"series": "s" * 300}, "series", "must have at most 100 letters, not 300"),
    ({"owners": ["@"]}, "owners", "@ must be an e-mail address or team:name"),
    ({"owners": ["team:"]}, "owners", "team: must be an e-mail address or team:name"),
    (
        {"releases": {"first": "2024-02-30", "cron": "0 0 1 * *"}},
        "releases.first",
        "must be a date, YYYY-MM-DD, not 2024-02-30",
    ),
    (
        {"sensitive": {"name": "disease", "values": [1, 2, 10**30]}},
        "sensitive.values",
        "must be whole numbers of at most 64 bits",
    ),
    (
        {"sensitive": {"name": "disease", "values": ["a", ""]}},
        "sensitive.values",
        "lists empty text, which is no value: a snapshot's empty fields are missing values",
    ),
    (
        {"sensitive": {"name": "disease", "values": ["flu", "gout"], "renamed": {"cold": "flu"}}},
        "sensitive.renamed",
        "names cold, which is not listed under sensitive.values",
    ),
    (
        {"sensitive": {"name": "disease", "renamed": {"flu": "ill", "gout": "ill"}}},
        "sensitive.renamed",
        "gives ill to two values: the source must call each one differently",
    ),
    (
        {"source": {"path": "{release}.csv", "separator": "::"}},
        "source.separator",
        "must be one letter, not ::",
    ),
    (
        {"source": {"path": "{release}.csv", "encoding": "ebcdic"}},
        "source.encoding",
        "ebcdic is unknown; accepted: utf-8, utf-16, latin-1, windows-1252",
    ),
]


@pytest.mark.parametrize(
    ("changes", "key", "message"), REFUSED, ids=[f"{key} {m}"[:50] for _, key, m in REFUSED]
)
def test_each_mistake_is_one_fault_with_its_key(changes, key, message):
    assert faults(hospital(**changes)) == [(key, message)]


@pytest.mark.parametrize("declare", [hospital, exact])
def test_counterfeits_for_an_ineligible_batch_are_refused_where_they_would_give_certainty(declare):
    declared = declare()
    declared["principle"] |= {"m": 2, "on_ineligible": "counterfeit"}
    ((key, message),) = faults(declared)
    assert key == "principle.on_ineligible"
    assert message.startswith("counterfeit is refused with m = 2")
    assert message.endswith("Write wait, or a larger m")
    for allowed in ({"m": 3}, {"on_ineligible": "wait"}):
        parse_contract(declared | {"principle": declared["principle"] | allowed})


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
