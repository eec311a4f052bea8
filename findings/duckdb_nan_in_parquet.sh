#!/usr/bin/env bash
# DuckDB 2.0.0: a row whose number is NaN is found or not, by who wrote the Parquet file.
#
# Believed: isnan(bmi) finds the NaN of a Parquet file, and `bmi > 40` too: in DuckDB NaN is greater than every
# number.
# Seen: neither finds it in a file of polars or pyarrow, and `bmi <> 22` misses it where all others are 22: smallest
# and largest number in the statistics leave NaN out, as the format asks for, and DuckDB decides by them that the
# filter is true of nobody. In a file that DuckDB wrote, which has no such statistics beside NaN, and in a frame,
# all three find it. Without a filter, NaN is shown.
# What follows: the check that looks for NaN finds none, and an average over the same file is NaN.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check duckdb==2.0.0 polars==2.1.0 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import duckdb
import polars as pl
import pyarrow.parquet as pq

people = pl.DataFrame({"bmi": [22.0, float("nan"), 22.0]})
people.write_parquet("by_polars.parquet")
pq.write_table(people.to_arrow(), "by_pyarrow.parquet")
duckdb.sql("COPY (FROM people) TO 'by_duckdb.parquet'")
sources = ("people", "'by_duckdb.parquet'", "'by_polars.parquet'", "'by_pyarrow.parquet'")
found = {
    source: [
        duckdb.sql(f"SELECT count(*) FROM {source} WHERE {one}").fetchall()[0][0]
        for one in ("isnan(bmi)", "bmi > 40", "bmi <> 22")
    ]
    for source in sources
}
shown = duckdb.sql("SELECT isnan(bmi) FROM 'by_polars.parquet'").fetchall()
print("DuckDB", duckdb.__version__, "polars", pl.__version__, "found by isnan, > 40, <> 22:", found)
assert shown == [(False,), (True,), (False,)]
assert found["people"] == found["'by_duckdb.parquet'"] == [1, 1, 1]
assert found["'by_polars.parquet'"] == found["'by_pyarrow.parquet'"] == [0, 0, 0], "the behaviour changed"
PYTHON
