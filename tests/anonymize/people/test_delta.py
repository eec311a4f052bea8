import polars as pl
import pytest

from republish.anonymize.contract.expected import DeltaFigures
from republish.anonymize.people.delta import delta, delta_figures
from republish.anonymize.people.pseudonyms import pseudonyms

ATTRIBUTES = {"qi_0": "qi_0", "qi_1": "qi_1"}
"""The quasi-identifiers age and sex, in the same columns of both snapshots."""


def snapshot(*rows):
    """T(n) of people whose pseudonyms are their names."""
    people = [(name.encode(), *others) for name, *others in rows]
    schema = {"pseudonym": pl.Binary, "qi_0": pl.Int64, "qi_1": pl.String, "value": pl.String}
    return pl.DataFrame(people, schema=schema, orient="row")


BEFORE = snapshot(
    ("Zoë", 20, "F", "flu"),
    ("Ann", 30, "F", "flu"),
    ("Bob", 40, "M", "gout"),
    ("Eve", 50, "F", "gout"),
    ("Tim", 60, "M", "flu"),
)
NOW = snapshot(
    ("Tim", 61, "M", "gout"),
    ("Bob", 40, "M", "flu"),
    ("Zoë", 20, "F", "flu"),
    ("New", 10, "F", "flu"),
    ("Eve", 51, "F", "gout"),
)
CHANGES = [
    ("Ann", "deleted", False),
    ("Bob", "changed", False),
    ("Eve", "carried", True),
    ("New", "inserted", False),
    ("Tim", "changed", True),
    ("Zoë", "carried", False),
]


def rows(changes):
    """The rows of a delta, with names for pseudonyms."""
    return [(pseudonym.decode(), change, moved) for pseudonym, change, moved in changes.rows()]


def test_each_person_of_either_snapshot_has_one_row_in_order_of_pseudonym():
    changes = delta(BEFORE, NOW, ATTRIBUTES)
    assert changes.columns == ["pseudonym", "change", "moved"]
    assert rows(changes) == CHANGES


def test_columns_without_a_role_do_not_matter():
    before = BEFORE.with_columns(identifier=pl.lit(1), ward=pl.lit(1)).select(
        "ward", "value", "qi_1", "qi_0", "pseudonym", "identifier"
    )
    now = NOW.with_columns(identifier=pl.lit("x"), ward=pl.lit("one"))
    assert rows(delta(before, now, ATTRIBUTES)) == CHANGES


def test_the_order_of_rows_does_not_matter():
    assert delta(BEFORE.reverse(), NOW.reverse(), ATTRIBUTES).equals(delta(BEFORE, NOW, ATTRIBUTES))


def test_before_the_first_release_everybody_is_inserted():
    changes = delta(None, NOW, ATTRIBUTES)
    assert [name for name, *_ in rows(changes)] == ["Bob", "Eve", "New", "Tim", "Zoë"]
    assert set(changes["change"]) == {"inserted"}
    assert not changes["moved"].any()


@pytest.mark.parametrize(
    ("before", "now", "change"), [(BEFORE, BEFORE[:0], "deleted"), (BEFORE[:0], NOW, "inserted")]
)
def test_an_empty_snapshot_empties_or_fills_the_table(before, now, change):
    changes = delta(before, now, ATTRIBUTES)
    assert (len(changes), set(changes["change"])) == (5, {change})


def test_nobody_at_all_is_no_rows_of_the_same_columns():
    changes = delta(None, NOW[:0], ATTRIBUTES)
    assert changes.schema == delta(BEFORE, NOW, ATTRIBUTES).schema
    assert delta_figures(changes) == DeltaFigures(carried=0, changed=0, deleted=0, inserted=0, moved=0)


def test_the_figures_add_up_to_the_people_of_both_snapshots():
    figures = delta_figures(delta(BEFORE, NOW, ATTRIBUTES))
    assert figures == DeltaFigures(carried=2, changed=2, deleted=1, inserted=1, moved=2)


def test_a_source_that_turns_identifiers_into_numbers_has_the_same_people():
    as_text, as_numbers = (
        pl.DataFrame({"qi_0": [20, 30], "qi_1": ["F", "M"], "value": ["flu", "flu"]}).with_columns(
            pseudonyms(pl.Series("pseudonym", identifiers), b"a key")
        )
        for identifiers in (["7", "12"], [7, 12])
    )
    assert delta(as_text, as_numbers, ATTRIBUTES)["change"].to_list() == ["carried", "carried"]


def test_values_that_turn_from_text_into_numbers_are_compared_as_they_are_written():
    before = snapshot(("Ann", 20, "F", "7"), ("Bob", 30, "M", "8"))
    now = before.with_columns(value=pl.Series([7, 9]))
    assert delta(before, now, ATTRIBUTES)["change"].to_list() == ["carried", "changed"]


def test_quasi_identifiers_that_turn_from_text_into_numbers_are_compared_as_they_are_written():
    before = snapshot(("Ann", 20, "7", "flu"), ("Bob", 30, "8", "flu"))
    now = before.with_columns(qi_1=pl.Series([7, 9]))
    assert rows(delta(before, now, ATTRIBUTES)) == [("Ann", "carried", False), ("Bob", "carried", True)]


def test_a_quasi_identifier_may_have_been_in_another_column_before():
    before = BEFORE.rename({"qi_0": "qi_1", "qi_1": "qi_0"})
    assert rows(delta(before, NOW, {"qi_0": "qi_1", "qi_1": "qi_0"})) == CHANGES


@pytest.mark.parametrize(
    ("attributes", "moved"), [({"qi_0": "qi_0"}, ["Eve", "Tim"]), ({"qi_1": "qi_1"}, []), ({}, [])]
)
def test_people_move_in_quasi_identifiers_that_both_snapshots_have(attributes, moved):
    before = BEFORE.select("pseudonym", "value", *attributes.values())
    changes = rows(delta(before, NOW, attributes))
    assert [name for name, _, is_moved in changes if is_moved] == moved
    assert [(name, change) for name, change, _ in changes] == [(name, change) for name, change, _ in CHANGES]


def test_the_snapshots_stay_as_they_were():
    before, now = BEFORE.clone(), NOW.clone()
    delta(before, now, ATTRIBUTES)
    assert before.equals(BEFORE)
    assert now.equals(NOW)


def test_people_with_several_rows_are_counted_beside_their_rows():
    """Somebody is in both snapshots who has a row in each, whichever."""
    person = {name: name.encode().ljust(16, b".") for name in ("Ann", "Bob", "Eve", "New")}

    def rows(*named):
        return snapshot(*((f"{person[name].decode()}{at:08}", 30, "F", "flu") for name, at in named))

    before = rows(("Ann", 1), ("Ann", 2), ("Ann", 3), ("Bob", 1), ("Eve", 1))
    now = rows(("Ann", 1), ("Ann", 4), ("Bob", 2), ("New", 1))
    figures = delta_figures(delta(before, now, ATTRIBUTES))
    assert (figures.carried, figures.deleted, figures.inserted) == (1, 4, 3)
    assert figures.of_people() == (3, 3, 2)
    assert DeltaFigures(carried=2, changed=1, corrected=1, deleted=3, inserted=4).of_people() == (7, 8, 4)
