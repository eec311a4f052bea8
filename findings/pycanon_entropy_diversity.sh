#!/usr/bin/env bash
# pycanon 1.3.6: a group of two equally frequent values is not entropy 2-diverse.
#
# Believed: the entropy of m equally frequent values is log(m), so that a group of them is entropy m-diverse,
# whatever m is.
# Seen: the answer is m - 1 for m = 2, 3, 4, 6, 7, 8 and 10, and m for 5, 9 and 11: e to the power of the entropy
# is 1.9999999999999998 or so, and cut to a whole number rather than compared with a tolerance.
# What follows: a table that has the best possible group fails a check of what it promises, and one of 5 values
# passes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pycanon==1.3.6 pandas==2.3.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from pycanon import anonymity

answers = {}
for values in range(2, 12):
    group = pd.DataFrame({"age": ["30-39"] * values, "illness": list("abcdefghijk"[:values])})
    answers[values] = anonymity.entropy_l_diversity(group, ["age"], ["illness"])
print("pycanon", version("pycanon"), "values that are equally frequent, and l answered:", answers)
short = [values for values, answer in answers.items() if answer == values - 1]
print("one too few for", short)
assert {2, 3, 4} <= set(short) and answers[5] == 5, "the behaviour changed"
PYTHON
