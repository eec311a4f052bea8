#!/usr/bin/env bash
# DuckDB 2.0.0 and polars 2.1.0: the time 24:00:00 becomes a missing value.
#
# Believed: 24:00:00, a valid TIME in DuckDB as in PostgreSQL (the end of a day), arrives in polars as a time, or
# is refused.
# Seen: the column is a Time whose value is missing, without a warning. DuckDB counts no missing value in it.
# What follows: an end of opening hours or of a shift is lost as a query's answer is taken as a table of polars.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check duckdb==2.0.0 polars==2.1.0 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import duckdb
import polars as pl

query = duckdb.sql("select unnest([time '23:59:59', time '24:00:00']) as closes")
missing = duckdb.sql("select count(*) from query where closes is null").fetchall()[0][0]
times = query.pl()["closes"]
print("duckdb", duckdb.__version__, "missing:", missing)
print("polars", pl.__version__, "missing:", times.null_count(), times.dtype, times.to_list())
assert missing == 0 and times.dtype == pl.Time, "the behaviour changed"
assert times.null_count() == 1 and times.to_list()[1] is None, "the behaviour changed"
PYTHON
