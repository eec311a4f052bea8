#!/usr/bin/env bash
# addfips 0.4.2: the name of a county is the city of that name.
#
# Believed: get_county_fips("Baltimore", "MD") is the county of Baltimore (24005), as a table of counties writes it,
# or None, as there is an independent city of that name as well.
# Seen: it is the city (24510), and so are Franklin, Richmond, Roanoke and Fairfax in Virginia, and St. Louis; only
# "Baltimore County" is the county. Bedford is 51515, a city that has been a part of Bedford County (51019) since 2013.
# What follows: a column "county" without that word has the people of six counties in their cities, and the counties
# are empty; Bedford's people are in none of today's.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check addfips==0.4.2
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from addfips import AddFIPS

fips = AddFIPS()
names = {"Baltimore": "MD", "St. Louis": "MO"}
names |= dict.fromkeys(("Richmond", "Roanoke", "Fairfax", "Franklin", "Bedford"), "VA")
seen = {
    name: (fips.get_county_fips(name, state), fips.get_county_fips(f"{name} County", state))
    for name, state in names.items()
}
print("addfips", version("addfips"), "of the name, and of the name with County:", seen)
assert seen["Baltimore"] == ("24510", "24005"), "the behaviour changed"
assert seen["Franklin"] == ("51620", "51067"), "the behaviour changed"
assert seen["Bedford"] == ("51515", "51019"), "the behaviour changed"
assert all(alone != county for alone, county in seen.values()), "the behaviour changed"
PYTHON
