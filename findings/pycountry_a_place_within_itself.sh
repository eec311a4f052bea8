#!/usr/bin/env bash
# pycountry 26.2.16: 36 names are two places of one country, most of them one in the other.
#
# Believed: within a country a name is one subdivision, and the subdivisions without others below them are all
# equally deep.
# Seen: Dhaka is a division and a district of it, Kindia a region and its prefecture, Cantabria a community and its
# province. In twelve countries some of those without subdivisions have one above them and some have none: Paris has
# Île-de-France, Guadeloupe has nothing.
# What follows: a tree by names joins a district and the division around it, and a column of the lowest level that
# is found by `parent_code` lacks places in France, Italy, Spain and nine others.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pycountry==26.2.16
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from collections import Counter
from importlib.metadata import version

import pycountry

places = list(pycountry.subdivisions)
above = {place.code: place.parent_code for place in places}
named = Counter((place.country_code, place.name) for place in places)
twice = [one for one, times in named.items() if times > 1]
lowest = set(above) - set(above.values())
depths = {}
for code in lowest:
    depths.setdefault(code[:2], set()).add(above[code] is None)
uneven = sorted(country for country, some_above in depths.items() if len(some_above) > 1)
dhaka = [(place.code, place.type, place.parent_code) for place in places if place.name == "Dhaka"]
print("pycountry", version("pycountry"), "names twice:", len(twice), sorted(dhaka), "unequally deep:", uneven)
assert sorted(dhaka) == [("BD-13", "District", "BD-C"), ("BD-C", "Division", None)], "the behaviour changed"
assert len(twice) == 36 and {"FR", "IT", "ES"} <= set(uneven), "the behaviour changed"
PYTHON
