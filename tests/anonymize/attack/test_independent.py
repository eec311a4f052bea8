"""Two publishers of the same people, attacked by plain dictionaries and by hand."""

import random
from collections import Counter
from fractions import Fraction
from math import prod

import polars as pl
import pytest

from republish.anonymize.attack.measures.independent import covering_groups, in_both, left, possible
from republish.anonymize.formats.published import Published
from tests.anonymize.attack.attack_series import groups_of


def truth(values):
    return pl.DataFrame({"person": list(values), "value": list(values.values())})


def placed(group):
    rows = [(person, place) for person, places in group.items() for place in places]
    return pl.DataFrame(rows, schema={"person": pl.String, "group_id": pl.Int64}, orient="row")


def series_of(releases):
    found = None
    for values, groups, group in releases:
        found = possible(truth(values), groups_of(groups), placed(group), found)
    return found


def test_two_publishers_leave_one_value_where_each_leaves_two():
    """x has a: one publisher has x with y (b), and the other with z (c)."""
    one = series_of([(dict(zip("xyz", "abc", strict=True)), ["ab", "cd"], {"x": [0], "y": [0], "z": [1]})])
    two = series_of([(dict(zip("xz", "ac", strict=True)), ["aac"], {"x": [0], "z": [0]})])
    alone, together = left(one), left(in_both(one, two))
    assert (alone.people, alone.certain, alone.right, alone.candidates) == (3, 0, 0.5, 2)
    # Of z, both have c and one has d: both are certain; of y nobody says anything, who is in one alone.
    assert (together.people, together.certain, together.right) == (2, 1, 1)


def test_probabilities_are_multiplied():
    """x: 1/2 and 1/2 of one, 2/3 and 1/3 of the other: 2/3 to 1/3 together, and it is the likelier one."""
    values = {"x": "a"}
    one, two = series_of([(values, ["ab"], {"x": [0]})]), series_of([(values, ["aab"], {"x": [0]})])
    found = dict(in_both(one, two).select("candidate", "probability").iter_rows())
    assert found == pytest.approx({"a": 2 / 3, "b": 1 / 3})
    assert left(in_both(one, two)).right == 1
    assert left(in_both(two.with_columns(value=pl.lit("b")), one.with_columns(value=pl.lit("b")))).right == 0


def test_a_value_that_changed_is_another_one_to_find():
    found = series_of([({"x": "a"}, ["ab"], {"x": [0]}), ({"x": "c"}, ["bc"], {"x": [0]})])
    assert sorted(found.select("value", "candidate").iter_rows()) == [
        ("a", "a"), ("a", "b"), ("c", "b"), ("c", "c"),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_what_is_left_is_what_plain_dictionaries_say(seed):
    draw = random.Random(seed)
    values = {f"p{n}": draw.choice("abcdef") for n in range(24)}
    made = [[_release(draw, values) for _ in range(3)] for _ in range(2)]
    found = in_both(*map(series_of, made))
    expected = {
        person: _by_hand(person, values, [one for series in made for one in series])
        for person in values
        if all(any(person in group for _, _, group in series) for series in made)
    }
    assert {person for (person,) in found.select("person").unique().iter_rows()} == set(expected)
    for person, candidate, probability in found.select("person", "candidate", "probability").iter_rows():
        assert probability == pytest.approx(float(expected[person][candidate]))
    counted = left(found)
    assert counted.certain == pytest.approx(sum(len(one) == 1 for one in expected.values()) / len(expected))
    assert counted.candidates == pytest.approx(sum(map(len, expected.values())) / len(expected))
    assert counted.right == pytest.approx(
        sum(_right(one, values[person]) for person, one in expected.items()) / len(expected)
    )


def _release(draw, values):
    """Groups of three people, each with a value that nobody has; a person may be in one of two groups."""
    here = draw.sample(sorted(values), 18)
    group = {person: [n // 3] for n, person in enumerate(here)}
    groups = [
        [values[person] for person in here[n : n + 3]] + [draw.choice("abcdef")] for n in range(0, 18, 3)
    ]
    for person in here[:4]:
        group[person] = sorted({*group[person], draw.randrange(6)})
    return {person: values[person] for person in here}, groups, group


def _by_hand(person, values, releases):
    """The probability of each value that no release excludes."""
    weights = []
    for _, groups, group in releases:
        if person in group:
            counted = Counter(value for place in group[person] for value in groups[place])
            weights.append({value: Fraction(n, counted.total()) for value, n in counted.items()})
    product = {value: prod(one.get(value, 0) for one in weights) for value in set(values.values())}
    return {value: one / sum(product.values()) for value, one in product.items() if one}


def _right(probabilities, value):
    likeliest = [one for one, p in probabilities.items() if p == max(probabilities.values())]
    return (value in likeliest) / len(likeliest)


def test_groups_are_found_by_quasi_identifiers():
    boxes = pl.DataFrame({"group_id": [0, 0, 1], "qi_0_low": [1, 5, 4], "qi_0_high": [3, 6, 8]})
    none = pl.DataFrame()
    known = pl.DataFrame({"person": ["x", "y", "z"], "qi_0": [2, 5, 9]})
    found = covering_groups(known, Published(boxes, none, none))
    assert sorted(found.iter_rows()) == [("x", 0), ("y", 0), ("y", 1)]
