#!/usr/bin/env bash
# DuckDB 2.0.0, polars 2.1.0: without pyarrow, tables go from DuckDB to polars in one way of four, and none back.
#
# Believed: both hand tables over by Arrow's C interface, so that pyarrow (165 MB installed) is not needed between them.
# Seen: `pl.DataFrame(relation)` works. `relation.pl()`, `connection.register(name, frame)` and a frame that a query
# names ask for pyarrow. And a process that took the one way prints at its end that DuckDB's types and functions leaked,
# some thirty lines on standard error; with pyarrow, `relation.pl()` prints nothing.
# What follows: what is installed for readers alone fetches small answers as rows (`fetchall`), with the types that the
# relation states; a program that hands tables to DuckDB installs pyarrow.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check duckdb==2.0.0 polars==2.1.0 numpy
cd "$work"
cat > ways.py <<'PYTHON'
import sys

import duckdb
import polars as pl

connection = duckdb.connect()
frame = pl.DataFrame({"age": [34, 71], "sex": ["F", "M"]})
ways = {
    "DataFrame": lambda: pl.DataFrame(connection.sql("SELECT 34 AS age, 'F' AS sex")),
    "pl": lambda: connection.sql("SELECT 34 AS age").pl(),
    "register": lambda: connection.register("people", frame),
    "named": lambda: connection.sql("SELECT sum(age) FROM frame").fetchall(),
    "fetchall": lambda: connection.sql("SELECT 34 AS age, 'F' AS sex").fetchall(),
}
for way in sys.argv[1:]:
    try:
        ways[way]()
        print(way, "works")
    except (ImportError, duckdb.Error) as error:
        print(way, "asks for pyarrow" if "pyarrow" in str(error) else error)
PYTHON
python="$work/venv/bin/python"
"$python" ways.py DataFrame pl register named fetchall 2> /dev/null | tee seen
diff seen - <<'SEEN'
DataFrame works
pl asks for pyarrow
register asks for pyarrow
named asks for pyarrow
fetchall works
SEEN
"$python" ways.py fetchall 2> quiet
"$python" ways.py DataFrame 2> leaks
echo "lines on standard error: $(wc -l < quiet) after fetchall, $(wc -l < leaks) after DataFrame"
[ ! -s quiet ] && grep -q leaked leaks
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1
"$python" ways.py pl 2> quiet
[ ! -s quiet ]
