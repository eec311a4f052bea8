"""Evidence: true releases keep their promises, and whatever is changed in one shows where it was changed."""

import polars as pl
import pytest
from hypothesis import given

from anonymize.buckets.memory import Memory
from anonymize.m_invariance.evidence import evidence
from anonymize.people.pseudonyms import pseudonyms
from anonymize.principle.candidate import Candidate
from anonymize.principle.state import State
from tests.profiles import examples
from tests.series import KEY, entered, make_contract, publish, tables, under_pseudonyms


@examples(60)
@given(tables())
def test_what_the_algorithm_makes_keeps_every_promise(table):
    for release in publish(table):
        if release.candidate is None:
            continue
        candidate = under_pseudonyms(release.candidate, release.contract)
        found = evidence(candidate, release.people, release.before, release.contract, {})
        uniqueness = found["m_uniqueness"]
        assert uniqueness.filter(pl.col("tuples") != pl.col("values")).is_empty()
        newcomers = uniqueness.filter(pl.col("newcomers") > 0)
        assert newcomers.filter(pl.col("values") < release.contract.principle.m).is_empty()
        assert found["signature_invariance"]["overlapping"].sum() == 0
        assert found["coverage"]["uncovered"].sum() == 0
        assert found["minimum_widths"]["narrower"].sum() == 0
        (statistics,) = found["counterfeits"].rows(named=True)
        figures = release.candidate.figures
        assert statistics == {
            "rows": figures["tuples"],
            "hosted": figures["people"],
            "counterfeits": figures["counterfeits"],
            "wrong_counts": 0,
            "empty_groups": 0,
            "people": release.people.height,
            "held_back": figures["held_back"],
            "strangers": 0,
        }


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
NOBODY = State.empty()


def with_pseudonyms(linkage):
    """`person` as a principle knows people: by pseudonyms."""
    return linkage.with_columns(pseudonyms(linkage["person"], KEY).alias("pseudonym")).drop("person")


def found(promise, *, microdata=MICRODATA, counterfeits=COUNTERFEITS, linkage=LINKAGE, before=NOBODY):
    published = {"microdata": microdata, "counterfeits": counterfeits}
    candidate = Candidate(published, with_pseudonyms(linkage), State.empty(), figures={})
    return evidence(candidate, PEOPLE, before, CONTRACT, {})[promise]


def set_cell(table, row, **values):
    here = pl.int_range(pl.len()) == row
    return table.with_columns(
        pl.when(here).then(pl.lit(value)).otherwise(name).alias(name) for name, value in values.items()
    )


def remembered(**signatures):
    """The state after a release in which people had signatures."""
    linkage = pl.DataFrame({"person": list(signatures), "bucket_id": range(len(signatures))}).cast(
        {"bucket_id": pl.Int32}
    )
    buckets = linkage.select("bucket_id", signature=pl.Series([sorted(each) for each in signatures.values()]))
    return State(Memory.of(NOBODY, pl.String()).after(with_pseudonyms(linkage), buckets, 1).tables())


def test_the_release_by_hand():
    assert found("m_uniqueness").rows() == [(1, 2, 2, 1, 1, 2), (2, 2, 2, 1, 1, 1)]
    assert found("signature_invariance").is_empty()
    assert found("coverage").rows() == [("age", 3, 0), ("sex", 3, 0), ("value", 3, 0)]
    assert found("minimum_widths").rows() == [("age", 10.0, 2, 0, 10.0), ("sex", 0.0, 2, 0, 1.5)]
    assert found("counterfeits").row(0) == (4, 3, 1, 0, 0, 3, 0, 0)


@pytest.mark.parametrize(
    ("cells", "uncovered"),
    [
        ({"age_low": 22}, {"age": 1}),  # in one of a group's rows alone
        ({"age_high": 24}, {"age": 1}),
        ({"sex_high": "M"}, {"sex": 1}),
        ({"sex_high": "unheard of"}, {}),
        ({"age_low": None}, {}),
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


def test_values_that_are_there_twice_are_seen():
    twice = set_cell(MICRODATA, 0, value="gastritis")
    assert found("m_uniqueness", microdata=twice).row(0) == (1, 2, 1, 2, 2, 2)


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
    compared = found("signature_invariance", before=remembered(Ada=signature, Zoe=["flu"]))
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
    before = remembered(**earlier) if earlier else NOBODY
    assert found("m_uniqueness", before=before)["newcomers"].to_list() == newcomers


def test_a_person_who_returns_to_an_earlier_signature_is_no_newcomer():
    linkage = pl.DataFrame(
        {"person": ["Ada", "Ada"], "bucket_id": [0, 1]}, schema_overrides={"bucket_id": pl.Int32}
    )
    buckets = pl.DataFrame(
        {"bucket_id": [0, 1], "signature": [["flu", "gastritis"], ["bronchitis", "dyspepsia"]]},
        schema_overrides={"bucket_id": pl.Int32},
    )
    before = State(Memory.of(NOBODY, pl.String()).after(with_pseudonyms(linkage), buckets, 1).tables())
    assert found("m_uniqueness", before=before)["newcomers"].to_list() == [1, 1]
    assert found("signature_invariance", before=before).rows() == [(0, 1, 1, 0, 0), (1, 1, 0, 1, 0)]


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
        ({"linkage": set_cell(LINKAGE, 0, person="Eve")}, {"hosted": 2, "held_back": 1, "wrong_counts": 1}),
    ],
)
def test_tuples_that_are_not_accounted_for_are_counted(changes, expected):
    true = found("counterfeits").row(0, named=True)
    changed = found("counterfeits", **changes).row(0, named=True)
    assert {name: count for name, count in changed.items() if count != true[name]} == expected
