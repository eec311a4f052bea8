#!/usr/bin/env bash
# povertyInequalityMeasures 1.1.1: of equal incomes the Gini coefficient is not 0.
#
# Believed: get_gini is the coefficient of the handbook that it names (World Bank, page 104): 0 where all have the same,
# and .25 for the incomes 1, 2, 3 and 4.
# Seen: the area below the Lorenz curve begins at the poorest row and not at nobody, so that the share of that row is
# left out, and its part of the people is added to the coefficient. Two equal rows have .25, four have .0625; 1, 2, 3
# and 4 have .275, and a single row has 1. No error; it fades where a table is long and no row weighs much. get_sen_index
# is made of it: where all poor people have the same, it is above the handbook's.
# What follows: add a first row of weight 0 yourself: then the answers are right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check povertyInequalityMeasures==1.1.1 pandas==3.1.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from povertyInequalityMeasures.inequality import get_gini


def gini(incomes, weights=None):
    table = pd.DataFrame({"income": incomes, "weight": weights or [1] * len(incomes)})
    return float(get_gini(table, "income", "weight"))


answers = {str(incomes): gini(incomes) for incomes in ([5], [5, 5], [5, 5, 5, 5], [1, 2, 3, 4])}
print("povertyInequalityMeasures", version("povertyInequalityMeasures"), answers)
print("with a first row of weight 0:", gini([0, 5, 5], [0, 1, 1]), gini([0, 1, 2, 3, 4], [0, 1, 1, 1, 1]))
assert list(answers.values()) == [1.0, 0.25, 0.0625, 0.275], "the behaviour changed"
assert gini([5, 5], [100, 100]) == 0.25, "the behaviour changed"
assert gini([0, 5, 5], [0, 1, 1]) == 0 and gini([0, 1, 2, 3, 4], [0, 1, 1, 1, 1]) == 0.25
PYTHON
