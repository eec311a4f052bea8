"""Whether identifiers changed their form: said in words, and never on a mere suspicion."""

from random import Random

import polars as pl
import pytest

from republish.orchestration.snapshots.identifiers import (
    MOST_COMPARED,
    MOST_EXTENDED,
    all_but_one_character,
    changed_form,
    drifted,
    extended,
    gone_and_new,
    named,
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
        (
            [name.encode() for name in NAMES],
            [name.lower().encode() for name in NAMES],
            "small and capital letters",
        ),
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
        ([b"\xff1", b"\xfe2"], [b"\xfd1", b"\xfc2"]),
    ],
)
def test_other_people_are_not_taken_for_the_same(before, now):
    types = pl.Binary if isinstance((before or [""])[0], bytes) else pl.String
    assert changed_form(pl.Series(before, dtype=types), pl.Series(now, dtype=types)) is None


def alone(before, now, *rest):
    """The people of each of two snapshots alone."""
    return gone_and_new(
        *(named(ids, *more) for ids, more in zip((before, now), rest or ((), ()), strict=True))
    )


@pytest.mark.parametrize("form", [" {}", "{} ", "{}\u200b", "{}\0", "{}.0"])
def test_some_identifiers_in_another_form_are_counted(form):
    drift = [form.format(number) for number in NUMBERS[:12]]
    assert drifted(*alone(pl.Series(NUMBERS), pl.Series([*NUMBERS[12:], *drift]))) == 12


@pytest.mark.parametrize("form", [" {}", "{}\0", "0{}"])
def test_bytes_in_another_form_are_counted_as_text_is(form):
    drift = [form.format(number).encode() for number in NUMBERS[:12]]
    before = pl.Series([number.encode() for number in NUMBERS])
    assert drifted(*alone(before, pl.Series([*before[12:], *drift]))) == 12
    assert drifted(*alone(pl.Series(NUMBERS), pl.Series([*before[12:], *drift]))) == 12


def test_nobody_drifts_who_stays_or_is_somebody_else():
    assert drifted(*alone(pl.Series(NUMBERS), pl.Series([*NUMBERS[5:], "70", "x", "3001"]))) == 0
    assert drifted(*alone(pl.Series([b"\xff1", b"\xfe2"]), pl.Series([b"\xff2", b"\xfe2"]))) == 0


def test_new_identifiers_all_but_one_character_like_one_that_is_gone_are_counted():
    before, now = ["anna1", "berta", "carl", "dora"], ["anna2", "bertha", "car", "daro", "dora", "emil"]
    assert all_but_one_character(*alone(pl.Series(before), pl.Series(now))) == 3
    assert all_but_one_character(*alone(pl.Series(before), pl.Series(before))) == 0
    many = pl.Series(range(MOST_COMPARED + 1))
    assert all_but_one_character(*alone(many, -many - 1)) is None


@pytest.mark.parametrize(
    "form",
    [
        lambda number, _: f"P{number}",
        lambda number, _: f"SITE-{number}",
        lambda number, _: f"{number[:2]}-{number[2:]}",
        lambda number, _: f"{number[0]}-{number[1]}-{number[2:]}",
        lambda number, _: f"{number}X",
        lambda number, at: f"{number}{'XKLM'[at % 4]}",
        lambda number, _: f"9{number}",
        lambda number, _: number[1:] + "/2",
    ],
    ids=["a letter", "a prefix", "a hyphen", "hyphens", "an end", "a check letter", "a digit", "both"],
)
def test_identifiers_that_gained_characters_are_counted_and_so_are_those_that_lost_them(form, request):
    some = [form(number, at) for at, number in enumerate(NUMBERS[:20])]
    ages, values = list(range(59)), ["flu", "gout"] * 29 + ["flu"]
    both, older = (pl.Series(ages), pl.Series(values)), (pl.Series(ages) + 1, pl.Series(values))
    before, now = pl.Series(NUMBERS), pl.Series([*some, *NUMBERS[20:]])
    expected = 0 if request.node.callspec.id == "both" else 20
    assert extended(*alone(before, now, both, older)) == expected
    assert extended(*alone(now, before, both, older)) == expected
    others = (pl.Series(ages) + 40, pl.Series(["acne"] * 59))
    assert extended(*alone(before, now, both, others)) == 0


@pytest.mark.parametrize("form", ["{}", "{:05}", "P{:04}"])
def test_people_who_are_counted_on_are_not_taken_for_others(form):
    """A fifth leaves, and as many come under the next numbers; a third is alike in half of a row."""
    leave = range(3, 1000, 5)
    before = pl.Series([form.format(number) for number in range(1, 1001)])
    now = pl.Series([*(form.format(one) for one in range(1, 1001) if one not in leave)])
    now = pl.concat([now, pl.Series([form.format(number) for number in range(1001, 1201)])])
    random = Random(4)
    rows = [(pl.Series(range(1000)), pl.Series(random.choices("abc", k=1000))) for _ in range(2)]
    assert extended(*alone(before, now, *rows)) <= 10


def test_people_whose_identifier_has_another_form_are_not_counted_twice():
    drift = [f"0{number}" for number in NUMBERS[:12]]
    gone, new = alone(pl.Series(NUMBERS), pl.Series([*NUMBERS[12:], *drift]))
    assert (drifted(gone, new), extended(gone, new)) == (12, 0)


def test_many_are_not_compared():
    many = pl.Series(range(MOST_EXTENDED + 1))
    assert extended(*alone(many, -many - 1)) is None
