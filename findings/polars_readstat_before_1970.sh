#!/usr/bin/env bash
# polars-readstat 0.25.0: a moment before 1970 is written to an .sav file as a later second.
#
# Believed: the fraction of a second survives in an .sav file (its numbers have room for it), or is cut off.
# Seen: it is cut off towards 1970: 23:59:59.5 of 31 December 1959 is written as midnight of 1 January 1960, that of
# 2024 as 23:59:59. Another reader sees the same, so that it is in the file; in a .dta file the half second survives.
# What follows: a birth in the last second of a day is of the next day, and of the next year, if it is long ago.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check polars-readstat==0.25.0 polars==2.1.0 pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from datetime import datetime
from importlib.metadata import version

import polars as pl
import pyreadstat
from polars_readstat import write_readstat

born = [datetime(1959, 12, 31, 23, 59, 59, 500_000), datetime(2024, 12, 31, 23, 59, 59, 500_000)]
table = pl.DataFrame({"born": born})
write_readstat(table, "born.sav")
write_readstat(table, "born.dta")
sav = pyreadstat.read_sav("born.sav", output_format="polars")[0]["born"].to_list()
dta = pyreadstat.read_dta("born.dta", output_format="polars")[0]["born"].to_list()
print("polars-readstat", version("polars-readstat"), "in .sav:", *sav, "in .dta:", *dta)
assert dta == born
assert sav == [datetime(1960, 1, 1), datetime(2024, 12, 31, 23, 59, 59)], "the behaviour changed"
PYTHON
