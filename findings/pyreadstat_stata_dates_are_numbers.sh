#!/usr/bin/env bash
# pyreadstat 1.3.7: dates of a Stata file are numbers of days, by the way in which Stata would show them.
#
# Believed: a column with the date format %tdNN/DD/CCYY, as Americans show dates, or %tdDD.NN.CCYY, is read as
# dates, as %td is.
# Seen: it is read as the numbers 20000 and 21000; %tdCCYY-NN-DD and %tdD_m_Y are read as dates, because a list has
# these four spellings (%d is the other one). The same holds for %tc and what follows it. pandas reads all of them
# as dates.
# What follows: whoever looks at types finds a number where a date of birth is, and the files of two clinics that
# show dates differently don't fit together. `extra_date_formats` takes further spellings, each in full.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import pandas as pd
import pyreadstat

days = pd.DataFrame({"born": [20000.0, 21000.0]})
read = {}
for display in ("%td", "%tdCCYY-NN-DD", "%tdNN/DD/CCYY", "%tdDD.NN.CCYY"):
    pyreadstat.write_dta(days, "people.dta", variable_format={"born": display})
    read[display] = [str(one) for one in pyreadstat.read_dta("people.dta")[0]["born"]]
    by_pandas = [str(one.date()) for one in pd.read_stata("people.dta")["born"]]
    print(f"{display}: pyreadstat", pyreadstat.__version__, read[display], "pandas", pd.__version__, by_pandas)
    assert by_pandas == ["2014-10-04", "2017-06-30"]
assert read["%td"] == read["%tdCCYY-NN-DD"] == ["2014-10-04", "2017-06-30"]
assert read["%tdNN/DD/CCYY"] == read["%tdDD.NN.CCYY"] == ["20000.0", "21000.0"], "the behaviour changed"
PYTHON
