#!/usr/bin/env bash
# medcalc-bench 1.7.0: each patient has one criterion of SIRS too many, if the heart is slow.
#
# Believed: a heart rate of 70 meets no criterion, as one of more than 90 does.
# Seen: a healthy patient, of 37 degrees, 14 breaths and 7,000 white cells, meets one criterion with a heart rate of
# 70, and one with 95. The explanation that comes with it says that 70 does not meet the criterion and that the total
# remains 0; the next line counts on from 1. So two criteria, the usual threshold, are one.
# What follows: count the criteria by hand, or leave one out where the heart rate is 90 or less. Nothing but the
# number tells of it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check medcalc-bench==1.7.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from medcalc.sirs_criteria import sirs_criteria_explanation


def criteria(heart_rate, temperature):
    """How many of four criteria are met."""
    patient = {"heart_rate": (heart_rate, "beats per minute"), "temperature": (temperature, "degrees celsius")}
    patient |= {"wbc": (7000.0, "m^3"), "respiratory_rate": (14.0, "breaths per minute")}
    return sirs_criteria_explanation(patient)


slow, fast, warm = criteria(70.0, 37.0), criteria(95.0, 37.0), criteria(70.0, 38.5)
answers = {"70": slow["Answer"], "95": fast["Answer"], "70, 38.5 degrees": warm["Answer"]}
print("medcalc-bench", version("medcalc-bench"), "criteria met:", answers)
assert fast["Answer"] == 1
said = " ".join(slow["Explanation"].split())
assert "does not meet SIRS criteria for heart rate, and so the current total remains at 0" in said
assert (slow["Answer"], warm["Answer"]) == (1, 2), "the behaviour changed"
PYTHON
