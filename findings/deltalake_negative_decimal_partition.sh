#!/usr/bin/env bash
# deltalake 1.6.6: a negative decimal with a fraction can't be a value of a partition.
#
# Believed: any decimal can be the value of a partition column, as it is written as text.
# Seen: -1.50 is written as "-1.-50", -0.01 as "0.-1", and the write is refused, since that is no decimal. -1.00
# and 1.05 are accepted: fractions above zero are filled up with noughts, and a whole negative number has none.
# What follows: a table that is partitioned by a net amount or a change is written until the first refund appears.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check deltalake==1.6.6 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from decimal import Decimal
from importlib.metadata import version

import deltalake
import pyarrow as pa

outcomes = {}
for amount in ("1.50", "1.05", "-1.00", "-1.50", "-0.01"):
    column = pa.array([Decimal(amount)], pa.decimal128(5, 2))
    try:
        deltalake.write_deltalake(f"amount{amount}", pa.table({"amount": column, "row": [0]}), partition_by=["amount"])
        outcomes[amount] = str(deltalake.DeltaTable(f"amount{amount}").to_pyarrow_table()["amount"][0])
    except Exception as error:
        outcomes[amount] = type(error).__name__
        print(amount, type(error).__name__, error)
print("deltalake", version("deltalake"), outcomes)
assert outcomes["1.50"] == "1.50" and outcomes["1.05"] == "1.05" and outcomes["-1.00"] == "-1.00"
assert outcomes["-1.50"] == outcomes["-0.01"] == "DeltaError", "the behaviour changed"
PYTHON
