#!/usr/bin/env bash
# pyreadstat 1.3.7: a moment of a Stata file that counts leap seconds is up to 27 seconds late.
#
# Believed: %tc and %tC are two formats of Stata for a moment, and pyreadstat reads both as the moment that Stata
# shows.
# Seen: %tC counts leap seconds, of which there were 27 from 1972 to 2016, and is read as %tc, which does not. What
# Stata shows as midnight of 1 January 2020 is 27 seconds past it. (pandas 3.1.1 leaves a %tC column as numbers, and
# warns.)
# What follows: midnights are none any more, and the last half minute of a day is of the next day.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import warnings

import pandas as pd
import pyreadstat

LEAP_SECONDS = 27
midnight = (pd.Timestamp("2020-01-01") - pd.Timestamp("1960-01-01")) // pd.Timedelta(milliseconds=1)
moments = pd.DataFrame({"seen": [midnight + LEAP_SECONDS * 1000.0]})
read = {}
for display in ("%tc", "%tC"):
    pyreadstat.write_dta(moments, "visits.dta", variable_format={"seen": display})
    read[display] = pyreadstat.read_dta("visits.dta")[0]["seen"][0]
    print("pyreadstat", pyreadstat.__version__, display, read[display])
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    by_pandas = pd.read_stata("visits.dta")["seen"]
print("pandas", pd.__version__, "%tC", by_pandas.tolist(), [str(one.message)[:60] for one in warned])
assert read["%tc"] == pd.Timestamp("2020-01-01 00:00:27")
assert read["%tC"] == read["%tc"], "the behaviour changed"
assert not pd.api.types.is_datetime64_dtype(by_pandas), "the behaviour changed"
PYTHON
