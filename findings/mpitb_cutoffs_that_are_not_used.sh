#!/usr/bin/env bash
# mpitb 0.2: figures that are named by a cutoff are of another one, and a household without an answer is not poor.
#
# Believed: with cutoffs of 20 and 80, the censored headcount ratio of an indicator at 80 counts the households that are
# poor at 80; and a household one of whose answers is missing is left out, or remains open.
# Seen: each figure of an indicator appears twice for each cutoff, once computed with 20 and once with 80, whichever it
# is named by: of four households, of whom one is poor at 80, 0.5 and 0.25 are both given at 80, and the first, which a
# lookup finds, is the one of 20. And a household without one answer is not poor, though deprived in the others, and
# still counts among all. No error, no warning.
# What follows: ask for one cutoff in each call, in klist and in indklist; drop households with a missing answer first.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check mpitb==0.2 pandas==2.3.3 scipy==1.17.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from mpitb.core import MPIToolbox

households = pd.DataFrame({"water": [1, 1, 0, 0], "school": [1, 0, 0, 0]})


def figures(households, cutoffs, measure):
    toolbox = MPIToolbox()
    toolbox.set("index", dimensions=[(["water"], "living"), (["school"], "education")])
    found = toolbox.est(households.copy(), "index", cutoffs, indklist=cutoffs, indmeasures=["hdk"], aux=[])
    return [(each["k"], float(each["b"])) for each in found if (each["measure"], each.get("indicator")) == measure]


water, poor = ("hdk", "water"), ("H", None)
apart = figures(households, [20], water) + figures(households, [80], water)
together = figures(households, [20, 80], water)
silent = figures(households.astype(float).assign(school=[None, 0, 0, 0]), [20], poor)
print("mpitb", version("mpitb"), "poor and without water, cutoffs apart:", apart, "together:", together)
print("poor at 20:", figures(households, [20], poor), "where the first one's school is missing:", silent)
assert apart == [(20, 0.5), (80, 0.25)]
assert together == [(20, 0.5), (80, 0.5), (20, 0.25), (80, 0.25)], "the behaviour changed"
assert silent == [(20, 0.25)], "the behaviour changed: .5, or 1 of 3, would be right"
PYTHON
