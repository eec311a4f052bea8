#!/usr/bin/env bash
# lifelines 0.30.3: from 1 January to the next 1 January are 0 years, but in leap years.
#
# Believed: datetimes_to_durations(..., freq="Y") returns 1 for a year, and fractions for parts of one: its
# documentation says floats, in units of freq.
# Seen: durations are cut to whole units of numpy, of which a year has 365.2425 days, and a month 30.44: a year of 365
# days is 0 years, one of 366 days is 1; 2015 to 2020 are 4 years, and so are 2015 to 2019; January and February
# together are 1 month, February alone is 0. Days and weeks are as expected.
# What follows: of people who were followed for a year, those of a leap year only have been at risk, and the others
# enter and leave at 0, without an error. Take days, and divide.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check lifelines==0.30.3 pandas==2.3.3 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from lifelines.utils import datetimes_to_durations

SPANS = {
    "Y": [("2015-01-01", "2016-01-01"), ("2016-01-01", "2017-01-01"), ("2015-01-01", "2019-01-01"),
          ("2015-01-01", "2020-01-01")],
    "M": [("2015-01-01", "2015-02-01"), ("2015-02-01", "2015-03-01"), ("2015-01-01", "2015-03-01")],
    "W": [("2015-01-01", "2015-01-15")],
    "D": [("2015-01-01", "2016-01-01")],
}
seen = {
    unit: datetimes_to_durations(*zip(*spans, strict=True), freq=unit)[0].tolist() for unit, spans in SPANS.items()
}
print("lifelines", version("lifelines"), seen)
assert seen["W"] == [2] and seen["D"] == [365]
assert seen["Y"] == [0, 1, 4, 4] and seen["M"] == [1, 0, 1], "the behaviour changed"
PYTHON
