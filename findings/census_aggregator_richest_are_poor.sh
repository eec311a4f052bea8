#!/usr/bin/env bash
# census-data-aggregator 0.0.8: with pareto=True, those above 200,000 dollars have one each.
#
# Believed: approximate_mean(pareto=True) draws the incomes of the open, highest class from a Pareto distribution that
# begins at its lower bound; the page advises it for incomes.
# Seen: they are drawn from numpy's pareto, which begins at 0 and has no scale: a class from 200,000 adds about a dollar
# for each household. Of two equal classes from 100,000 the mean is 75,000, below each income that there is. In the
# example of the page the mean falls from 98,045 to 60,365.
# What follows: the mean is as if the richest had nothing, and its margin of error is small. Multiply what numpy draws,
# plus one, by the lower bound yourself.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check census-data-aggregator==0.0.8 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import numpy as np
from census_data_aggregator import approximate_mean


def mean(**given):
    np.random.seed(1)
    classes = [
        {"min": 100_000, "max": 199_999, "n": 1000, "moe": 0}, {"min": 200_000, "max": 1_000_000, "n": 1000, "moe": 0}
    ]
    return tuple(round(float(number)) for number in approximate_mean(classes, **given))


uniform, pareto = mean(), mean(pareto=True)
print("census-data-aggregator", version("census-data-aggregator"), "uniform:", uniform, "pareto:", pareto)
assert 360_000 < uniform[0] < 390_000
assert 74_000 < pareto[0] < 76_000 and pareto[1] < 2_000, "the behaviour changed"
PYTHON
