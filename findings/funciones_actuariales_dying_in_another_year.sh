#!/usr/bin/env bash
# funciones-actuariales 0.1.0: the probability of dying within a year is that of dying in the year after it.
#
# Believed: npx(60, n) and nqx(60, n) are the probabilities of being alive, and of being dead, n years on, as these two
# names say in each table of symbols, and their sum is 1.
# Seen: nqx(60, 1) is the probability of living through one year and dying in the next: of 100 people of 60, of whom 90
# reach 61 and 70 reach 62, a fifth die "within a year", and a tenth do within none. For two years it is .3, the third
# year's deaths, and both need not add up to anything. No error, and the insurances of the package rely on it.
# What follows: take 1 - npx(x, n), never nqx.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check funciones-actuariales==0.1.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from funciones_actuariales import TablaMortalidad

table = TablaMortalidad({60: 100, 61: 90, 62: 70, 63: 40, 64: 0})
alive = [table.npx(60, years) for years in range(4)]
dead = [table.nqx(60, years) for years in range(4)]
sums = [round(each + other, 3) for each, other in zip(alive, dead)]
print("funciones-actuariales", version("funciones-actuariales"), "alive:", alive, "dead:", dead, "sum:", sums)
assert alive == [1.0, 0.9, 0.7, 0.4]
assert dead == [0.1, 0.2, 0.3, 0.4], "the behaviour changed: 0, .1, .3 and .6 would be right"
PYTHON
