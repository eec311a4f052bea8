#!/usr/bin/env bash
# medcalc-bench 1.7.0: in SOFA, a circulation without any ailment has two points, and one that fails has one.
#
# Believed: a normal blood pressure without drugs has 0 points, less than 70 mmHg 1, a little dopamine 2, and much
# noradrenaline, or less than 200 ml of urine a day, 4.
# Seen: no dopamine is "at most 5" of it, and that has 2 points: each person whose pressure isn't low has them. Less
# than 70 mmHg has 1. Much noradrenaline without dopamine has 2, and the 4 points are never given. 100 ml of urine are
# less than 500 first, 3 points.
# What follows: two points more are a sepsis by its definition: all who are well have it. Count the circulation
# yourself.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check medcalc-bench==1.7.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from medcalc.sofa import compute_sofa_explanation

HEALTHY = {
    "partial_pressure_oxygen": (95.0, "mm Hg"), "fio2": (0.21, ""), "platelet_count": (250_000.0, "µL"), "gcs": 15,
    "bilirubin": (0.8, "mg/dL"), "sys_bp": (120.0, "mm Hg"), "dia_bp": (80.0, "mm Hg"),
}
CREATININE = {"creatinine": (0.9, "mg/dL")}


def points(**more):
    return compute_sofa_explanation({**HEALTHY, **more})["Answer"]


healthy = points(**CREATININE)
failing = points(**CREATININE, sys_bp=(80.0, "mm Hg"), dia_bp=(50.0, "mm Hg"))
drugs = points(**CREATININE, norepinephrine=(0.5, "µg/kg/min"))
urine = {amount: points(urine_output=(amount, "mL/day")) - healthy for amount in (1500.0, 400.0, 100.0)}
print("medcalc-bench", version("medcalc-bench"), "healthy:", healthy, "60 mmHg:", failing, "noradrenaline:", drugs)
print("points by urine:", urine)
assert (healthy, failing, drugs) == (2, 1, 2), "the behaviour changed: 0, 1 and 4 would be right"
assert urine == {1500.0: 0, 400.0: 3, 100.0: 3}, "the behaviour changed: 4 would be right of 100"
PYTHON
