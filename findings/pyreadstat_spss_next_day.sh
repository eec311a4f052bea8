#!/usr/bin/env bash
# pyreadstat 1.3.7: the last microsecond of a day comes back from an SPSS file as the next day.
#
# Believed: a datetime of microseconds survives a .sav file, or loses its fraction; its day survives in any case.
# Seen: 29 February 2024, 23:59:59.999999 comes back as 1 March 2024, 00:00:00 if pandas holds Python's datetimes
# (dtype object), and as 23:59:59.999998 if it holds its own (datetime64); 12:34:56.789123 comes back as
# 12:34:56.789124. SPSS counts seconds since 1582 in a double, whose steps are 1.9 microseconds by now; a .dta and
# an .xpt file, whose origin is 1960, return both as they were.
# What follows: an end of day that is written as its last microsecond moves events into another day, month or year;
# the same table in Stata's format does not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import datetime as dt

import pandas as pd
import pyreadstat

moments = [dt.datetime(2024, 2, 29, 23, 59, 59, 999_999), dt.datetime(2024, 1, 1, 12, 34, 56, 789_123)]
table = pd.DataFrame({"seen": pd.Series(moments, dtype=object)})
print("pyreadstat", pyreadstat.__version__, "written:", [str(moment) for moment in moments])
back = {}
for ending in ("sav", "dta", "xport"):
    getattr(pyreadstat, f"write_{ending}")(table, "visits")
    read = getattr(pyreadstat, f"read_{ending}")("visits")[0]["seen"]
    back[ending] = [moment.to_pydatetime() for moment in read]
    print(f"{ending:<6}", [str(moment) for moment in back[ending]])
moved = [dt.datetime(2024, 3, 1), dt.datetime(2024, 1, 1, 12, 34, 56, 789_124)]
assert back == {"sav": moved, "dta": moments, "xport": moments}, "the behaviour changed"
PYTHON
