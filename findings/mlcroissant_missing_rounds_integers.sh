#!/usr/bin/env bash
# mlcroissant 1.1.1: integers of a Parquet file are rounded where one of the column is missing.
#
# Believed: a field whose dataType is sc:Integer has the integers of the Parquet file, which stores them with 64 bits
# and says which are missing.
# Seen: with a missing value in the column, all go through floating point numbers: 9007199254740993 is
# 9007199254740992, an int again, so that nothing shows. Without a missing value it is right.
# What follows: hashes and long identifiers of people meet: two neighbours are one person.
set -euo pipefail
beside=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check mlcroissant==1.1.1 pandas==3.1.1 numpy==2.4.6 pyarrow==26.0.1
cd "$work"
PYTHONPATH=$beside PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pyarrow
from croissant_records import records
from pyarrow import parquet

people = [9007199254740992, 9007199254740993, None]
parquet.write_table(pyarrow.table({"missing": people, "full": [*people[:2], 1]}), "people.parquet")
seen = records("people.parquet", "application/x-parquet", missing="Integer", full="Integer")
print("mlcroissant", version("mlcroissant"), seen)
assert [int(one) for one in seen["full"]] == [*people[:2], 1]
assert seen["missing"] == [9007199254740992, 9007199254740992, None], "the behaviour changed"
PYTHON
