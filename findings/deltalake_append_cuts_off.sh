#!/usr/bin/env bash
# deltalake 1.6.6: what is appended to a Delta table is turned into the type of its column, and fractions are cut
# off.
#
# Believed: rows whose column has another type than the table's are refused, as pyiceberg does, unless `schema_mode`
# says otherwise.
# Seen: appended to whole numbers, 2.7 becomes 2, True becomes 1 and the text 07 becomes 7; appended to text, the
# number 7 becomes 7 as text; appended to floating point, 2**53 + 1 becomes 2**53. Nothing is said. A number that is
# too large and text that is no number are refused, so is a decimal of another scale.
# What follows: the first delivery that has half points, or codes as text, changes them in the table for good.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check deltalake==1.6.6 polars==2.1.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import polars as pl
from deltalake import DeltaTable, write_deltalake

cases = [([1], [2.7], 2), ([1], [-0.9], 0), ([1], [True], 1), ([1], ["07"], 7), (["a"], [7], "7"), ([0.5], [2**53 + 1], 2.0**53)]
for number, (there, appended, seen) in enumerate(cases):
    write_deltalake(f"table_{number}", pl.DataFrame({"score": there}))
    write_deltalake(f"table_{number}", pl.DataFrame({"score": appended}), mode="append")
    read = pl.read_delta(f"table_{number}")["score"]
    print("to", there, "was appended", appended, "and there is", read.to_list(), read.dtype)
    assert sorted(read.to_list(), key=str) == sorted([*there, seen], key=str), "the behaviour changed"
try:
    write_deltalake("table_0", pl.DataFrame({"score": ["x"]}), mode="append")
except Exception as error:
    print("x is refused:", str(error)[:60])
else:
    raise SystemExit("the behaviour changed")
print("versions of table_0:", DeltaTable("table_0").version() + 1)
PYTHON
