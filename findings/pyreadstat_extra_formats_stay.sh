#!/usr/bin/env bash
# pyreadstat 1.3.7: what one call is told about dates holds for every later call of the process.
#
# Believed: `extra_date_formats` of read_dta, read_sav and the others is about the file of that call, as `encoding`
# is.
# Seen: a file is read as the number 20000 at first, and as a date after another call had `extra_date_formats`,
# though the same arguments are given: the list of the library itself is made longer, and nothing makes it shorter.
# What follows: what a file is read as depends on what the process has read before, so that a test alone and all
# tests together, or two workers, disagree.
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

pyreadstat.write_dta(pd.DataFrame({"born": [20000.0]}), "people.dta", variable_format={"born": "%tdNN/DD/CCYY"})
before = pyreadstat.read_dta("people.dta")[0]["born"].tolist()
with_it = pyreadstat.read_dta("people.dta", extra_date_formats=["%tdNN/DD/CCYY"])[0]["born"].tolist()
after = pyreadstat.read_dta("people.dta")[0]["born"].tolist()
print("pyreadstat", pyreadstat.__version__, "before:", before, "with it:", with_it, "after:", after)
assert before == [20000.0] and with_it == [dt.date(2014, 10, 4)]
assert after == with_it, "the behaviour changed"
PYTHON
