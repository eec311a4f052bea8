"""An audit follows people and values by their names: it decides nothing where these may have changed."""

import random

import pytest

from tests.orchestration.audit.bench import TOWNS, Row, audited, table

pytestmark = pytest.mark.usefixtures("only_verdicts")


def pairs(name=str, age=lambda age: age, ulcer="ulcer"):
    """Two releases of groups of two; of one group somebody left, and the value of who stays is known."""
    tried = table(m=2, releases=2)
    for release, one in enumerate(tried.releases):
        one.rows.clear()
        for person in range(24):
            group, place = divmod(person, 2)
            values = ("flu", ("gout", "ulcer")[release]) if group == 6 else ("asthma", "ulcer")
            value = ulcer if values[place] == "ulcer" and release else values[place]
            leaves = f"p{person:02}{release if (group, place) == (6, 1) else ''}"
            years = 20 + 10 * group + 3 * place
            own, low = (name(leaves), age(years)) if release else (leaves, years)
            town = TOWNS[group % 4]
            one.rows.append(Row(own, low, town, value, group, low // 10 * 10, low // 10 * 10 + 9, [town]))
        one.truth[:] = random.Random(release).sample(one.rows, 24)
        one.rows.sort(key=lambda row: (row.low, row.value))
    return tried


def judged(tried, folder):
    """The promises that are broken, those that are not decided, and what was not covered, all as text."""
    found = audited(tried, "dash", folder)
    rows = found.promises()
    gaps = "; ".join(gap.what.format(*gap.people) for gap in found.not_covered)
    return {*rows.filter(~rows["holds"])["promise"]}, {*rows.filter(rows["undecided"] > 0)["promise"]}, gaps


def test_people_under_one_name_are_followed(tmp_path):
    broken, undecided, _ = judged(pairs(), tmp_path)
    assert "candidates by quasi-identifiers" in broken
    assert undecided == set()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (str.upper, "23 people of 2021 are in 2020, too, under the same identifier in another form"),
        ("{} ".format, "the same identifier in another form"),
        (
            "02-{}".format,
            "23 people of 2021 are in 2020, too, under the same identifier with characters more",
        ),
        (
            lambda name: f"{hash(name)}",
            "23 people of 2020 who are not in 2021 are those who came and are alike",
        ),
    ],
    ids=["capital letters", "a space", "a prefix", "other identifiers"],
)
def test_people_who_may_have_other_identifiers_are_not_decided(name, said, tmp_path):
    broken, undecided, gaps = judged(pairs(name), tmp_path)
    assert (broken, undecided) == (set(), {"same names"})
    assert said in gaps
    assert "no identifier is in both true tables" in gaps


def test_identifiers_that_may_be_other_peoples_are_not_decided(tmp_path):
    _, undecided, gaps = judged(pairs(age=lambda age: 20 + (7 * age) % 110), tmp_path)
    assert "same names" in undecided
    assert "identifiers are the same people's in 2020 and 2021: " in gaps


def test_a_value_that_may_have_another_name_is_not_decided(tmp_path):
    _, undecided, gaps = judged(pairs(ulcer="peptic ulcer"), tmp_path)
    assert "same names" in undecided
    assert "“ulcer” of one release and “peptic ulcer” of 2021 are one value" in gaps


def test_one_value_beside_words_for_no_answer_is_stated(tmp_path):
    tried = table(m=2)
    for row in {id(row): row for row in (*tried.first.rows, *tried.first.truth)}.values():
        row.value = {"gout": "unknown", "ulcer": "keine Angabe", "asthma": "refused"}.get(
            row.value, row.value
        )
    broken, undecided, gaps = judged(tried, tmp_path)
    assert (broken, undecided) == (set(), set())
    assert "12 people of whom one value is left, and words for no answer" in gaps
