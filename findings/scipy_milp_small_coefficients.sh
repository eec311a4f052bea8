#!/usr/bin/env bash
# scipy 1.17.1 (HiGHS): a coefficient of 1e-10 is taken for 0, whatever it is multiplied with.
#
# Believed: milp and linprog solve the program that they are given, up to a tolerance of how far a constraint may be
# missed.
# Seen: with 1e-10 x + y >= 1 and 0 <= x <= 1e10, the least y is 0 (x = 1e10), and both answer 1, and that this is
# optimal: HiGHS drops entries of a matrix below 1e-9 as it reads it. With 2e-9 the answer is right. scipy does not
# pass the warning on.
# What follows: shares of people in a large table, such as 1 / 20 billion, vanish from constraints; count in
# millions, so that coefficients are near 1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check scipy==1.17.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import scipy
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

found = {}
for coefficient in (2e-9, 1e-10):
    most = 1 / coefficient
    mixed = milp([0, 1], constraints=LinearConstraint([[coefficient, 1]], 1), bounds=Bounds([0, 0], [most, 10]))
    linear = linprog([0, 1], A_ub=[[-coefficient, -1]], b_ub=[-1], bounds=[(0, most), (0, 10)])
    found[coefficient] = (round(mixed.fun, 6), round(linear.fun, 6))
    print("scipy", scipy.__version__, coefficient, "least y by milp, linprog:", found[coefficient], mixed.message)
    assert mixed.success and linear.success
assert found[2e-9] == (0, 0)
assert found[1e-10] == (1, 1), "the behaviour changed"
PYTHON
