import polars as pl
import pytest

from anonymize.contract import parse_contract
from anonymize.delta import delta, delta_figures

CONTRACT = parse_contract(
    {
        "product": "clinic",
        "series": "v1",
        "source": {"path": "{release}.csv"},
        "releases": {"first": "2024-01-01", "cron": "0 0 1 1 *"},
        "identifier": "name",
        "quasi_identifiers": [
            {"name": "age", "kind": "number", "domain": [0, 120]},
            {"name": "sex", "kind": "category", "order": ["F", "M"]},
        ],
        "sensitive": {"name": "disease"},
        "principle": {"name": "m_invariance", "m": 2},
    }
)


def snapshot(*rows):
    schema = {"name": pl.String, "age": pl.Int64, "sex": pl.String, "disease": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


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


def test_everybody_of_either_snapshot_is_told_of_once_in_order_of_identifier():
    assert delta(BEFORE, NOW, CONTRACT).rows() == CHANGES


def test_columns_the_product_does_not_use_do_not_matter():
    before = BEFORE.with_columns(ward=pl.lit(1)).select(reversed([*BEFORE.columns, "ward"]))
    now = NOW.with_columns(pseudonym=pl.lit(b"x"), ward=pl.lit("one"))
    assert delta(before, now, CONTRACT).rows() == CHANGES


def test_the_order_of_rows_does_not_matter():
    assert delta(BEFORE.reverse(), NOW.reverse(), CONTRACT).equals(delta(BEFORE, NOW, CONTRACT))


def test_before_the_first_release_everybody_is_inserted():
    changes = delta(None, NOW, CONTRACT)
    assert changes["name"].to_list() == ["Bob", "Eve", "New", "Tim", "Zoë"]
    assert set(changes["change"]) == {"inserted"}
    assert not changes["moved"].any()


@pytest.mark.parametrize(
    ("before", "now", "change"), [(BEFORE, BEFORE[:0], "deleted"), (BEFORE[:0], NOW, "inserted")]
)
def test_an_empty_snapshot_empties_or_fills_the_table(before, now, change):
    changes = delta(before, now, CONTRACT)
    assert (len(changes), set(changes["change"])) == (5, {change})


def test_nobody_at_all_is_no_rows_of_the_same_columns():
    changes = delta(None, NOW[:0], CONTRACT)
    assert changes.schema == delta(BEFORE, NOW, CONTRACT).schema
    assert delta_figures(changes) == dict.fromkeys(["carried", "changed", "deleted", "inserted", "moved"], 0)


def test_the_figures_add_up_to_the_people_of_both_snapshots():
    figures = delta_figures(delta(BEFORE, NOW, CONTRACT))
    assert figures == {"carried": 2, "changed": 2, "deleted": 1, "inserted": 1, "moved": 2}


def test_a_source_that_turns_identifiers_into_numbers_has_the_same_people():
    before = snapshot(("7", 20, "F", "flu"), ("12", 30, "M", "flu"))
    now = before.with_columns(pl.col("name").cast(pl.Int64))
    assert delta(before, now, CONTRACT).rows() == [("12", "carried", False), ("7", "carried", False)]


def test_values_that_turn_from_text_into_numbers_are_compared_as_they_are_written():
    before = snapshot(("Ann", 20, "F", "7"), ("Bob", 30, "M", "8"))
    now = before.with_columns(disease=pl.Series([7, 9]))
    assert delta(before, now, CONTRACT)["change"].to_list() == ["carried", "changed"]


def test_columns_may_be_called_anything_a_table_might_call_them():
    names = {"name": "value", "age": "person", "sex": "value_now", "disease": "attributes"}
    declared = CONTRACT.model_dump(mode="json") | {
        "identifier": "value",
        "quasi_identifiers": [
            {"name": "person", "kind": "number", "domain": [0, 120]},
            {"name": "value_now", "kind": "category", "order": ["F", "M"]},
        ],
        "sensitive": {"name": "attributes"},
    }
    changes = delta(BEFORE.rename(names), NOW.rename(names), parse_contract(declared))
    assert changes.columns == ["value", "change", "moved"]
    assert changes.rows() == CHANGES


def test_the_snapshots_stay_as_they_were():
    before, now = BEFORE.clone(), NOW.clone()
    delta(before, now, CONTRACT)
    assert before.equals(BEFORE)
    assert now.equals(NOW)
