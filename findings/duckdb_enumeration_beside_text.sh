#!/usr/bin/env bash
# DuckDB 2.0.0: an enumeration is compared with a word as text, and with itself by its order.
#
# Believed: `risk > 'low'` goes by the order of the enumeration low, middle, high, as max(risk), ORDER BY and two
# columns do; the word is taken for one of its values.
# Seen: the enumeration is turned into text instead, so that high > low is false and middle > low is true; `risk >
# 'low'::risk` is right. A word that is no value of it is compared as well, where the cast would be refused. polars'
# Enum takes a word for a value.
# What follows: a filter by a threshold finds the middle and leaves out the highest, while the sorted list beside it
# looks right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check duckdb==2.0.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import duckdb

duckdb.sql("CREATE TYPE risk AS ENUM ('low', 'middle', 'high')")
duckdb.sql("CREATE TABLE people AS SELECT unnest(['high', 'low', 'middle'])::risk AS risk")
ordered = [row[0] for row in duckdb.sql("SELECT risk FROM people ORDER BY risk DESC").fetchall()]
filters = ("risk > 'low'", "risk > 'low'::risk", "risk > 'lowest'")
above = {
    one: [row[0] for row in duckdb.sql(f"SELECT risk FROM people WHERE {one} ORDER BY risk").fetchall()]
    for one in filters
}
print("DuckDB", duckdb.__version__, "ordered:", ordered, "above:", above)
assert ordered == ["high", "middle", "low"]
assert above["risk > 'low'::risk"] == ["middle", "high"]
assert above["risk > 'low'"] == above["risk > 'lowest'"] == ["middle"], "the behaviour changed"
PYTHON
