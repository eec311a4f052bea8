"""Free text and identifying numbers are told from values that people share."""

import random

import polars as pl
import pytest

from republish.anonymize.contract import Sensitive
from republish.anonymize.people.own_values import count_values, own_values

CODES = 12_000


def diagnosed(people, name):
    """So many people with codes that are as frequent as diagnoses are: the 100 most frequent are a third."""
    chance = random.Random(people)
    weights = [1 / (at + 10) for at in range(CODES)]
    return [name(code) for code in chance.choices(range(CODES), weights, k=people)]


def icd(code):
    return f"{chr(65 + code % 26)}{code // 26 % 100:02}.{code // 2600}"


def titled(code):
    words = ("acute", "chronic", "neoplasm of", "left lung", "right", "type 2", "with", "complication")
    return " ".join(random.Random(code).choices(words, k=1 + code % 8)) + f" {icd(code)}" * (code % 3 > 1)


def sentence(chance):
    return f"seen for pain since {chance.randint(1, 4000)} days, {chance.choice(('left', 'right'))} side"


TEXTS = {
    "sentences": sentence,
    "telephones": lambda chance: f"0{chance.randint(151, 179)} {chance.randint(10**6, 10**7)}",
    "social security": lambda chance: (
        f"{chance.randint(10, 99)} {chance.randint(10**5, 10**6)} M {chance.randint(100, 999)}"
    ),
    "streets": lambda chance: f"{chance.choice(('High', 'Church', 'Mill'))} Street {chance.randint(1, 9999)}",
    "house numbers first": lambda chance: f"{chance.randint(1, 9999)} Mill Lane",
    "e-mail": lambda chance: f"p{chance.randint(1, 10**9)}@example.org",
}


def found(values):
    table = pl.DataFrame({"value": values})
    (row,) = own_values(count_values(table, Sensitive(name="notes"))).rows(named=True)
    return row


@pytest.mark.parametrize("name", [icd, titled, lambda code: f"{code * 77_777 + 10**6}"])
@pytest.mark.parametrize("people", [2_000, 10_000])
def test_thousands_of_codes_and_their_titles_are_no_free_text(people, name):
    row = found(diagnosed(people, name))
    assert row["own"] < people / 2
    assert row["texts"] == 0


@pytest.mark.parametrize("kind", TEXTS)
def test_free_text_is_found_in_a_twentieth_of_the_people(kind):
    """The others share codes: most people have no value of their own."""
    chance = random.Random(1)
    texts = [TEXTS[kind](chance) for _ in range(200)]
    row = found(texts + diagnosed(3_800, icd))
    assert row["texts"] >= 190
    assert row["own"] < 2_000


def test_a_value_that_two_shards_have_is_nobodys_own():
    parts = [pl.DataFrame({"value": [f"High Street {at}" for at in range(300)]}) for _ in range(2)]
    counted = [count_values(part, Sensitive(name="notes")) for part in parts]
    assert own_values(counted[0])["texts"].item() == 300
    assert own_values(pl.concat(counted)).rows() == [("notes", 600, 0, 0, 0)]


def test_whole_numbers_are_looked_at_as_they_are_written():
    row = found([123_456 + at for at in range(50)])
    assert (row["own"], row["texts"], row["codes"]) == (50, 50, 0)
