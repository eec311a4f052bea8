#!/usr/bin/env bash
# pycanon 1.3.6: enhanced beta-likeness is a number where no beta is enough.
#
# Believed: enhanced beta is the least beta under which each value's gain in each class, (share in the class - share in
# the table) / share in the table, is at most min(beta, -log(share in the table)), as Cao and Karras define it (PVLDB
# 2012, Definition 3). Where a gain is above -log(share) there is none: a frequent value has a class for itself.
# Seen: of five with flu among eight people, four are a class of flu alone. Flu gains .6, and may gain .47. The answer is
# 1.0: the largest gain of all values is compared with the largest -log(share), which is that of the rarest value.
# What follows: the enhancement, that no value reaches a share of 1, is not seen to be broken. anjana 1.2.3, which asks
# pycanon when to stop, publishes such tables under enhanced beta 1.
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

illnesses = ["flu"] * 4 + ["flu", "gout", "gout", "HIV"]
people = pd.DataFrame({"age": ["20-29"] * 4 + ["30-39"] * 4, "illness": illnesses})
beta = float(anonymity.enhanced_beta_likeness(people, ["age"], ["illness"]))
gain, most = (1 - 5 / 8) / (5 / 8), -log(5 / 8)
print("pycanon", version("pycanon"), "enhanced beta:", beta, f"by hand: flu gains {gain:.2f}, and may gain {most:.2f}")
assert isclose(beta, 1) and gain > most, "the behaviour changed"
PYTHON
