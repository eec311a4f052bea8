"""Whether identifiers changed their form: said in words, and never on a mere suspicion."""

import polars as pl
import pytest

from republish.orchestration.snapshots.identifiers import (
    MOST_COMPARED,
    all_but_one_character,
    changed_form,
    drifted,
    gone_and_new,
)

NUMBERS = [f"{n:04d}" for n in range(1, 60)]
NAMES = [f"Ann{n}X" for n in range(60)]


@pytest.mark.parametrize(
    ("before", "now", "what"),
    [
        (NUMBERS, [number.lstrip("0") for number in NUMBERS], "leading zeros"),
        ([number.lstrip("0") for number in NUMBERS], [f"0{number} " for number in NUMBERS], "leading zeros"),
        (NUMBERS, [int(number) for number in NUMBERS], "leading zeros"),
        (NAMES, [name.lower() for name in NAMES], "small and capital letters"),
        (NAMES, [f" {name}" for name in NAMES], "spaces around them"),
        (NUMBERS, [f"{number}.0" for number in NUMBERS], "a decimal point"),
        (NUMBERS, [f"P-{number}" for number in NUMBERS], "letters, spaces and signs between the digits"),
        (NAMES, [*(name.lower() for name in NAMES[:40]), "x1", "x2"], "small and capital letters"),
    ],
)
def test_a_form_that_changed_is_named(before, now, what):
    words = changed_form(pl.Series(before), pl.Series(now))
    assert words.endswith(f"of the identifiers are those of the snapshot before, but for {what}")
    assert not [name for name in (*before[10:], *now[10:]) if f" {name} " in f" {words} "]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (NUMBERS, NUMBERS),
        (NUMBERS, [f"{n:04d}" for n in range(500, 560)]),
        (["Ann", "Bob", "Cid"], ["Dan", "Eve", "Fay"]),  # without a digit, all look alike without letters
        (["a1", "b1", "c1", "d1"], ["x1", "y1"]),
        (["0", "00", "000"], ["0000"]),
        (NAMES, [name.lower() for name in NAMES[:20]]),
        ([], NAMES),
        (NAMES, []),
        ([b"a1", b"b2"], [b"A1", b"B2"]),
    ],
)
def test_other_people_are_not_taken_for_the_same(before, now):
    types = pl.Binary if isinstance((before or [""])[0], bytes) else pl.String
    assert changed_form(pl.Series(before, dtype=types), pl.Series(now, dtype=types)) is None


@pytest.mark.parametrize("form", [" {}", "{} ", "{}\u200b", "{}\0", "{}.0"])
def test_some_identifiers_in_another_form_are_counted(form):
    drift = [form.format(number) for number in NUMBERS[:12]]
    assert drifted(*gone_and_new(pl.Series(NUMBERS), pl.Series([*NUMBERS[12:], *drift]))) == 12


def test_nobody_drifts_who_stays_or_is_somebody_else():
    assert drifted(*gone_and_new(pl.Series(NUMBERS), pl.Series([*NUMBERS[5:], "70", "x", "3001"]))) == 0
    assert drifted(*gone_and_new(pl.Series([b"a1", b"b2"]), pl.Series([b"A1", b"b2"]))) == 0


def test_new_identifiers_all_but_one_character_like_one_that_is_gone_are_counted():
    before, now = ["anna1", "berta", "carl", "dora"], ["anna2", "bertha", "car", "daro", "dora", "emil"]
    assert all_but_one_character(*gone_and_new(pl.Series(before), pl.Series(now))) == 3
    assert all_but_one_character(*gone_and_new(pl.Series(before), pl.Series(before))) == 0
    many = pl.Series(range(MOST_COMPARED + 1))
    assert all_but_one_character(*gone_and_new(many, -many - 1)) is None
