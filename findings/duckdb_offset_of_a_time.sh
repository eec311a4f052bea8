#!/usr/bin/env bash
# DuckDB 2.0.0: a time of day with an offset arrives in polars without it.
#
# Believed: noon in UTC+2 and noon in UTC-5 are two values of a column TIMETZ, and arrive as two, or are refused:
# neither polars nor Arrow has such a type.
# Seen: both arrive as 12:00:00, without an error, from .pl() and from to_arrow_table() alike; fetchall has the
# offset. A TIMESTAMPTZ keeps the moment.
# What follows: what is equal after the transfer was seven hours apart, and a join on it pairs rows that DuckDB
# would not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check duckdb==2.0.0 polars==2.1.0 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import datetime as dt

import duckdb
import polars as pl

query = duckdb.sql("SELECT '12:00:00+02'::TIMETZ AS east, '12:00:00-05'::TIMETZ AS west, east = west AS equal")
rows = query.fetchall()
arrived = query.pl()
print("DuckDB", duckdb.__version__, rows, "polars", pl.__version__, arrived.to_dicts())
assert rows[0][0].utcoffset() - rows[0][1].utcoffset() == dt.timedelta(hours=7) and rows[0][2] is False
assert arrived["east"][0] == arrived["west"][0] == dt.time(12), "the behaviour changed"
assert query.to_arrow_table()["east"].to_pylist() == [dt.time(12)], "the behaviour changed"
PYTHON
