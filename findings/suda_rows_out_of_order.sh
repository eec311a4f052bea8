#!/usr/bin/env bash
# suda 0.2.2: where the index is not 0, 1, 2, rows get the values and scores of other rows.
#
# Believed: suda(table) returns the rows that were given, with a score for each; a table that was sorted before has the
# same scores.
# Seen: found uniques are numbered from 0 by their place, and put together with the table by its index, where the
# largest of the values that meet is taken. Of five people in the opposite order, the one who is alone in town B has the
# score of another person, and the first one is said to be a man of town B, who was a woman of town A. No error: rows,
# columns and the sum of scores are as before.
# What follows: call reset_index(drop=True) before. A sorted or filtered table is published with other values.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check suda==0.2.2 pandas==2.3.3 numpy==1.26.4
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from suda import suda

people = pd.DataFrame({
    "sex": ["F", "F", "M", "M", "M"], "town": ["A", "A", "A", "A", "B"], "job": ["x", "y", "x", "y", "y"]
})


def described(table):
    scored = suda(table.copy(), max_msu=3)
    return {at: (*scored.loc[at, ["sex", "town", "job"]], int(scored.loc[at, "suda"])) for at in table.index}


in_order, turned = described(people), described(people.set_axis([4, 3, 2, 1, 0]))
print("suda", version("suda"), "in order:", in_order, "turned:", turned)
assert in_order[0] == ("F", "A", "x", 2) and in_order[4] == ("M", "B", "y", 5)
assert turned[4] == ("M", "B", "y", 5) and turned[0] == ("M", "B", "y", 2), "the behaviour changed"
assert [row[3] for row in turned.values()] != [row[3] for row in in_order.values()], "the behaviour changed"
PYTHON
