#!/usr/bin/env bash
# pandas 3.1.1: read_sas gives dates of a data set as dates, and of a transport file as numbers of days.
#
# Believed: pd.read_sas reads a column with the format DATE9. or E8601DT. as dates from both kinds of file of SAS:
# both state the format of each column.
# Seen: from an .xpt file, dates are numbers of days since 1960 and moments are numbers of seconds, whatever the
# format is. The class that reads .sas7bdat has `convert_dates`, the one for .xpt has no such thing. pyreadstat
# reads dates.
# What follows: a birth date is the number 20000.0, and whoever takes that for days since 1970 makes people ten
# years younger.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import datetime as dt
import inspect

import pandas as pd
import pyreadstat
from pandas.io.sas.sas7bdat import SAS7BDATReader
from pandas.io.sas.sas_xport import XportReader

written = pd.DataFrame({"BORN": [20000.0], "SEEN": [23_000 * 86_400.0]})
pyreadstat.write_xport(
    written, "people.xpt", variable_format={"BORN": "DATE9", "SEEN": "DATETIME20"}, file_format_version=5
)
read = pd.read_sas("people.xpt", format="xport")
other = pyreadstat.read_xport("people.xpt")[0]
print("pandas", pd.__version__, read.to_dict("records"), "pyreadstat", pyreadstat.__version__, other.to_dict("records"))
assert other["BORN"][0] == dt.date(2014, 10, 4) and other["SEEN"][0] == pd.Timestamp("2022-12-21")
assert "convert_dates" in inspect.signature(SAS7BDATReader).parameters
assert "convert_dates" not in inspect.signature(XportReader).parameters, "the behaviour changed"
assert read["BORN"][0] == 20000 and read["SEEN"][0] == 23_000 * 86_400, "the behaviour changed"
PYTHON
