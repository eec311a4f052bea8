#!/usr/bin/env bash
# acro 1.0.2: a mode of five people is shown, and one group of five hides the deviations of all groups.
#
# Believed: with `suppress=True`, a cell of fewer than ten people is suppressed, whatever is computed, and a cell of
# thirty is not because of another one.
# Seen: of towns with 30, 15 and 5 people, the third one's mean is suppressed, its mode is published as "ok", though
# all five have that value; and the standard deviations of all three are suppressed, as the least degrees of freedom of
# any cell decide for all.
# What follows: look at modes by hand; leave small groups out before deviations are asked for.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check acro==1.0.2 pandas==2.3.3 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import logging
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
import pandas as pd
from acro import ACRO

acro = ACRO(suppress=True)
logging.disable(logging.CRITICAL)
people = pd.DataFrame({"town": ["A"] * 30 + ["B"] * 15 + ["C"] * 5, "pay": [10.0, 11, 12, 13, 14] * 9 + [10.0] * 5})
seen = {
    asked: acro.pivot_table(people, index="town", values="pay", aggfunc=asked)["pay"].isna().tolist()
    for asked in ("mean", "mode", "std")
}
print("acro", version("acro"), "suppressed:", seen)
assert seen["mean"] == [False, False, True]
assert seen["mode"] == [False, False, False], "the behaviour changed"
assert seen["std"] == [True, True, True], "the behaviour changed"
PYTHON
