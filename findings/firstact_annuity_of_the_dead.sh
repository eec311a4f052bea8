#!/usr/bin/env bash
# firstact 0.2.0: an annuity at the end of the year is paid to people who died in it, and newborns lose fifteen years.
#
# Believed: a temporary annuity at the end of the year is paid to those who are alive then. Life expectancy at birth is
# about 71 years in the table that the package has, of ages 0, 5, 10, 15, 20, 21 and so on.
# Seen: ax_temp_vencida is the other annuity, a year later: whoever began a year is paid at its end, dead or alive: 9.68
# for 9.41 at 60, and more for 60 years (10.51) than for all of life (10.15). And ex(0) counts a year for each age that
# is in the table: 55.8 years are left at birth, 56.2 at 5 and 54.0 at 20. The annuities refuse such ages, ex does not.
# What follows: sum v**k * npx(k, x) yourself, from 1 on, and life expectancies over a table of single ages only.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check firstact==0.2.0 pandas==2.3.3 numpy==2.3.5
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from firstact import Annuity, MortalityTable

table = MortalityTable.ilt()
annuity = Annuity(table, i=0.06)
found = annuity.ax_temp_vencida(60, 20)
right = sum(1.06**-year * table.npx(year, 60) for year in range(1, 21))
long, whole = annuity.ax_temp_vencida(60, 60), annuity.ax_vencida(60)
years = {age: round(table.ex(age), 1) for age in (0, 5, 10, 20)}
ages = [0, 5, 10, 15, 20]
between = sum((end - start) * (table.npx(start, 0) + table.npx(end, 0)) / 2 for start, end in zip(ages, ages[1:]))
at_birth = between + table.npx(20, 0) * (table.ex(20) + 0.5)
print("firstact", version("firstact"), "20 years at 60:", round(found, 3), "right:", round(right, 3))
print("60 years at 60:", round(long, 3), "all of life:", round(whole, 3), "years left:", years, round(at_birth, 1))
assert round(found, 3) == 9.684 and round(right, 3) == 9.414, "the behaviour changed"
assert long > whole, "the behaviour changed"
assert years[0] == 55.8 < years[5] == 56.2 and at_birth > 70, "the behaviour changed"
PYTHON
