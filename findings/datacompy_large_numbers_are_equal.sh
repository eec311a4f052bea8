#!/usr/bin/env bash
# datacompy 1.1.0: two tables whose identifiers differ match, at a tolerance of 0.
#
# Believed: with abs_tol and rel_tol of 0 (the defaults) integers and decimals match if they are equal: 64-bit keys of
# people, such as hashes, that differ by one do not.
# Seen: numbers are compared as floats of 64 bits. 9007199254740993 matches 9007199254740992, with pandas and with polars,
# matches() is true, and no row is named; so do the decimals 12345678901234567.01 and .02. Below 2^53 all is well.
# As a key the two are told apart: the same numbers in join_columns do not meet.
# What follows: cast large integers and decimals to text in both tables before you compare them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check datacompy==1.1.0 pandas==2.3.3 polars==1.44.2 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from decimal import Decimal
from importlib.metadata import version

import pandas as pd
import polars as pl
from datacompy import PandasCompare, PolarsCompare


def match(compare, frame, one, other, key="row"):
    tables = (frame({"row": [1, 2], "person": [1, last]}) for last in (one, other))
    return bool(compare(*tables, join_columns=key).matches())


large, decimals = (2**53 + 1, 2**53), (Decimal("12345678901234567.01"), Decimal("12345678901234567.02"))
seen = {
    "pandas": match(PandasCompare, pd.DataFrame, *large),
    "polars": match(PolarsCompare, pl.DataFrame, *large),
    "small": match(PolarsCompare, pl.DataFrame, 2**53 - 1, 2**53 - 2),
    "as a key": match(PolarsCompare, pl.DataFrame, *large, key="person"),
}
money = (pl.DataFrame({"row": [1], "sum": [value]}, schema_overrides={"sum": pl.Decimal(38, 2)}) for value in decimals)
seen["decimals"] = bool(PolarsCompare(*money, join_columns="row").matches())
print("datacompy", version("datacompy"), seen)
assert seen["pandas"] and seen["polars"] and seen["decimals"], "the behaviour changed"
assert not seen["small"] and not seen["as a key"]
PYTHON
