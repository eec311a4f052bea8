#!/usr/bin/env bash
# umbra-k 0.1.0: which column is divided depends on the unit that it is measured in.
#
# Believed: the column with the widest *normalized* span is divided, as the readme defines it, so that wages in euros
# and in thousands of euros give the same groups.
# Seen: the span is the difference of the largest and the smallest value. Wages from 1,000 to 1,300 are divided rather
# than ages from 20 to 80, and each age is published as 20-80; in thousands, the same wages stay whole, and the ages
# are exact. (Text counts by its number of values.)
# What follows: beside an amount of money, ages are hardly ever divided. Divide each column by its range before.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check umbra-k==0.1.0 pandas==2.3.3 numpy==2.4.6 scikit-learn==1.9.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from umbra_k import MondrianAnonymizer

table = pd.DataFrame({"age": [20] * 4 + [80] * 4, "wage": [1000, 1100, 1200, 1300] * 2})
groups = {}
for unit in (1, 1000):
    published = MondrianAnonymizer(k=4, quasi_id=["age", "wage"]).fit_transform(table.assign(wage=table["wage"] / unit))
    groups[unit] = sorted(set(map(tuple, published.to_numpy().tolist())))
print("umbra-k", version("umbra-k"), groups)
assert groups[1] == [("20-80", "1000.0-1100.0"), ("20-80", "1200.0-1300.0")], "the behaviour changed"
assert groups[1000] == [("20", "1.0-1.3"), ("80", "1.0-1.3")], "the behaviour changed"
PYTHON
