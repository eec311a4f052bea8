"""Values that may be known are counted in tuples: a broken promise is found, and a kept one is acquitted."""

from collections import Counter
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.attack.assignments import SeriesInput, attack_assignments, choices_of
from republish.anonymize.attack.copies import copies, is_copy, numbered
from republish.anonymize.contract import Sensitive
from republish.anonymize.formats import GENERALIZATION, Published
from republish.anonymize.promise import Candidates, LargestShare, Promise, Signatures
from republish.anonymize.promise.attacked import attack
from tests.maybe_known import NONE, SICK, contract, groups, random, released, tables, without_numbers

SCHEMA = contract({"name": "m_invariance", "m": 4}).table_schema
M = 3
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


def counted(*releases, **options):
    """What all assignments say; each release is a list of groups: `{person: value}`, and counterfeits."""
    sensitive, seen, had = SCHEMA.sensitive, [], {}
    for some in releases:
        rows = [(p, value, g) for g, (own, _) in enumerate(some, start=1) for p, value in own.items()]
        held = [(g, v) for g, (own, more) in enumerate(some, start=1) for v in [*own.values(), *more]]
        of_person = {"person": pl.String, "value": pl.String, "group_id": pl.Int64}
        known = pl.DataFrame(rows, schema=of_person, orient="row")
        values = pl.DataFrame(held, schema={"group_id": pl.Int64, "value": pl.String}, orient="row")
        forged = [(g, len(more)) for g, (_, more) in enumerate(some, start=1) if more]
        release = Published(
            boxes=pl.DataFrame(),
            values=values.group_by("group_id", "value").agg(tuples=pl.len().cast(pl.Int64)),
            counterfeits=pl.DataFrame(forged, schema={"group_id": pl.Int64, "count": pl.Int64}, orient="row"),
        )
        hosts = known.select("person", "group_id")
        seen.append(choices_of(known.select("person", "value"), release, sensitive, hosts))
        had |= {person: value for own, _ in some for person, value in own.items()}
    sick = [(person, value, 1) for person, value in had.items() if value != NONE]
    owed = pl.DataFrame(sick, schema=["person", "value", "promised"], orient="row")
    found = attack_assignments(SeriesInput(seen, owed), [M] * len(seen), **options)
    return dict(found.each())["risk"], found.figures


BEGAN = ({"a": "flu", "b": NONE, "c": NONE}, [])


@pytest.mark.parametrize("is_bounded", [True, False])
def test_two_of_three_who_make_way_at_once_are_above_one_in_m_by_counting(is_bounded):
    """By hand: 2/5 each for those who made way, as 1 of 5 weights is of the one who stayed."""
    left = {"b": NONE}, ["flu", NONE]
    risk, figures = counted([BEGAN], [left], is_bounded=is_bounded)
    assert (risk.people, risk.broken, risk.undecided) == (1, 0, 1)
    assert risk.found == figures.largest == 2 / 5
    assert (figures.tuples, figures.decided, figures.repeated, figures.exceeding) == (1, 1, 1, 1)


def test_one_of_three_who_makes_way_leaves_everybody_one_in_m():
    for gone, new in (("a", "flu"), ("b", NONE)):
        stay = {person: value for person, value in BEGAN[0].items() if person != gone}
        for after in ((stay, [new]), (stay | {"z": new}, [])):
            risk, figures = counted([BEGAN], [after])
            assert (risk.broken, risk.undecided, risk.found) == (0, 0, 1 / 3)
            assert figures.exceeding == 0


@pytest.mark.parametrize("others", [{}, {"z": "gout"}])
def test_what_breaks_the_promise_with_numbers_too_is_broken(others):
    """Nobody but the first one can have the flu: the group has HIV once beside it, and then the others gout.

    A group of `none` alone numbers nothing.
    """
    after = [({"a": "flu", "x": "HIV", "y": NONE}, []), ({"b": NONE, "c": NONE} | others, [])]
    risk, _ = counted([BEGAN], after)
    assert (risk.broken, risk.undecided, risk.found) == (2 + len(others), 0, 1)


def test_no_lemma_bounds_what_is_too_large_to_be_counted_where_a_value_repeats(monkeypatch):
    monkeypatch.setattr("republish.anonymize.attack.exact_risk.LARGEST_COMPONENT", 2)
    once = {"x": "flu", "y": "HIV", "z": "ulcer"}, []
    several = [BEGAN, once], [BEGAN, once]
    risk, figures = counted(*several, is_bounded=True)
    assert (risk.people, risk.broken, risk.undecided) == (4, 0, 1)
    assert (figures.repeated, figures.exceeding) == (1, 0)
    risk, _ = counted(*several, is_bounded=False)
    assert risk.undecided == 4


@pytest.mark.slow("counts every world")
@given(seed=st.integers(0, 2**32), change=st.sampled_from([0, 0.1]), skew=st.sampled_from([0.4, 0.7]))
@settings(max_examples=15)
def test_risks_are_counted_as_by_trying_every_assignment(seed, change, skew):
    """People leave and return, and values change: whoever has another value counts as another person."""
    declared = contract({"name": "m_invariance", "m": M, "on_ineligible": "wait"})
    snapshots = tables(
        random(seed), people=8, releases=3, none=skew, churn=0.25, change=change, sick=SICK[:4]
    )
    made, read = list(released(declared, snapshots)), []
    for one in made:
        value = dict(one[1].select("identifier", "value").iter_rows())
        read.append(
            [
                (
                    {(person, value[person]): value[person] for person in members},
                    [*(held - Counter(value[person] for person in members)).elements()],
                )
                for members, held in groups(*one).values()
            ]
        )
    rows = [[(tuple(own), Counter([*own.values(), *more])) for own, more in release] for release in read]
    told = without_numbers(rows)
    risks = [told[person][person[1]] for person in told if person[1] != NONE]
    named = [
        [({f"{person} {value}": value for (person, value) in own}, more) for own, more in release]
        for release in read
    ]
    if risks:
        risk, figures = counted(*named)
        assert figures.decided == figures.tuples == len(risks)
        assert risk.found == pytest.approx(float(max(risks)))
        assert risk.undecided == sum(one > Fraction(1, M) for one in risks)
        assert risk.broken == 0
