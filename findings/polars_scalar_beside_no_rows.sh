#!/usr/bin/env bash
# polars 2.1.0: a scalar beside typed columns of no rows takes the columns' types away.
#
# Believed: pl.DataFrame({"name": pl.Series([], dtype=pl.Binary), "here": True}) has the columns name: Binary and
# here: Boolean, as it has with one row and more, so that it can be put above another table by pl.concat.
# Seen: both columns are Null, and pl.concat with a table that has rows raises SchemaError. With a list or a typed
# column of no entries in place of the scalar, the other columns keep their types.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check polars==2.1.0
"$work/venv/bin/python" - <<'PYTHON'
import polars as pl

none = pl.Series([], dtype=pl.Binary)
with_scalar = pl.DataFrame({"name": none, "here": True}).schema
with_column = pl.DataFrame({"name": none, "here": pl.Series([], dtype=pl.Boolean)}).schema
with_a_row = pl.DataFrame({"name": pl.Series([b"x"]), "here": True}).schema
print("polars", pl.__version__)
print("a scalar, no rows:  ", dict(with_scalar))
print("a column, no rows:  ", dict(with_column))
print("a scalar, one row:  ", dict(with_a_row))
assert with_scalar == {"name": pl.Null, "here": pl.Null}, "the behaviour changed"
assert with_column == with_a_row == {"name": pl.Binary, "here": pl.Boolean}, "the behaviour changed"
PYTHON
