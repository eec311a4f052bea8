#!/usr/bin/env bash
# countrycode 0.6.0: New Mexico is Mexico, New Jersey an island, Indiana is India, and Niger State in Nigeria is Niger.
#
# Believed: a name that is no country has no code; of the fifty states only Georgia is named as a country is. A country
# by its number is found as it is written, 004 or 4.
# Seen: a country is found wherever its name is a part of the text: four of the fifty states have a code, Inner Mongolia
# is Mongolia. Of two countries in one text one is taken, without a warning: "Niger State, Nigeria" is Niger, "Peru,
# Indiana" is India. East Germany has no code, West Germany that of Germany; Kosovo has none. Numbers are found as
# integers: 4 is Afghanistan, 004 as the standard writes it is None.
# What follows: a column of places of birth that mixes states and countries counts people of New Mexico as Mexicans;
# compare with the list of names that are expected, first.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check countrycode==0.6.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from countrycode import countrycode

STATES = """Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware, Florida, Georgia, Hawaii,
Idaho, Illinois, Indiana, Iowa, Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts, Michigan, Minnesota,
Mississippi, Missouri, Montana, Nebraska, Nevada, New Hampshire, New Jersey, New Mexico, New York, North Carolina,
North Dakota, Ohio, Oklahoma, Oregon, Pennsylvania, Rhode Island, South Carolina, South Dakota, Tennessee, Texas, Utah,
Vermont, Virginia, Washington, West Virginia, Wisconsin, Wyoming""".replace("\n", " ").split(", ")
OTHERS = ["Inner Mongolia", "Niger State, Nigeria", "Peru, Indiana", "East Germany", "West Germany", "Kosovo"]


def codes(names):
    return dict(zip(names, countrycode(names, "country.name", "iso3c"), strict=True))


states = {name: code for name, code in codes(STATES).items() if code}
others, numbers = codes(OTHERS), countrycode([4, "4", "004"], "iso3n", "iso3c")
print("countrycode", version("countrycode"), states, others, "4 and 004:", numbers)
assert states == {"Georgia": "GEO", "Indiana": "IND", "New Jersey": "JEY", "New Mexico": "MEX"}, "the behaviour changed"
assert list(others.values()) == ["MNG", "NER", "IND", None, "DEU", None], "the behaviour changed"
assert numbers == ["AFG", None, None], "the behaviour changed"
PYTHON
