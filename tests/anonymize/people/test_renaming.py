"""A value is suspected of being renamed where nearly all of its people carry another name for it."""

import polars as pl
import pytest

from republish.anonymize.people.renaming import (
    declarable,
    describe_renamings,
    moves,
    suspected_renamings,
)


def table(*runs):
    """A snapshot of people 0, 1, …: each run is a value and how many people in a row carry it."""
    values = [value for value, people in runs for _ in range(people)]
    people = [str(number).encode() for number in range(len(values))]
    present = [(person, value) for person, value in zip(people, values, strict=True) if value is not None]
    return pl.DataFrame(present, schema={"pseudonym": pl.Binary, "value": pl.String}, orient="row")


BEFORE = table(("burn-out", 10), ("flu", 20), ("grippe", 6), ("gout", 1))
SAME = (("flu", 20), ("grippe", 6), ("gout", 1))
CASES = {
    "nothing happened": (BEFORE, []),
    "renamed": (table(("exhaustion", 10), *SAME), [("burn-out", ["exhaustion"], 10, 10)]),
    "renamed, and some left": (
        table(("exhaustion", 6), (None, 4), *SAME),
        [("burn-out", ["exhaustion"], 6, 6)],
    ),
    "renamed, but for one whose value changed": (
        table(("exhaustion", 9), ("flu", 1), *SAME),
        [("burn-out", ["exhaustion"], 9, 10)],
    ),
    "two of ten changed": (table(("exhaustion", 8), ("flu", 2), *SAME), []),
    "still there": (table(("exhaustion", 9), ("burn-out", 1), *SAME), []),
    "split": (table(("mild", 3), ("severe", 7), *SAME), [("burn-out", ["severe", "mild"], 10, 10)]),
    "split, and one value is one person's": (
        table(("mild", 9), ("severe", 1), *SAME),
        [("burn-out", ["mild"], 10, 10)],
    ),
    "everybody's value is one person's": (table(*((f"value {n}", 1) for n in range(10)), *SAME), []),
    "merged under a new name": (
        table(("burn-out", 10), ("influenza", 26), ("gout", 1)),
        [("flu", ["influenza"], 20, 20), ("grippe", ["influenza"], 6, 6)],
    ),
    "merged into the other": (table(("burn-out", 10), ("flu", 26), ("gout", 1)), [("grippe", ["flu"], 6, 6)]),
    "one person's value changed": (table(("burn-out", 10), ("flu", 20), ("grippe", 6), ("podagra", 1)), []),
    "all left": (table((None, 10), *SAME), []),
    "nobody is left": (BEFORE.clear(), []),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_suspected(case):
    now, expected = CASES[case]
    assert suspected_renamings(moves(BEFORE, now)).drop("is_new", "is_kept").rows() == expected


def test_nothing_is_suspected_of_a_first_snapshot():
    assert suspected_renamings(moves(BEFORE.clear(), BEFORE)).rows() == []


def test_numbers_are_values_too():
    before, now = ([0, 1, 2], [7, 7, 7]), ([0, 1, 2], [9, 9, 9])
    tables = (pl.DataFrame({"pseudonym": who, "value": values}) for who, values in (before, now))
    assert suspected_renamings(moves(*tables)).rows() == [(7, [9], 3, 3, True, False)]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("renamed", {"burn-out": "exhaustion"}),
        ("split", {}),
        ("merged under a new name", {}),
        ("merged into the other", {}),
    ],
)
def test_only_a_value_that_became_one_new_value_can_be_declared(case, expected):
    assert declarable(suspected_renamings(moves(BEFORE, CASES[case][0]))) == expected


def test_values_that_look_the_same_are_told_apart():
    composed, decomposed = "caf\xe9", "cafe\u0301"
    tables = (pl.DataFrame({"pseudonym": [b"1", b"2"], "value": [one] * 2}) for one in (composed, decomposed))
    (said,) = describe_renamings(suspected_renamings(moves(*tables)))
    assert "Nobody has 'caf\\xe9' any more" in said
    assert said.endswith("now have 'cafe\\u0301'")


def test_a_value_that_some_keep_looks_split_if_most_have_several_new_ones():
    codes = ["K58"] * 18 + ["flu"] * 10
    split = ["K58"] * 3 + ["K58.1", "K58.2", "K58.8"] * 5 + ["flu"] * 10
    tables = [
        pl.DataFrame({"pseudonym": [bytes([at]) for at in range(28)], "value": values})
        for values in (codes, split)
    ]
    suspected = suspected_renamings(moves(*tables))
    assert suspected["people"].to_list() == [15]
    assert declarable(suspected) == {}
    (said,) = describe_renamings(suspected)
    assert said == (
        "15 of the 18 people who had 'K58' now have 'K58.1' or 'K58.2' or 'K58.8', which nobody had:"
        " it looks split"
    )
    few = tables[1].with_columns(
        pl.when(pl.int_range(28) < 10).then(pl.lit("K58")).otherwise("value").alias("value")
    )
    assert suspected_renamings(moves(tables[0], few)).is_empty()  # most of them keep it
