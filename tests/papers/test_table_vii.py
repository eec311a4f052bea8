"""He, Barman and Naughton, Preventing equivalence attacks, Example 10: Table VII, made release by release."""

import polars as pl
import pytest

from republish.anonymize.attack.equivalence import compromised
from republish.anonymize.e_equivalence.release import release
from republish.anonymize.people.randomness import generator
from republish.anonymize.principle.state import State
from republish.anonymize.principles import parse_contract
from tests.clinic import CLINIC
from tests.series import make

PATIENTS = {
    "Alice": (35, 53000, "cancer"), "Bob": (49, 55000, "flu"), "Chris": (42, 65000, "cancer"),
    "Dan": (49, 55000, "flu"), "Ellen": (43, 62000, "measles"), "Frank": (41, 67000, "cancer"),
    "Greg": (45, 60000, "flu"), "Harry": (42, 65000, "cancer"), "Ian": (45, 60000, "measles"),
    "Jane": (42, 65000, "cancer"),
}  # fmt: skip
PRESENT = [
    "Alice Bob Chris Dan Ellen Frank",
    "Alice Chris Ellen Greg Harry Ian Jane",
    "Alice Chris Greg Ian Jane",
]
TABLE_VII = [
    {"Alice Bob Chris Dan": ("cancer flu", 0), "Ellen Frank": ("cancer measles", 2)},
    {"Alice Chris Greg": ("cancer flu", 1), "Ellen Harry Ian Jane": ("cancer measles", 0)},
    {"Alice Chris Greg": ("cancer flu", 1), "Ian Jane": ("cancer measles", 2)},
]
KEYS = 40


def publish(key):
    """The three releases under a key: the people of each group, its values and its counterfeits."""
    contract = parse_contract(
        {
            **CLINIC,
            "product": "patients",
            "identifier": "owner",
            "quasi_identifiers": [
                {"name": "age", "kind": "number", "domain": [0, 99]},
                {"name": "zip", "kind": "number", "domain": [50000, 69999]},
            ],
            "sensitive": {"name": "disease", "values": ["cancer", "flu", "measles"]},
            "principle": {"name": "e_equivalence", "m": 2, "e": 2},
        }
    )
    state, published = State.empty(), []
    for number, present in enumerate(PRESENT, start=1):
        rows = [(name, *PATIENTS[name]) for name in present.split()]
        people = pl.DataFrame(rows, schema=["owner", "age", "zip", "disease"], orient="row")

        def draw(purpose, number=number):
            return generator(str(key).encode(), "patients", "v1", str(number), purpose)

        candidate = make(release, people, contract, state, number, draw)
        state = candidate.state
        forged = dict(candidate.published["counterfeits"].rows())
        groups = {}
        for group, values, counts in (
            candidate.published["sensitive"].group_by("group_id").agg("disease", "count").rows()
        ):
            names = candidate.linkage.filter(group_id=group)["owner"].sort()
            assert len(set(counts)) == 1
            assert sum(counts) == len(names) + forged.get(group, 0)
            bucket = candidate.linkage.filter(group_id=group)["bucket_id"].unique().item()
            kept = state.tables["counterfeits"].filter(bucket_id=bucket)
            # What a counterfeit is and when it came tell whether it is the same as in the release before.
            places = sorted(kept.select(pl.concat_str(pl.all(), separator="/")).to_series())
            groups[" ".join(names)] = (" ".join(sorted(values)), places)
        published.append(groups)
    return published


pytestmark = pytest.mark.slow("releases a series under each of many keys")


@pytest.fixture(scope="module")
def releases():
    return [publish(key) for key in range(KEYS)]


def test_table_vii_comes_about_by_release(releases):
    """Exactly as printed under every key that puts the paper's two of three patients with cancer among those
    with flu (Alice and Chris, not Frank: one key in three)."""
    counted = [
        [{names: (values, len(places)) for names, (values, places) in groups.items()} for groups in published]
        for published in releases
    ]
    begun_alike = [published for published in counted if published[0] == TABLE_VII[0]]
    assert KEYS // 8 <= len(begun_alike) < KEYS
    assert all(published == TABLE_VII for published in begun_alike)


def test_under_no_key_does_anybody_learn_that_two_people_are_alike(releases):
    for published in releases:
        members, contents = [], []
        for number, groups in enumerate(published):
            for group, (names, (values, places)) in enumerate(groups.items()):
                partition = 10 * number + group
                people = names.split() + [
                    f"{place} ({places[:n].count(place)})" for n, place in enumerate(places)
                ]
                members += [(partition, person) for person in people]
                contents += [(partition, value, len(people) // 2) for value in values.split()]
        found = compromised(
            pl.DataFrame(members, schema=["partition", "person"], orient="row"),
            pl.DataFrame(contents, schema=["partition", "value", "tuples"], orient="row"),
            e=2,
        )
        assert found.people.is_empty()
        assert found.undecided.is_empty()


def test_nobodys_signature_changes_under_any_key(releases):
    for published in releases:
        signature = {}
        for groups in published:
            for names, (values, _) in groups.items():
                for name in names.split():
                    assert signature.setdefault(name, values) == values
                    assert PATIENTS[name][2] in values
