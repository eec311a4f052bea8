#!/usr/bin/env bash
# fhirpathpy 2.2.4: 2.5 is rounded to 2, and what is left of -7 by 2 is 1.
#
# Believed: round(0) rounds halves up, the "traditional round" of FHIRPath, by which 0.5 is 1; mod is the remainder of
# the truncated division, so that a = (a div b) * b + a mod b, as in the standard.
# Seen: halves go to the even neighbour: 0.5 is 0, 2.5 is 2, 0.125 is 0.12 to two digits. -7 div 2 is -3, truncated, and
# -7 mod 2 is 1, as of a floored division: together they make -5. Of decimals it is truncated: -7.5 mod 2 is -1.5.
# What follows: scores by FHIRPath differ from those by engines that follow the standard, for each second half. Add half
# a unit and truncate.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check fhirpathpy==2.2.4
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from fhirpathpy import evaluate

EXPRESSIONS = (
    "0.5.round(0)", "1.5.round(0)", "2.5.round(0)", "0.125.round(2)", "(-7) div 2", "(-7) mod 2",
    "((-7) div 2) * 2 + ((-7) mod 2)", "(-7.5) mod 2",
)
seen = {expression: float(evaluate({}, expression)[0]) for expression in EXPRESSIONS}
print("fhirpathpy", version("fhirpathpy"), seen)
assert seen["1.5.round(0)"] == 2 and seen["(-7) div 2"] == -3 and seen["(-7.5) mod 2"] == -1.5
assert [seen[each] for each in EXPRESSIONS[:4]] == [0, 2, 2, 0.12], "the behaviour changed"
assert seen["(-7) mod 2"] == 1 and seen["((-7) div 2) * 2 + ((-7) mod 2)"] == -5, "the behaviour changed"
PYTHON
