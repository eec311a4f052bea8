"""A label of a category that the source calls otherwise by now is the label that it was."""

import polars as pl
import pytest

from republish.anonymize.contract.changes import column_changes, declared_columns
from republish.anonymize.errors import ContractError, SnapshotError
from republish.anonymize.principles import parse_contract
from republish.orchestration.snapshots.sources import enter, look_at, refuse_faults

TOWNS = ["Aldorf", "Birkheim", "Cellwig"]
GROUPS = [["Aldorf", "north"], ["Birkheim", "north"], ["Cellwig", "south"]]
PATHS = [[leaf, group, "all"] for leaf, group in GROUPS]


def contract(renamed, **labels):
    return parse_contract({
        "product": "members",
        "series": "v1",
        "releases": {"first": "2024-01-01"},
        "source": {"path": "{release}.parquet"},
        "identifier": "person",
        "quasi_identifiers": [
            {"name": "town", "kind": "category", "renamed": renamed, **(labels or {"order": TOWNS})}
        ],
        "sensitive": {"name": "illness"},
        "principle": {"name": "m_invariance", "m": 2},
    })  # fmt: skip


def people(*towns):
    many = [*towns] * 6
    persons = [f"p{at}" for at in range(len(many))]
    return pl.DataFrame({"person": persons, "town": many, "illness": ["flu", "gout"] * (len(many) // 2)})


def refused(table, schema):
    with pytest.raises(SnapshotError) as error:
        refuse_faults("here", [look_at(table, schema)], table, schema, table.columns)
    return str(error.value)


@pytest.mark.parametrize("labels", [{"order": TOWNS}, {"hierarchy": PATHS}])
def test_people_of_a_town_with_a_new_name_are_where_they_were(labels):
    schema = contract({"Aldorf": "Altdorf"}, **labels)
    now, before = people("Altdorf", "Cellwig"), people("Aldorf", "Cellwig")
    assert look_at(now, schema).people.equals(look_at(before, schema).people)
    assert look_at(now, schema).people["qi_0"].unique().sort().to_list() == ["Aldorf", "Cellwig"]


def test_names_that_two_towns_exchanged_are_told_apart():
    schema = contract({"Aldorf": "Birkheim", "Birkheim": "Aldorf"})
    assert enter(people("Aldorf", "Birkheim"), schema)["qi_0"][:2].to_list() == ["Birkheim", "Aldorf"]


def test_a_town_under_both_names_is_refused():
    said = refused(people("Aldorf", "Altdorf"), contract({"Aldorf": "Altdorf"}))
    assert (
        "town: 6 rows have Aldorf, and 6 have Altdorf, its new name by renamed of town: write Altdorf" in said
    )


def test_one_unknown_town_in_place_of_a_known_one_is_proposed():
    said = refused(people("Altdorf", "Birkheim", "Cellwig"), contract({}))
    assert "write under the column town: renamed: {Aldorf: Altdorf}; else" in said
    assert "renamed" not in refused(people("Altdorf", "Birkheim"), contract({}))  # it may be either


@pytest.mark.parametrize(
    ("renamed", "words"),
    [
        ({"Dornau": "Dorn"}, "names Dornau, which is no label of town"),
        ({"Aldorf": "X", "Birkheim": "X"}, "gives X to two labels"),
        ({"Aldorf": "Birkheim"}, "Birkheim is a label of town too: two labels can't become one"),
    ],
)
def test_a_new_name_that_is_none_is_a_fault(renamed, words):
    with pytest.raises(ContractError, match=words):
        contract(renamed)


def test_a_new_name_is_no_change_of_what_is_promised():
    before = declared_columns(contract({}))
    assert column_changes(before, contract({"Aldorf": "Altdorf"})) == []
