#!/usr/bin/env bash
# anjana 1.2.3: the interval that generate_intervals gives a number need not contain it.
#
# Believed: an age of 10 is generalized to [10, 20), as the brackets say that the lower bound belongs to an
# interval and the upper one does not.
# Seen: it is given [0, 10), and 20 is given [10, 20). Only the least bound stands in its own interval: 0 is in [0,
# 10), too, so that an age of 0 and one of 10 share it.
# What follows: round ages, the most frequent ones in many surveys, are published in an interval that is false of
# them, and intervals read by others place them one step down.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check anjana==1.2.3 pandas==2.3.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from anjana.anonymity.utils import utils

ages = [0, 1, 9, 10, 11, 19, 20]
intervals = utils.generate_intervals(ages, 0, 20, 10)
print("anjana", version("anjana"), dict(zip(ages, intervals, strict=True)))
bounds = [tuple(int(bound) for bound in interval[1:-1].split(",")) for interval in intervals]
outside = [age for age, (low, high) in zip(ages, bounds, strict=True) if not low <= age < high]
print("not in their interval:", outside)
assert outside == [10, 20], "the behaviour changed"
PYTHON
