#!/usr/bin/env bash
# pycanon 1.3.6: delta-disclosure does not look at values that a class lacks.
#
# Believed: delta is the largest |log(share in the class / share in the table)| over all sensitive values, as Brickell
# and Shmatikov define it (KDD 2008), so that a class without a value has no finite delta: who is in it is known not to
# have the value.
# Seen: only the values that a class has are looked at. Half of the people are in a class without HIV, and delta is
# 0.69, the other class's.
# What follows: "delta-disclosure private" says nothing of what people are known not to have. anjana 1.2.3, which asks
# pycanon when to stop, publishes tables under delta 1 that have classes without a value.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pycanon==1.3.6 pandas==2.3.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version
from math import isclose, log

import pandas as pd
from pycanon import anonymity

people = pd.DataFrame({"age": ["20-29"] * 4 + ["30-39"] * 4, "illness": ["flu"] * 3 + ["HIV"] + ["flu"] * 4})
delta = anonymity.delta_disclosure(people, ["age"], ["illness"])
print("pycanon", version("pycanon"), "delta:", float(delta), "in the class with HIV, by hand:", log((1 / 4) / (1 / 8)))
print("in the class without it, by hand: log(0 / (1/8)), which is infinite")
assert isclose(delta, log(2)), "the behaviour changed"
PYTHON
