#!/usr/bin/env bash
# pyiceberg 0.12.0: `not in` is true of a missing value, and `!=` is not.
#
# Believed: `ward not in ('a', 'q')` is `ward != 'a' and ward != 'q'`, and no filter but `is null` shows rows whose
# ward is missing, as in SQL.
# Seen: a scan with `not in` shows the row without a ward, and one with two `!=`, or `not (ward = 'a' or ward =
# 'q')`, does not. A deletion with the same `not in` leaves the row that the scan showed. polars and DuckDB show it
# in no case.
# What follows: counting the rows before they are deleted counts others than those that are deleted, and a list of
# one more ward changes who is in the answer, beside those of that ward.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "pyiceberg[sql-sqlite,pyarrow]==0.12.0" pyarrow==26.0.1 duckdb==2.0.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import os
from importlib.metadata import version

import duckdb
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

os.mkdir("warehouse")
catalog = SqlCatalog("here", uri="sqlite:///catalog.db", warehouse=f"file://{os.getcwd()}/warehouse")
catalog.create_namespace("clinic")
people = pa.table({"id": [1, 2, 3], "ward": ["a", None, "b"]})
table = catalog.create_table("clinic.people", schema=people.schema)
table.append(people)
filters = ("ward not in ('a', 'q')", "ward != 'a' and ward != 'q'", "not (ward = 'a' or ward = 'q')")
shown = {one: sorted(table.scan(row_filter=one).to_arrow()["id"].to_pylist()) for one in filters}
by_duckdb = {one: [row[0] for row in duckdb.sql(f"SELECT id FROM people WHERE {one} ORDER BY id").fetchall()] for one in filters}
table.delete(filters[0])
left = sorted(table.scan().to_arrow()["id"].to_pylist())
print("pyiceberg", version("pyiceberg"), shown, "DuckDB", duckdb.__version__, by_duckdb, "left after not in:", left)
assert all(answer == [3] for answer in by_duckdb.values())
assert shown[filters[1]] == shown[filters[2]] == [3]
assert shown[filters[0]] == [2, 3] and left == [1, 2], "the behaviour changed"
PYTHON
