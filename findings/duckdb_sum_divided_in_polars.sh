#!/usr/bin/env bash
# DuckDB 2.0.0, polars 2.1.0: a sum that DuckDB made is divided to whole numbers in polars.
#
# Believed: a sum of integers that arrives from DuckDB in polars is a number like any other; divided by a count it is
# the mean, as in SQL.
# Seen: DuckDB's sum of integers has 128 bits and arrives as Decimal(38, 0), and polars divides decimals to the digits
# of the left side, here none: 7 / 2 is 4, and the shares of 1, 2 and 4 are 0, 0 and 1. count_if arrives so, too;
# count(*) is Int64, and 7 / 2 of these is 3.5. Divided by 2.0 it is right.
# What follows: rates that are computed after the query are 0 or 1 (in per cent: rounded), without an error. Cast sums
# to BIGINT or DOUBLE in the query.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check duckdb==2.0.0 polars==2.1.0 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import duckdb
import polars as pl

wards = pl.DataFrame({"ward": ["a", "b", "c"], "patients": [1, 2, 4]})
summed = duckdb.sql("SELECT ward, sum(patients) AS patients FROM wards GROUP BY ward ORDER BY ward").pl()
shares = summed.select(share=pl.col("patients") / pl.col("patients").sum())["share"].to_list()
total = duckdb.sql("SELECT sum(patients) AS s, count_if(patients > 1) AS c, count(*) AS n FROM wards").pl()
means = total.select(by_n=pl.col("s") / 2, by_float=pl.col("s") / 2.0, of_n=pl.col("n") / 2).row(0)
print("DuckDB", duckdb.__version__, "polars", pl.__version__, total.schema)
print("shares", shares, "7 / 2, 7 / 2.0, 3 / 2:", means)
assert total.dtypes == [pl.Decimal(38, 0), pl.Decimal(38, 0), pl.Int64], "the behaviour changed"
assert shares == [0, 0, 1] and means == (4, 3.5, 1.5), "the behaviour changed"
PYTHON
