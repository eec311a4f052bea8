#!/usr/bin/env bash
# DuckDB 2.0.0, polars 2.1.0: an enumeration loses its order in either direction.
#
# Believed: low < middle < high in an enumeration of DuckDB or of polars is so in the other one too: both have the
# type.
# Seen: an Enum of polars is VARCHAR in DuckDB, and an ENUM of DuckDB is a Categorical in polars, ordered as text.
# So the highest risk of high, low and middle is middle, and nobody of those above low is high: one row where there
# are two. The values themselves arrive.
# What follows: max, ORDER BY, < and window functions give other answers after the transfer, and none fails.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check duckdb==2.0.0 polars==2.1.0 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import duckdb
import polars as pl

risks = pl.DataFrame({"risk": pl.Series(["high", "low", "middle"], dtype=pl.Enum(["low", "middle", "high"]))})
above = pl.col("risk") > "low"
assert risks["risk"].max() == "high" and risks.filter(above).height == 2
there = duckdb.sql("SELECT max(risk), typeof(max(risk)), count(*) FILTER (risk > 'low') FROM risks").fetchall()[0]
duckdb.sql("CREATE TYPE risk AS ENUM ('low', 'middle', 'high')")
duckdb.sql("CREATE TABLE own AS SELECT risk::VARCHAR::risk AS risk FROM risks")
assert duckdb.sql("SELECT max(risk), count(*) FILTER (risk > 'low'::risk) FROM own").fetchall() == [("high", 2)]
back = duckdb.sql("FROM own").pl()
print("polars", pl.__version__, "in DuckDB", duckdb.__version__, there)
print("DuckDB in polars:", back.schema, back["risk"].max(), back.filter(above).height)
assert there == ("middle", "VARCHAR", 1), "the behaviour changed"
assert (back["risk"].max(), back.filter(above).height) == ("middle", 1), "the behaviour changed"
PYTHON
