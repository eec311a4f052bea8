#!/usr/bin/env bash
# anonymity-api 1.0.4: t-closeness is above 1, and grows with the table.
#
# Believed: verify.t_closeness is the distance of a class' values from all values, at most 1, and 0.5 for two classes
# that have one of two equally frequent values each, however many people there are.
# Seen: for each person, not for each value, the difference is added: it is 0.5 with one person in a class, 5 with ten,
# and for numbers 0.5 and 2.63. The bound that anonymize by t-closeness looks at is of the same kind.
# What follows: a table that is far from any t looks worse the larger it is, and no two tables compare.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check anonymity-api==1.0.4 pandas==2.3.3 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from anonymity_api import verify


def closeness(people):
    table = pd.DataFrame({"town": ["A"] * people + ["B"] * people})
    table = table.assign(disease=["flu"] * people + ["gout"] * people, stage=[1] * people + [2] * people)
    return [round(float(verify.t_closeness(table, ["town"], [name])), 2) for name in ("disease", "stage")]


seen = {people: closeness(people) for people in (1, 2, 10)}
print("anonymity-api", version("anonymity-api"), "t by the people in each class:", seen)
assert seen[1] == [0.5, 0.5]
assert seen[2] == [1.0, 0.67] and seen[10] == [5.0, 2.63], "the behaviour changed"
PYTHON
