#!/usr/bin/env bash
# dcurves 1.1.7: a person without a prediction is one whom the model would not treat, and the better strategy changes.
#
# Believed: people whose prediction is missing are left out of a decision curve, or it is refused.
# Seen: they are below each threshold and still count among all. Of ten people one ill person has no prediction: at a
# threshold of a tenth the model's net benefit is .156, below the .222 of treating everybody. Of the nine others it is
# .173, above the .136 of treating all. No warning, and n is 10.
# What follows: call dropna on predictions and outcome before, on all models together, so that they have the same people.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check \
    dcurves==1.1.7 pandas==2.3.3 numpy==2.3.5 scipy==1.17.1 statsmodels==0.15.0 lifelines==0.30.3 matplotlib==3.11.2
cd "$work"
"$work/venv/bin/python" -W ignore - <<'PYTHON'
from importlib.metadata import version

import dcurves
import pandas as pd

people = pd.DataFrame({
    "ill": [1, 1, 0, 0, 1, 0, 0, 0, 0, 0],
    "risk": [None, 0.5, 0.5, 0.2, 0.1, 0.1, 0.1, 0, 0, 0],
})


def net_benefits(people):
    curve = dcurves.dca(data=people, outcome="ill", modelnames=["risk"], thresholds=[0.1]).set_index("model")
    return {name: round(float(curve["net_benefit"][name]), 3) for name in ("risk", "all")}, int(curve["n"]["risk"])


def by_hand(people):
    """True positives less false ones, which at a tenth weigh a ninth, of all."""
    treated = people[people["risk"] >= 0.1]["ill"]
    return round(float((treated.sum() - (1 - treated).sum() / 9) / len(people)), 3)


ten, nine = net_benefits(people), net_benefits(people.dropna())
print("dcurves", version("dcurves"), "of ten, one without a prediction:", ten, "of nine:", nine)
assert by_hand(people.dropna()) == 0.173
assert nine == ({"risk": 0.173, "all": 0.136}, 9)
assert ten == ({"risk": 0.156, "all": 0.222}, 10), "the behaviour changed"
PYTHON
