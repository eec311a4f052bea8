#!/usr/bin/env bash
# pyreadstat 1.3.7: a SAS datetime that is shown as a date (DTDATE) is read as a day thousands of years on.
#
# Believed: DTDATE9 shows the day of a value that counts seconds, as DATETIME20 does, so that 2 January 1960 is
# read as that day.
# Seen: its seconds are read as days: 86,400 is 21 July 2196, and a moment of this century raises OverflowError,
# which fails the whole table. DATETIME20 on the same numbers is read rightly.
# What follows: a file that SAS shows rightly can't be read, or has dates far ahead.
# disable_datetime_conversion=True reads it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import pandas as pd
import pyreadstat

seconds = pd.DataFrame({"seen": [0.0, 86_400.0]})
today = pd.DataFrame({"seen": [23_000 * 86_400.0]})
days = {}
for display in ("DATETIME20", "DTDATE9"):
    pyreadstat.write_xport(seconds, "visits.xpt", variable_format={"seen": display})
    days[display] = [str(day)[:10] for day in pyreadstat.read_xport("visits.xpt")[0]["seen"]]
print("pyreadstat", pyreadstat.__version__, "seconds since 1960:", seconds["seen"].tolist(), days)
pyreadstat.write_xport(today, "visits.xpt", variable_format={"seen": "DTDATE9"})
try:
    refused = not len(pyreadstat.read_xport("visits.xpt")[0])
except OverflowError as error:
    refused = True
    print("22 December 2022:", type(error).__name__, error)
assert days == {"DATETIME20": ["1960-01-01", "1960-01-02"], "DTDATE9": ["1960-01-01", "2196-07-21"]}
assert refused, "the behaviour changed"
PYTHON
