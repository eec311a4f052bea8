#!/usr/bin/env bash
# ibis-framework 12.0.0: a missing answer is one more distinct value with polars 2.1.0, and none with DuckDB 2.0.0.
#
# Believed: nunique() of one expression is one number, whatever runs it, and a whole division goes with its remainder:
# -5 is -5 // 3 times 3, and -5 % 3.
# Seen: two diagnoses and a missing one are 3 distinct values with polars, and 2 with DuckDB and SQLite; a town with flu
# and a missing diagnosis has 2, or 1. And -5 // 3 is -2 with all three, but -5 % 3 is 1 with polars, and -2 with the
# others, with which -2 times 3 and -2 more are -8.
# What follows: drop missing values before nunique; write x - x // n * n for the remainder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check \
    "ibis-framework[duckdb,polars,sqlite]==12.0.0" duckdb==2.0.0 polars==2.1.0 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" -W ignore - <<'PYTHON'
import ibis
import pyarrow as pa

people = ibis.memtable(pa.table({
    "town": ["A", "A", "A", "B", "B"],
    "diagnosis": ["flu", "cold", None, "flu", None],
    "number": [5, 4, 3, -3, -5],
}))
diversity = people.group_by("town").aggregate(diagnoses=people.diagnosis.nunique()).order_by("town")
known = people.aggregate(diagnoses=people.diagnosis.nunique(where=people.diagnosis.notnull()))
division = people.filter(people.number == -5).select(whole=people.number // 3, left=people.number % 3)
engines = {"duckdb": ibis.duckdb.connect(), "sqlite": ibis.sqlite.connect(), "polars": ibis.polars.connect()}
seen = {}
for name, engine in engines.items():
    answers = [engine.to_pyarrow(table).to_pylist() for table in (diversity, known, division)]
    seen[name] = ([each["diagnoses"] for each in answers[0]], answers[1][0]["diagnoses"], *answers[2][0].values())
print("ibis-framework", ibis.__version__, "diagnoses of towns, known ones, -5 // 3 and -5 % 3:", seen)
assert {(known, int(whole)) for _, known, whole, _ in seen.values()} == {(2, -2)}
assert seen["duckdb"][0] == seen["sqlite"][0] == [2, 1] and seen["polars"][0] == [3, 2], "the behaviour changed"
assert [seen[name][3] for name in seen] == [-2, -2, 1], "the behaviour changed"
PYTHON
