"""Values that may be known are counted in tuples: a broken promise is found, and a kept one is acquitted."""

import polars as pl
import pytest

from republish.anonymize.attack.copies import copies, is_copy, numbered
from republish.anonymize.contract import Sensitive
from republish.anonymize.formats import GENERALIZATION, Published
from republish.anonymize.promise import Candidates, LargestShare, Promise, Signatures
from republish.anonymize.promise.attacked import attack
from tests.maybe_known import NONE, contract

SCHEMA = contract({"name": "m_invariance", "m": 4}).table_schema
PROMISE = Promise(Candidates(4), LargestShare(1 / 4), Signatures("unique"))


def published(*groups):
    """A release of groups of values; people are numbered in the order of the groups."""
    rows = [
        {"group_id": g, "age_low": g, "age_high": g, "zipcode_low": g, "zipcode_high": g, "value": value}
        for g, values in enumerate(groups, start=1)
        for value in sorted(values)
    ]
    none = pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64})
    return {"microdata": pl.DataFrame(rows), "counterfeits": none}


def found(*releases):
    """Findings of the last release; each is a list of groups `{person: value}`."""
    knowledge, told = None, []
    for release in releases:
        told.append(PROMISE)
        rows = [(p, g, g, value, g) for g, one in enumerate(release, start=1) for p, value in one.items()]
        known = pl.DataFrame(rows, schema=["person", "qi_0", "qi_1", "value", "group_id"], orient="row")
        attacked = attack(
            SCHEMA,
            GENERALIZATION,
            published(*(list(one.values()) for one in release)),
            known.drop("group_id").with_columns(identifier="person"),
            told,
            knowledge,
            linkage=known.select("person", "group_id"),
        )
        knowledge = attacked.knowledge
    return {row["promise"]: row for row in attacked.findings.iter_rows(named=True)}


KEPT = {"a": "flu", "b": NONE, "c": NONE, "d": NONE}
MIXED = {"a": "flu", "e": "HIV", "f": "ulcer", "g": NONE}
OTHER = {"b": NONE, "c": NONE, "d": NONE, "h": "gout"}


def test_a_group_with_a_value_three_times_keeps_four_candidates():
    told = found([KEPT])
    assert all(row["holds"] for row in told.values())
    assert told["candidates by hosting group"]["found"] == 4


def test_flu_and_one_tuple_of_none_are_two_candidates():
    told = found([KEPT], [MIXED, OTHER])
    assert told["candidates by hosting group"]["found"] == 2
    assert told["candidates by hosting group"]["broken"] == 1
    assert told["candidates by quasi-identifiers"]["broken"] == 1
    assert told["signature invariance"]["broken"] == 1


def test_a_sensitive_value_twice_in_a_group_is_too_frequent():
    told = found([{"a": "flu", "b": "flu", "c": NONE, "d": NONE}])
    assert told["share of a value"]["found"] == 0.5
    assert not told["share of a value"]["holds"]


def test_too_small_a_group_is_condemned():
    told = found([{"a": "flu", "b": NONE, "c": NONE}])
    assert told["candidates by hosting group"]["broken"] == 1


def test_nothing_is_promised_to_people_whose_value_may_be_known():
    told = found([KEPT, {"x": NONE, "y": NONE}])
    assert all(row["holds"] for row in told.values())
    assert told["candidates by hosting group"]["people"] == 1


def test_a_change_that_keeps_none_among_the_candidates_is_condemned():
    after = {"b": "HIV", "x": NONE, "y": NONE, "z": NONE}
    told = found([KEPT], [after, {"a": "flu", "c": NONE, "d": NONE, "h": NONE}])
    assert not told["candidates after a change"]["holds"]


@pytest.mark.parametrize("dtype", [pl.String, pl.Int64])
def test_copies_are_as_many_as_groups_hold_beside_a_sensitive_value(dtype):
    rows = [(1, 1, 1), (1, 0, 3), (2, 0, 4), (3, 1, 2), (3, 2, 2), (3, 0, 5)]
    values = pl.DataFrame(rows, schema=["group_id", "value", "tuples"], orient="row")
    values = values.with_columns(pl.col("value").cast(dtype))
    known = values["value"].filter(values["tuples"] == 3).to_list()
    release = Published(boxes=pl.DataFrame(), values=values, counterfeits=pl.DataFrame())
    sensitive = Sensitive(name="value", not_sensitive=known)
    split = numbered(release, sensitive).values
    assert split["tuples"].sum() == values["tuples"].sum()
    assert split.group_by("group_id").len().sort("group_id")["len"].to_list() == [4, 1, 5]
    often = copies(release, sensitive).filter(pl.col("value").cast(pl.Int64) == 0).sort("group_id")
    assert often["copies"].to_list() == [3, 1, 3]


@pytest.mark.parametrize("dtype", [pl.String, pl.Int64])
def test_copies_of_the_last_of_a_thousand_values_that_may_be_known_are_copies(dtype):
    values = pl.DataFrame({"group_id": 1, "value": [1, 999], "tuples": [1, 3]})
    values = values.with_columns(pl.col("value").cast(dtype))
    known = pl.Series(range(2, 1000)).cast(dtype).to_list()
    release = Published(boxes=pl.DataFrame(), values=values, counterfeits=pl.DataFrame())
    split = numbered(release, Sensitive(name="value", not_sensitive=known)).values["value"]
    assert (len(split), is_copy(split).sum()) == (4, 2)
