#!/usr/bin/env bash
# microaggregation 0.1.9: the loss of the best groups depends on the order of the rows.
#
# Believed: calculate_sse_dynamic(numbers, k) is the least sum of squares within groups of k or more, and that is 4 for
# 1, 2, 3, 10, 11, 12 and k = 3, in any order: {1, 2, 3} and {10, 11, 12}.
# Seen: only groups of rows that follow each other are looked at. As 1, 10, 2, 11, 3, 12 the same numbers have 97.3,
# from the C++ code and from the Python code alike.
# What follows: a table in the order of its identifiers looks 24 times as much damaged as it need be. Sort a single
# column before; for several columns the figure is only of the order that was chosen.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check microaggregation==0.1.9 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import numpy as np
from microaggregation import calculate_sse_dynamic

orders = {"sorted": [1, 2, 3, 10, 11, 12], "not sorted": [1, 10, 2, 11, 3, 12]}
loss = {
    (name, cpp): round(float(calculate_sse_dynamic(np.array(numbers, dtype=float)[:, None], 3, use_cpp=cpp)), 2)
    for name, numbers in orders.items() for cpp in (True, False)
}
print("microaggregation", version("microaggregation"), loss)
assert loss["sorted", True] == loss["sorted", False] == 4
assert loss["not sorted", True] == loss["not sorted", False] == 97.33, "the behaviour changed"
PYTHON
