#!/usr/bin/env bash
# concentrationMetrics 0.6.0: where one of four has everything, Theil's index is 0, as where all have the same.
#
# Believed: Theil's index of four people, of whom one has everything, is the logarithm of 4, the largest there is, and 0
# if all have the same; Atkinson's is 1; Kolm's is 0 if all have the same.
# Seen: people without anything are dropped before they are counted: theil is 0 in both cases, and so is atkinson with
# epsilon 1. They are counted by gini (.75), by gei with .999, which is 1.387, by atkinson with .99, which is 1; and a
# billionth each instead of nothing gives 1.386. Kolm's index of four times 10 is -9.75, of four times 1 it is -.75: the
# mean of the amounts is taken from their shares.
# What follows: in a table of incomes, those without any make it more equal. Look at gini, too.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check concentrationMetrics==0.6.0 numpy==2.4.6 pandas==2.3.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import numpy as np
from concentrationMetrics import Index

index = Index()
one, nearly, alike = np.array([0.0, 0, 0, 1]), np.array([1e-9, 1e-9, 1e-9, 1]), np.array([10.0] * 4)
seen = {
    "theil": [index.theil(each) for each in (one, nearly, alike)],
    "gei .999": [index.gei(each, 0.999) for each in (one, nearly, alike)],
    "atkinson 1": [index.atkinson(each, 1) for each in (one, nearly, alike)],
    "atkinson .99": [index.atkinson(each, 0.99) for each in (one, nearly, alike)],
    "gini": [index.gini(each) for each in (one, nearly, alike)],
}
seen = {name: [abs(round(float(number), 3)) for number in numbers] for name, numbers in seen.items()}
kolm = [float(index.kolm(np.array([amount] * 4), 1.0)) for amount in (10.0, 1.0)]
print("concentrationMetrics", version("concentrationMetrics"), seen, "kolm of equal amounts:", kolm)
assert seen["gei .999"] == [1.387, 1.387, 0] and seen["atkinson .99"] == [1, 1, 0]
assert seen["gini"] == [0.75, 0.75, 0]
assert seen["theil"] == [0, 1.386, 0] and seen["atkinson 1"] == [0, 1, 0], "the behaviour changed"
assert kolm == [-9.75, -0.75], "the behaviour changed"
PYTHON
