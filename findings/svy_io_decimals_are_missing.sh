#!/usr/bin/env bash
# svy-io 0.7.1: decimals are written as missing values, and times of a day to .sav files, too.
#
# Believed: a column of a type that the format does not have is refused, as durations and dates are for .dta files
# ("cannot store"), or written as numbers or text.
# Seen: each decimal is missing in the .sav and the .dta file that are made of a polars frame, and each time of a day
# in the .sav file. The functions return the frame with its values, so that looking at that shows nothing.
# What follows: amounts of money from a database arrive as an empty column. Cast them to Float64 before.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check svy-io==0.7.1 polars==2.1.0 pyarrow==26.0.1 pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from datetime import time
from decimal import Decimal
from importlib.metadata import version

import polars as pl
import pyreadstat
from svy_io import write_dta, write_sav

table = pl.DataFrame({"paid": [Decimal("1.50"), Decimal("20.25")], "rate": [0.5, 0.25]})
returned = write_sav(table.with_columns(seen=pl.Series([time(8, 30), time(9)])), "paid.sav")
write_dta(table, "paid.dta")
sav = pyreadstat.read_sav("paid.sav", output_format="polars")[0].to_dict(as_series=False)
dta = pyreadstat.read_dta("paid.dta", output_format="polars")[0].to_dict(as_series=False)
print("svy-io", version("svy-io"), "returned:", returned["paid"].to_list(), "in .sav:", sav, "in .dta:", dta)
assert returned["paid"].to_list() == table["paid"].to_list()
assert sav["rate"] == dta["rate"] == [0.5, 0.25]
assert sav["paid"] == dta["paid"] == [None, None], "the behaviour changed"
assert sav["seen"] == [None, None], "the behaviour changed"
try:
    write_dta(pl.DataFrame({"seen": [time(8, 30)]}), "seen.dta")
except ValueError as error:
    print("a time for Stata is refused:", str(error)[:60])
else:
    raise SystemExit("the behaviour changed")
PYTHON
