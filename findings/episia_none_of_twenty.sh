#!/usr/bin/env bash
# episia 0.1.3: the exact interval for none of twenty ends at 3.7 %, and more confidence makes it narrower.
#
# Believed: by Clopper and Pearson, where none of twenty fell ill, up to 16.8 % may be at risk, with a confidence of 95
# %, and up to 23.3 % with one of 99 %.
# Seen: for none and for all, half of the confidence (.475) is taken where half of what is left (.025) should be: 3.7 %
# with 95 %, 3.5 % with 99 %, and 23.3 % with 1 %. One of twenty goes up to 24.9 %, rightly. And "exact" is no method,
# and silently another one, Wilson's.
# What follows: a small study without a case proves almost safety. Take binomtest of scipy.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pandas==2.3.3 numpy==2.3.5 scipy==1.17.1
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps episia==0.1.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from episia.stats.descriptive import proportion_ci
from scipy.stats import binomtest


def highest(cases, confidence):
    return round(float(proportion_ci(cases, 20, method="clopper_pearson", confidence=confidence).ci_upper), 3)


def right(cases, confidence):
    return round(float(binomtest(cases, 20).proportion_ci(confidence, method="exact").high), 3)


none = {confidence: (highest(0, confidence), right(0, confidence)) for confidence in (0.01, 0.95, 0.99)}
one = highest(1, 0.95), right(1, 0.95)
exact = proportion_ci(0, 20, method="exact").method
print("episia", version("episia"), "none of twenty, and by scipy:", none, "one of twenty:", one, "exact is", exact)
assert one == (0.249, 0.249)
assert [low for low, _ in none.values()] == [0.233, 0.037, 0.035], "the behaviour changed"
assert none[0.95][1] == 0.168 and none[0.99][1] == 0.233
assert exact == "wilson", "the behaviour changed"
PYTHON
