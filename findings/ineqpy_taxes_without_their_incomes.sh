#!/usr/bin/env bash
# IneqPy 0.4.1: a tax that the poorest pay is as just as one by income, and Gini's coefficient depends on the rows.
#
# Believed: of incomes of 1, 2, 3 and 4 Gini's coefficient is .25, and Hoover's index .2; a tax of which they pay 4, 3, 2
# and 1 is regressive, with a Kakwani index of -.25 - .25; two people of 1 and two of 3 may be two rows with weights.
# Seen: taxes are sorted by themselves, not by incomes: the index of that tax is 0, as of one in proportion to incomes.
# Gini's coefficient is .333; of the two and two it is .333 as four rows and .5 as two rows with weights of 2, where both
# are .25 (the covariance is that of a sample, with ranks at the upper ends of their steps). Hoover's index is 1.5.
# Theil's index, and Atkinson's below 1, are right.
# What follows: compare no coefficient with one of another program, nor of tables with other numbers of rows.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check \
    IneqPy==0.4.1 pandas==2.3.3 numpy==2.3.5 numba==0.62.1 scipy==1.17.1
cd "$work"
"$work/venv/bin/python" -W ignore - <<'PYTHON'
from importlib.metadata import version

import numpy as np
from ineqpy import inequality

incomes = np.array([1.0, 2, 3, 4])
share = incomes / incomes.sum()
# by the difference of all pairs, divided by twice the mean, and by half the distance of shares
by_pairs = abs(incomes[:, None] - incomes).mean() / (2 * incomes.mean())
by_shares = abs(share - 1 / 4).sum() / 2
seen = {
    "Gini": inequality.gini(incomes),
    "two and two, as rows": inequality.gini(np.array([1.0, 1, 3, 3])),
    "two and two, by weights": inequality.gini(np.array([1.0, 3]), weights=np.array([2.0, 2])),
    "Hoover": inequality.hoover(incomes),
    "Kakwani, in proportion": inequality.kakwani(incomes / 10, incomes),
    "Kakwani, the other way round": inequality.kakwani(incomes[::-1] / 10, incomes),
    "Theil": inequality.theil(incomes),
}
seen = {name: round(float(value), 3) + 0.0 for name, value in seen.items()}
print("IneqPy", version("IneqPy"), seen, "right:", by_pairs, by_shares)
assert (by_pairs, round(by_shares, 9)) == (0.25, 0.2) and seen["Theil"] == 0.106
assert (seen["Gini"], seen["Hoover"]) == (0.333, 1.5), "the behaviour changed"
assert (seen["two and two, as rows"], seen["two and two, by weights"]) == (0.333, 0.5), "the behaviour changed"
assert seen["Kakwani, in proportion"] == seen["Kakwani, the other way round"] == 0, "the behaviour changed"
PYTHON
