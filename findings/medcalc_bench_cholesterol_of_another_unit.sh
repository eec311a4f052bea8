#!/usr/bin/env bash
# medcalc-bench 1.7.0: Framingham's score takes cholesterol in mmol/L for mg/dL, and then rounds risks of 6 % to nothing.
#
# Believed: the formula is that of its own page, with cholesterol "in mg/dL", and the risk is a percentage.
# Seen: cholesterol is converted to mmol/L before its logarithm is taken, from either unit, and the coefficients are
# those of mg/dL. A man of 55 with 213 mg/dL, 50 of them HDL, and 120 mmHg, who doesn't smoke, has a score of -2.3 for
# .1. The risk is rounded to a tenth before it is multiplied by a hundred: his is 0 % for 6.5 %, a man's of 65 20 % for
# 11 %, and a woman's of 65 0 % for 3 %. No error.
# What follows: people at risk are told that they have none. The formula is a few lines: write it again, with mg/dL.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check medcalc-bench==1.7.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version
from math import exp, log

from medcalc.framingham_risk_score import framingham_risk_score_explanation

UNITS = {"mg/dL": (213.0, 50.0), "mmol/L": (5.51, 1.29)}


def found(sex, age, unit):
    total, high = UNITS[unit]
    person = {
        "sex": sex, "age": (age, "years"), "sys_bp": (120.0, "mm Hg"), "smoker": False, "bp_medicine": False,
        "total_cholestrol": (total, unit), "hdl_cholestrol": (high, unit),
    }
    return framingham_risk_score_explanation(person)["Answer"]


def right(sex, age):
    """The risk in percent by the formula on the function's page, of somebody who doesn't smoke or take medicine."""
    years, total, high, pressure = log(age), log(213), log(50), log(120)
    if sex == "Male":
        score = 52.00961 * years + 20.014077 * total - 0.905964 * high + 1.305784 * pressure
        score += -4.605038 * years * total - 2.93323 * years**2 - 172.300168
        return round(100 * (1 - 0.9402 ** exp(score)), 1)
    score = 31.764001 * years + 22.465206 * total - 1.187731 * high + 2.552905 * pressure
    return round(100 * (1 - 0.98767 ** exp(score - 5.060998 * years * total - 146.5933061)), 1)


people = [("Male", 55), ("Male", 65), ("Female", 65)]
risks = {person: [found(*person, unit) for unit in UNITS] + [right(*person)] for person in people}
print("medcalc-bench", version("medcalc-bench"), "percent, of mg/dL, of mmol/L, and right:", risks)
assert all(milligrams == millimoles for milligrams, millimoles, _ in risks.values())
assert [each[0] for each in risks.values()] == [0.0, 20.0, 0.0], "the behaviour changed"
PYTHON
