#!/usr/bin/env bash
# country_converter 1.3.2: regions and continents are no levels of one hierarchy.
#
# Believed: `UNregion` is a finer level than `continent`: all countries of a region are in one continent.
# Seen: the columns are of two classifications. South America is in America, but for Bouvet Island and South Georgia,
# which are in Antarctica; Australia and New Zealand is in Oceania, Asia (Christmas Island, Cocos Islands) and
# Antarctica. Nor is `continent` below `Continent_7`: Cyprus is in Asia by the first, in Europe by the second.
# What follows: paths of country, region and continent are no tree: sums by region do not add up to those by
# continent.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check country_converter==1.3.2 pandas==2.3.3 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import logging
from importlib.metadata import version

logging.disable(logging.CRITICAL)
from country_converter import CountryConverter

countries = CountryConverter().data


def in_several(fine, coarse):
    above = countries.groupby(fine)[coarse].unique().map(sorted)
    return {name: found for name, found in above.items() if len(found) > 1}


seen = in_several("UNregion", "continent")
print("country_converter", version("country_converter"), seen, in_several("continent", "Continent_7"))
assert seen == {
    "Australia and New Zealand": ["Antarctica", "Asia", "Oceania"], "South America": ["America", "Antarctica"]
}, "the behaviour changed"
assert in_several("continent", "Continent_7")["Asia"] == ["Asia", "Europe"], "the behaviour changed"
PYTHON
