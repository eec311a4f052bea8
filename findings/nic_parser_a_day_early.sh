#!/usr/bin/env bash
# nic-parser 0.2.0: people of Sri Lanka who were born in January, February or a leap year are a day too old.
#
# Believed: the day of birth of an identity card comes out whenever in the year it is. The card counts the days of each
# year as if it had a 29 February: 1 January is 001, 1 March 061, and women have 500 more.
# Seen: one is taken off each number, and the rest is counted in the person's own year. From March on, that is right in
# an ordinary year. All days of January and February, and each day of a leap year, are a day early: 1 February 1990,
# 032, is 31 January, a woman of 2 January is one of 1 January, and 31 December 1992 (366) is 30 December. Only 1
# January raises an error.
# What follows: every third birthday is wrong, and some people change their month. Take the day of a leap year, such as
# 2000, and put the year of birth to its month and day.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check nic-parser==0.2.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from datetime import date, timedelta
from importlib.metadata import version

from nic_parser.parser import Gender, Parser


def card(born, woman=False):
    """A card with made-up digits of a person who was born on a day: its year, and its day in a leap year."""
    day = (born.replace(year=2000) - date(2000, 1, 1)).days + 1 + 500 * woman
    return Parser(f"{born.year}{day:03}00011")


def read(year):
    """Days of birth in a year whose card is read: as another day, and by the error that is raised."""
    early, refused = [], []
    for born in (date(year, 1, 1) + timedelta(days=each) for each in range(366)):
        if born.year == year:
            try:
                if (found := card(born).birth_date.date()) != born:
                    assert found == born - timedelta(days=1)
                    early.append(born)
            except ValueError:
                refused.append(born)
    return early, refused


(early, refused), (early_leap, refused_leap) = read(1990), read(1992)
february, woman, last = card(date(1990, 2, 1)), card(date(1990, 1, 2), woman=True), card(date(1992, 12, 31))
print("nic-parser", version("nic-parser"), "1 February 1990:", february.birth_date.date())
print("woman of 2 January 1990:", woman.birth_date.date(), "31 December 1992:", last.birth_date.date())
print("a day early in 1990:", len(early), "to", early[-1], "in 1992:", len(early_leap), "refused:", refused, refused_leap)
assert card(date(1990, 3, 1)).birth_date.date() == date(1990, 3, 1) and woman.gender is Gender.FEMALE
assert february.birth_date.date() == date(1990, 1, 31), "the behaviour changed"
assert len(early) == 58 and early[-1] == date(1990, 2, 28), "the behaviour changed"
assert len(early_leap) == 365 and refused_leap == [date(1992, 1, 1)] and refused == [date(1990, 1, 1)]
PYTHON
