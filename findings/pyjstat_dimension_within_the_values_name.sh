#!/usr/bin/env bash
# pyjstat 2.4.0: a dimension whose name is a part of the name of the values is left out.
#
# Believed: Dataset.read(table, value="wages") makes a dimension of each other column.
# Seen: a column is one if its name is not *in* "wages", as text: `age` is left out, without a word, and four rows of
# two towns become a cube of two cells with four values. Under "value", the default, `a` and `val` are left out. And
# the numbers stand under the key "wages" of the result, where JSON-stat, and pyjstat itself, look for "value".
# What follows: rename the column of values to `value` before, and look at `size`.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyjstat==2.4.0 pandas==3.1.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import json
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
import pandas as pd
from pyjstat import pyjstat

table = pd.DataFrame({"town": ["A", "A", "B", "B"], "age": ["young", "old"] * 2, "wages": [1, 2, 3, 4]})
cube = json.loads(pyjstat.Dataset.read(table, value="wages").write())
other = json.loads(pyjstat.Dataset.read(table.rename(columns={"wages": "value"})).write())
print("pyjstat", version("pyjstat"), {key: cube.get(key) for key in ("id", "size", "wages", "value")})
assert other["id"] == ["town", "age"] and other["size"] == [2, 2]
assert cube["id"] == ["town"] and cube["size"] == [2], "the behaviour changed"
assert cube["wages"] == [1, 2, 3, 4] and "value" not in cube, "the behaviour changed"
PYTHON
