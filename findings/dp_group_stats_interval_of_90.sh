#!/usr/bin/env bash
# dp-group-stats 0.1.2: an interval of 90 % holds 95 % of what the noise does.
#
# Believed: laplace_ci_half_width(..., confidence=0.9) is as wide as nine in ten values of laplace_noise with the same
# parameters: 2.303 times the scale.
# Seen: it is 2.996 times the scale, and 95 in 100 are within: half of what is left is taken for each side, as of a
# normal distribution, and then all of it is put on both. An interval of 95 % holds 97.5 %.
# What follows: results that differ are said to be alike. Ask for .8 to have .9.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check dp-group-stats==0.1.2
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import random
from importlib.metadata import version

from dp_group_stats import laplace_ci_half_width, laplace_noise

rng = random.Random(1)
noise = [abs(laplace_noise(epsilon=1, sensitivity=1, rng=rng)) for _ in range(200_000)]


def held(people, **given):
    half_width, shown = laplace_ci_half_width(epsilon=1, sensitivity=1, n_users=people, **given)
    return round(sum(each / people <= half_width for each in noise) / len(noise), 2), round(half_width * shown, 3)


seen = {"ninety": held(100), "eighty": held(100, confidence=0.8)}
exact = round(sum(each <= 2.3026 for each in noise) / len(noise), 2)
print("dp-group-stats", version("dp-group-stats"), "share within, width in scales:", seen, "within 2.3026:", exact)
assert exact == 0.9
assert seen["ninety"] == (0.95, 2.996) and seen["eighty"] == (0.9, 2.303), "the behaviour changed"
PYTHON
