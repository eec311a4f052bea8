#!/usr/bin/env bash
# pyjstat 2.4.0: rows that are not in the order of the cube get each other's values.
#
# Believed: Dataset.read of a data frame puts each value to the categories of its row, or refuses rows that are not
# sorted.
# Seen: values are taken in the order of the rows, and categories in the order of their first appearance, so that the
# old people of town A get the value of the young ones of town B. With a row left out, there are fewer values than
# cells, which read back ends in an IndexError.
# What follows: sort by all dimensions before, in the order in which categories first appear, and check that no
# combination is absent (a count of suppressed cells usually is).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyjstat==2.4.0 pandas==3.1.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
import pandas as pd
from pyjstat import pyjstat

rows = [("A", "young", 1), ("B", "young", 3), ("A", "old", 2), ("B", "old", 4)]
table = pd.DataFrame(rows, columns=["town", "age", "value"])
back = pyjstat.Dataset.read(pyjstat.Dataset.read(table).write()).write("dataframe")
seen = sorted(map(tuple, back.to_numpy().tolist()))
print("pyjstat", version("pyjstat"), "were", sorted(rows), "are", seen)
assert seen == [("A", "old", 3), ("A", "young", 1), ("B", "old", 4), ("B", "young", 2)], "the behaviour changed"
short = pyjstat.Dataset.read(table.sort_values(["town", "age"]).iloc[1:])
print("cells", short["size"], "values", short["value"])
assert len(short["value"]) == 3, "the behaviour changed"
PYTHON
