"""What the attack counts by group, column and signature: of a release made by hand, and of the maker's."""

import polars as pl
import pytest
from hypothesis import given, settings

from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.attack.publication import _is_on_grid
from republish.anonymize.attack.stays import Stays
from republish.anonymize.contract.attributes import NumberAttribute
from republish.anonymize.formats import GENERALIZATION
from republish.anonymize.promise import Candidates, Promise, Signatures
from republish.anonymize.promise.attacked import attack
from tests.attacks import attack_releases
from tests.series import entered, make_contract, publish, tables, under_pseudonyms


@pytest.mark.slow("attacks many releases")
@given(tables())
@settings(max_examples=40)
def test_what_the_algorithm_makes_keeps_every_promise(table):
    made = [
        (release.contract, release.people, under_pseudonyms(release.candidate, release.contract))
        for release in publish(table)
        if release.candidate is not None
    ]
    for (contract, people, candidate), attacked in zip(made, attack_releases(made), strict=True):
        found = attacked.tables
        uniqueness = found["m_uniqueness"]
        assert uniqueness.filter(pl.col("tuples") != pl.col("values")).is_empty()
        newcomers = uniqueness.filter(pl.col("newcomers") > 0)
        assert newcomers.filter(pl.col("values") < contract.principle.m).is_empty()
        assert found["signature_invariance"]["overlapping"].sum() == 0
        assert found["coverage"]["uncovered"].sum() == 0
        assert found["minimum_widths"].select("narrower", "off_grid").sum().row(0) == (0, 0)
        assert attacked.figures["lone_ends"] == lone_ends(candidate, people, contract)
        assert found["largest_share"]["too_large"].sum() == 0
        (statistics,) = found["counterfeits"].rows(named=True)
        figures = candidate.figures
        assert statistics == {
            "rows": figures.tuples,
            "hosted": figures.people,
            "counterfeits": figures.counterfeits,
            "wrong_counts": 0,
            "empty_groups": 0,
            "people": people.height,
            "held_back": figures.held_back,
            "stated": figures.held_back,
            "strangers": 0,
        }


def lone_ends(candidate, people, contract):
    """Ends of intervals without a minimum width that are one person's own value, counted one by one."""
    count = 0
    for column, qi in contract.attributes():
        if qi.min_width > int(qi.discrete):
            continue
        values = people[column].to_list()
        groups = candidate.published["microdata"].unique("group_id")
        for end in ("low", "high"):
            count += sum(values.count(value) == 1 for value in groups[f"{qi.name}_{end}"])
    return count


# ---- a release by hand: two groups of two, one counterfeit in the second

CONTRACT = make_contract(["age", "sex"], m=2, widths={"age": 10}, values=None)
PEOPLE = entered(
    pl.DataFrame(
        {
            "person": ["Ada", "Bob", "Cem"],
            "age": [21, 25, 40],
            "sex": ["F", "M", "M"],
            "value": ["flu", "gastritis", "flu"],
        }
    ),
    CONTRACT,
)
LINKAGE = pl.DataFrame({"person": ["Ada", "Bob", "Cem"], "bucket_id": [0, 0, 1], "group_id": [1, 1, 2]})
MICRODATA = pl.DataFrame(
    {
        "group_id": [1, 1, 2, 2],
        "age_low": [20, 20, 40, 40],
        "age_high": [29, 29, 49, 49],
        "sex_low": ["M", "M", "M", "M"],
        "sex_high": ["F", "F", "M", "M"],
        "value": ["flu", "gastritis", "dyspepsia", "flu"],
    }
)
COUNTERFEITS = pl.DataFrame({"group_id": [2], "count": [1]}, schema_overrides={"count": pl.Int64})
NOBODY = Knowledge()


def found(check, *, microdata=MICRODATA, counterfeits=COUNTERFEITS, linkage=LINKAGE, before=NOBODY):
    """What is counted of the second release of a series."""
    promise = Promise(Candidates(2), Signatures("unique"))
    attacked = attack(
        CONTRACT.table_schema,
        GENERALIZATION,
        {"microdata": microdata, "counterfeits": counterfeits},
        PEOPLE.with_columns(person="identifier"),
        [promise, promise],
        before,
        linkage=linkage.select("person", "group_id"),
    )
    return attacked.tables[check]


def groups(**changes):
    return found("m_uniqueness", **changes).select(
        "group_id", "tuples", "values", "fewest", "most", "newcomers"
    )


def set_cell(table, row, **values):
    here = pl.int_range(pl.len()) == row
    return table.with_columns(
        pl.when(here).then(pl.lit(value)).otherwise(name).alias(name) for name, value in values.items()
    )


def remembered(*stays):
    """The knowledge after a release before which people left: `(person, signature)`."""
    signatures = list(dict.fromkeys(tuple(sorted(signature)) for _, signature in stays))
    number = pl.Series([signatures.index(tuple(sorted(signature))) for _, signature in stays], dtype=pl.Int32)
    people = pl.DataFrame({"person": [person for person, _ in stays]}).with_columns(
        value=pl.lit(None, pl.String),
        signature=number,
        since=pl.lit(1, pl.Int32),
        until=pl.lit(0, pl.Int32),
        edge=pl.lit(value=True),
    )
    held = pl.DataFrame(
        {"signature": range(len(signatures)), "values": [list(one) for one in signatures]},
        schema={"signature": pl.Int32, "values": pl.List(pl.String)},
    )
    forged = people.clear().with_columns(pl.col("person").cast(pl.UInt64))
    return Knowledge(stays=Stays(held, people, forged))


@pytest.mark.slow("takes more than a second")
def test_the_release_by_hand():
    assert groups().rows() == [(1, 2, 2, 1, 1, 2), (2, 2, 2, 1, 1, 1)]
    assert found("signature_invariance").is_empty()
    assert found("coverage").rows() == [("age", 3, 0), ("sex", 3, 0), ("value", 3, 0)]
    assert found("minimum_widths").rows() == [("age", 10.0, 2, 0, 10.0, 0), ("sex", 0.0, 2, 0, 1.5, 0)]
    assert found("counterfeits").row(0) == (4, 3, 1, 0, 0, 3, 0, 0, 0)


@pytest.mark.parametrize(
    ("cells", "uncovered"),
    [
        ({"age_low": 22}, {"age": 1}),  # in one of a group's rows alone
        ({"age_high": 24}, {"age": 1}),
        ({"sex_high": "M"}, {"sex": 1}),
        ({"sex_high": "unheard of"}, {"value": 1}),  # the row can't be read, and its value is gone with it
        ({"age_low": None}, {"value": 1}),
        ({"value": "dyspepsia"}, {"value": 1}),
    ],
)
def test_people_whom_their_group_does_not_cover_are_counted(cells, uncovered):
    counted = dict(
        found("coverage", microdata=set_cell(MICRODATA, 0, **cells)).select("column", "uncovered").rows()
    )
    assert {column: count for column, count in counted.items() if count} == uncovered


@pytest.mark.parametrize("column", ["age_low", "age_high", "sex_low"])
def test_nobody_is_covered_by_an_interval_without_an_end(column):
    no_end = MICRODATA.with_columns(pl.lit(None, MICRODATA.schema[column]).alias(column))
    name = column.split("_")[0]
    assert found("coverage", microdata=no_end).filter(column=name)["uncovered"].item() == 3


def test_people_of_a_group_that_is_not_published_are_not_covered():
    counted = found("coverage", microdata=MICRODATA.filter(group_id=1))
    assert counted["uncovered"].to_list() == [1, 1, 1]


def test_intervals_that_are_too_narrow_are_counted():
    assert found("minimum_widths", microdata=set_cell(MICRODATA, 0, age_low=21))["narrower"].to_list() == [
        1,
        0,
    ]


def test_ends_within_a_cell_of_the_minimum_width_are_counted():
    wide = MICRODATA.with_columns(age_low=pl.lit(21, pl.Int64), age_high=pl.lit(49, pl.Int64))
    assert found("minimum_widths", microdata=wide)["off_grid"].to_list() == [2, 0]


@pytest.mark.parametrize("width", [49, 365, 50_000, 100_000])
def test_no_end_of_a_cell_is_within_a_cell(width):
    income = NumberAttribute(kind="number", name="income", domain=(0, 200 * width), min_width=width)
    cells = pl.DataFrame({"low": pl.int_range(100, eager=True) * width})
    cells = cells.with_columns(high=pl.col("low") + width - 1)
    assert cells.select(_is_on_grid(end, income).all().alias(end) for end in cells.columns).row(0) == (1, 1)
    inner = cells + 1
    assert inner.select(_is_on_grid(end, income).any().alias(end) for end in cells.columns).row(0) == (0, 0)


def test_values_that_are_there_twice_are_seen():
    twice = set_cell(MICRODATA, 0, value="gastritis")
    assert groups(microdata=twice).row(0) == (1, 2, 1, 2, 2, 2)


@pytest.mark.parametrize(
    ("signature", "same", "disjoint", "overlapping"),
    [
        (["flu", "gastritis"], 1, 0, 0),
        (["dyspepsia", "bronchitis"], 0, 1, 0),
        (["flu", "dyspepsia"], 0, 0, 1),
        (["flu", "gastritis", "dyspepsia"], 0, 0, 1),
        (["flu"], 0, 0, 1),
    ],
)
def test_signatures_are_compared_value_by_value(signature, same, disjoint, overlapping):
    compared = found("signature_invariance", before=remembered(("Ada", signature), ("Zoe", ["flu"])))
    assert compared.rows() == [(0, 1, same, disjoint, overlapping)]


@pytest.mark.parametrize(
    ("earlier", "newcomers"),
    [
        ({}, [2, 1]),
        ({"Ada": ["flu", "gastritis"]}, [1, 1]),
        ({"Ada": ["dyspepsia", "bronchitis"]}, [2, 1]),  # a changed value: owed m values as anybody new
        ({"Cem": ["dyspepsia", "flu"], "Bob": ["flu", "gastritis"]}, [1, 0]),
        ({"Zoe": ["flu", "gastritis"]}, [2, 1]),
    ],
)
def test_newcomers_are_the_people_who_never_had_the_signature_of_their_group(earlier, newcomers):
    before = remembered(*earlier.items()) if earlier else NOBODY
    assert groups(before=before)["newcomers"].to_list() == newcomers


def test_a_person_who_returns_to_an_earlier_signature_is_no_newcomer():
    before = remembered(("Ada", ["flu", "gastritis"]), ("Ada", ["bronchitis", "dyspepsia"]))
    assert groups(before=before)["newcomers"].to_list() == [1, 1]
    assert found("signature_invariance", before=before).rows() == [(0, 1, 1, 0, 0), (1, 1, 0, 1, 0)]


@pytest.mark.slow("attacks many releases")
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"counterfeits": COUNTERFEITS.clear()}, {"counterfeits": 0, "wrong_counts": 1}),
        (
            {"counterfeits": COUNTERFEITS.with_columns(count=pl.lit(2, pl.Int64))},
            {"counterfeits": 2, "wrong_counts": 1},
        ),
        ({"counterfeits": COUNTERFEITS.with_columns(group_id=pl.lit(1, pl.Int64))}, {"wrong_counts": 2}),
        (
            {
                "counterfeits": pl.concat(
                    [COUNTERFEITS, COUNTERFEITS.with_columns(group_id=pl.lit(9, pl.Int64))]
                )
            },
            {"counterfeits": 2, "wrong_counts": 1, "empty_groups": 1},
        ),
        ({"microdata": MICRODATA[:3]}, {"rows": 3, "wrong_counts": 1}),
        ({"linkage": LINKAGE[1:]}, {"hosted": 2, "held_back": 1, "wrong_counts": 1}),
        ({"linkage": LINKAGE[:2]}, {"hosted": 2, "held_back": 1, "wrong_counts": 1, "empty_groups": 1}),
        (
            {"linkage": pl.concat([LINKAGE, LINKAGE[:1].with_columns(group_id=pl.lit(2, pl.Int64))])},
            {"hosted": 4, "strangers": 1, "wrong_counts": 1},
        ),
        (
            {"linkage": set_cell(LINKAGE, 0, person="Eve")},
            {"hosted": 2, "held_back": 1, "wrong_counts": 1, "strangers": 1},
        ),
    ],
)
def test_tuples_that_are_not_accounted_for_are_counted(changes, expected):
    true = found("counterfeits").row(0, named=True)
    changed = found("counterfeits", **changes).row(0, named=True)
    assert {name: count for name, count in changed.items() if count != true[name]} == expected
