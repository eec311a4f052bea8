#!/usr/bin/env bash
# lifeActuary 1.3.2: of a table with twice the deaths, fewer than nobody survive, and then some rise again.
#
# Believed: with perc=200, of 200 % of a table's mortality, probabilities of dying are at most 1; at half of it, the
# last age is the same. And at whole ages, the three ways between them (udd, cfm, bal) agree.
# Seen: a probability of .6 is 1.2: of 100,000 people -3,840 are alive at 64, and 3,840 at 65. At 50 %, half of those
# of the last age, who all die by the table, live on for another year. By Balducci (bal) nobody reaches the last age,
# 64, where a fifth do by the others. And with last_q=0, who can't die at the end is alive in a hundred years. No
# error.
# What follows: expectancies and premiums of scaled tables are wrong at old ages. Scale the table yourself, up to 1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check numpy==2.3.5 pandas==2.3.3
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps lifeActuary==1.3.2
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from lifeActuary.mortality_table import MortalityTable

FROM_60 = [60, 0.1, 0.2, 0.3, 0.6, 1.0]


def alive(percent):
    return [round(float(people)) for people in MortalityTable("q", FROM_60, perc=percent).lx[60:]]


table = MortalityTable("q", FROM_60)
survive = {percent: alive(percent) for percent in (100, 200, 50)}
to_last = {way: round(float(table.npx(60, 4, way)), 3) for way in ("udd", "cfm", "bal")}
before = {way: round(float(table.npx(60, 3, way)), 3) for way in ("udd", "cfm", "bal")}
for_ever = float(MortalityTable("q", FROM_60, last_q=0).npx(60, 100))
print("lifeActuary", version("lifeActuary"), "alive at 60, 61 and so on:", survive)
print("from 60 to 63:", before, "to 64:", to_last, "to 160, with last_q=0:", for_ever)
assert survive[100] == [100_000, 90_000, 72_000, 50_400, 20_160, 0] and set(before.values()) == {0.504}
assert survive[200] == [100_000, 80_000, 48_000, 19_200, -3_840, 3_840], "the behaviour changed"
assert survive[50][-2:] == [25_436, 0] and len(survive[50]) == 7, "the behaviour changed"
assert to_last == {"udd": 0.202, "cfm": 0.202, "bal": 0.0} and for_ever == 1.0, "the behaviour changed"
PYTHON
