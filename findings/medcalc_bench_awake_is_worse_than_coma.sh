#!/usr/bin/env bash
# medcalc-bench 1.7.0: in APACHE II, who is awake has twelve points more than who is in a deep coma.
#
# Believed: the coma scale counts as 15 less its score, as the page of the function says; values that are too low have
# points as those that are too high; and 75 years are 6 points, 45 years 2.
# Seen: the score itself is added: 15 points for somebody who is awake, 3 in the deepest coma. Low blood pressure, a
# slow heart, slow breath, acid blood, low sodium, potassium and few red cells have no points: somebody of 30 mmHg has
# as many as a healthy person. White cells per mm³ are taken for thousands of them: all have 4 points. Ages of 45 and
# 75 years are between two rows, and have none. A healthy person has 19 points, and in a coma 7. No error.
# What follows: the sicker the fewer. Take the table, and test any calculator with a person without an ailment: 0
# points.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check medcalc-bench==1.7.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from medcalc.apache_ii import apache_ii_explanation

HEALTHY = {
    "age": (30, "years"), "gcs": 15, "pH": 7.4, "temperature": (37.0, "degrees celsius"),
    "sys_bp": (120.0, "mm Hg"), "dia_bp": (80.0, "mm Hg"),
    "heart_rate": (75.0, "beats per minute"), "respiratory_rate": (15.0, "breaths per minute"),
    "sodium": (140.0, "mmol/L"), "potassium": (4.0, "mmol/L"), "creatinine": (1.0, "mg/dL"),
    "hemocratit": (42.0, "%"), "wbc": (8000.0, "mm^3"), "fio2": (21.0, "%"), "partial_pressure_oxygen": (90.0, "mm"),
    "organ_failure_immunocompromise": False,
}


def points(**changed):
    return apache_ii_explanation({**HEALTHY, **changed})["Answer"]


coma = points(gcs=3)
low = points(
    sys_bp=(40.0, "mm Hg"), dia_bp=(25.0, "mm Hg"), heart_rate=(35.0, "beats per minute"), pH=7.0,
    respiratory_rate=(5.0, "breaths per minute"), sodium=(105.0, "mmol/L"), potassium=(2.0, "mmol/L"),
    hemocratit=(15.0, "%"), wbc=(500.0, "mm^3"),
)
ages = {age: points(age=(age, "years")) - points() for age in (44, 45, 46, 74, 75, 76)}
print("medcalc-bench", version("medcalc-bench"), "healthy:", points(), "in a coma:", coma, "eight values too low:", low)
cells = {count: points(wbc=(count, "mm^3")) - points() for count in (500.0, 8000.0, 50_000.0)}
print("points by age:", ages, "by white blood cells, beside 8,000:", cells)
assert (points(), coma) == (19, 7), "the behaviour changed: 0 and 12 would be right"
assert low == 19, "the behaviour changed: 32 would be right"
assert ages == {44: 0, 45: 0, 46: 2, 74: 5, 75: 0, 76: 6}, "the behaviour changed"
assert set(cells.values()) == {0}, "the behaviour changed: 8,000 would be least"
PYTHON
