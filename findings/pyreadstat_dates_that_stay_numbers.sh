#!/usr/bin/env bash
# pyreadstat 1.3.7: a day is read as a date or as a bare number, depending on how its program shows it.
#
# Believed: what SPSS, Stata and SAS show as a date is read as a date.
# Seen: SPSS' DATE11 and Stata's %td are dates, and the same values as MOYR8 (May 2020), or aligned to the left
# (%-td), are floats: seconds since 1582, days since 1960. So are SAS' MONYY7 and WORDDATE18 beside DATE9.
# What follows: one display more or less turns a column of birthdays into numbers without a unit, and nothing says so.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 polars==2.1.0 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import datetime as dt

import pandas as pd
import pyreadstat

DAY = dt.date(2020, 5, 17)
KEPT = {
    "sav": (float((DAY - dt.date(1582, 10, 14)).days * 86_400), ["DATE11", "MOYR8"]),
    "dta": (float((DAY - dt.date(1960, 1, 1)).days), ["%td", "%-td"]),
    "xport": (float((DAY - dt.date(1960, 1, 1)).days), ["DATE9", "MONYY7", "WORDDATE18"]),
}
print("pyreadstat", pyreadstat.__version__)
for kind, (number, displays) in KEPT.items():
    names = {f"born{at}": display for at, display in enumerate(displays)}
    getattr(pyreadstat, f"write_{kind}")(pd.DataFrame({one: [number] for one in names}), "x", variable_format=names)
    table, about = getattr(pyreadstat, f"read_{kind}")("x", output_format="polars")
    for one in names:
        print(kind, about.original_variable_types[one], table[one][0])
    assert [table[one][0] for one in names] == [DAY, *[number] * (len(names) - 1)], "the behaviour changed"
PYTHON
