#!/usr/bin/env bash
# pyreadstat 1.3.7: NaN of polars, and a number above 7e75, are infinite in a SAS transport file.
#
# Believed: NaN becomes a missing number in an .xpt file, as it does in an .sav file and from pandas; a number that
# the format can't have is refused, as it is for Stata.
# Seen: NaN of a polars frame and 1e76 are written and read as infinity, and 1e-80 as 0, without a word.
# What follows: a ratio 0/0 that polars left is an infinite value for whoever receives the file, and a mean of the
# column is infinite. fill_nan(None) before writing avoids it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 polars==2.1.0 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import math

import pandas as pd
import polars as pl
import pyreadstat

values = [math.nan, 1e76, 1e-80, 1.5, None]
read = {}
for kind in ("xport", "sav"):
    getattr(pyreadstat, f"write_{kind}")(pl.DataFrame({"RATIO": values}), f"ratios.{kind}")
    reader = getattr(pyreadstat, f"read_{kind}")
    read[kind] = reader(f"ratios.{kind}", output_format="polars")[0]["RATIO"].to_list()
pyreadstat.write_xport(pd.DataFrame({"RATIO": values}), "from_pandas.xport")
read["xport of pandas"] = pyreadstat.read_xport("from_pandas.xport", output_format="polars")[0]["RATIO"].to_list()
print("pyreadstat", pyreadstat.__version__, "polars", pl.__version__, "pandas", pd.__version__, read)
assert read["sav"] == [None, 1e76, 1e-80, 1.5, None]
assert read["xport of pandas"][0] is None
assert read["xport"] == [math.inf, math.inf, 0, 1.5, None], "the behaviour changed"
PYTHON
