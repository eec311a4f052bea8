#!/usr/bin/env bash
# pyreadstat 1.3.7: a column of decimals is written as text.
#
# Believed: a number is written as a number, or refused, into a file of SPSS, Stata or SAS: they have numbers.
# Seen: decimals of polars (as an average in PostgreSQL has, or money) become text, `1.10`, in .sav, .dta, .xpt and
# .por alike, and nothing is said; so do bytes (`b'a'`) and lengths of time (`1 day, 6:00:00`).
# What follows: whoever receives the file can't add the column up, and a missing decimal is empty text, which is a
# value there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 polars==2.1.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import datetime as dt
from decimal import Decimal

import polars as pl
import pyreadstat

costs = pl.DataFrame(
    {
        "COST": pl.Series([Decimal("1.10"), None], dtype=pl.Decimal(10, 2)),
        "STAY": pl.Series([dt.timedelta(hours=30), None]),
        "PLAIN": [1.1, None],
    }
)
print("pyreadstat", pyreadstat.__version__, "polars", pl.__version__, costs.schema)
for kind in ("sav", "dta", "xport", "por"):
    getattr(pyreadstat, f"write_{kind}")(costs, f"costs.{kind}")
    read = getattr(pyreadstat, f"read_{kind}")(f"costs.{kind}", output_format="polars")[0]
    print(kind, read.rows())
    assert read.schema["PLAIN"] == pl.Float64
    assert read["COST"].to_list() == ["1.10", ""], "the behaviour changed"
    assert read["STAY"].to_list() == ["1 day, 6:00:00", ""], "the behaviour changed"
PYTHON
