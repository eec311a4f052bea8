#!/usr/bin/env bash
# narwhals 2.29.0: one expression makes a person of 17.7 years 17 in polars 2.1.0 and pandas, and 18 in DuckDB 2.0.0.
#
# Believed: an expression means the same for each table that it is run on: a fraction that is cast to a whole number is
# cut off or rounded, and an age that is NaN and clipped at 90 stays NaN.
# Seen: polars and pandas cut off, DuckDB rounds, so that one of two people is of age with it and none with them; pyarrow
# raises an error. And NaN is clipped to 90 by pyarrow and DuckDB, so that who has no age is in the top code; polars
# leaves NaN, and pandas a missing value.
# What follows: call floor() before a cast, and turn NaN into a missing value before clip.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check \
    narwhals==2.29.0 polars==2.1.0 duckdb==2.0.0 pandas==2.3.3 numpy==2.3.5 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa

years = {"years": [17.2, 17.7]}
ages = {"age": [40.0, 97.0, float("nan")]}


def of_each(rows, expression):
    """The column that the expression gives for each kind of table, in the order of its rows."""
    arrow = pa.table(rows)
    tables = {"polars": pl.DataFrame(rows), "pandas": pd.DataFrame(rows), "pyarrow": arrow,
              "duckdb": duckdb.from_arrow(arrow)}
    found = {}
    for name, table in tables.items():
        try:
            column = nw.from_native(table).lazy().select(expression).collect().to_native()
            values = column.to_pylist() if isinstance(column, pa.Table) else column.iloc[:, 0].tolist() \
                if isinstance(column, pd.DataFrame) else column.to_series().to_list()
            found[name] = [str(each if not isinstance(each, dict) else next(iter(each.values()))) for each in values]
        except pa.ArrowInvalid:
            found[name] = "an error"
    return found


whole = of_each(years, nw.col("years").cast(nw.Int64))
floored = of_each(years, nw.col("years").floor().cast(nw.Int64))
top = of_each(ages, nw.col("age").clip(upper_bound=90))
print("narwhals", version("narwhals"), "17.2 and 17.7 years:", whole, "40, 97 and NaN, at most 90:", top)
assert set(map(tuple, floored.values())) == {("17", "17")}
assert whole["polars"] == whole["pandas"] == ["17", "17"] and whole["pyarrow"] == "an error"
assert whole["duckdb"] == ["17", "18"], "the behaviour changed"
assert top["polars"] == top["pandas"] == ["40.0", "90.0", "nan"]
assert top["pyarrow"] == top["duckdb"] == ["40.0", "90.0", "90.0"], "the behaviour changed"
PYTHON
