#!/usr/bin/env bash
# pylifecontingencies 0.5.0: an abridged life table of ages 0, 1, 5 and 10 is read as one of ages 0, 1, 2 and 3.
#
# Believed: a table with a column of ages has the survivors at those ages, or is refused where ages are missing.
# Seen: only the first age is looked at; rows are a year apart from there. Of 100 who are born, of whom 90 reach 1, 80
# reach 5 and 40 reach 10, 40 reach 3, and nobody reaches 4. An age that is there twice is two years. No error.
# What follows: most life tables of statistical offices are abridged (0, 1-4, 5-9): fill the single ages first, and look
# whether omega, the last age, is the one of the table.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check \
    pylifecontingencies==0.5.0 pandas==2.3.3 numpy==2.3.5 scipy==1.17.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from pylifecontingencies import LifeTable, exn

abridged = pd.DataFrame({"age": [0, 1, 5, 10], "survivors": [100, 90, 80, 40]})
by_line = abridged.set_index("age").reindex(range(11)).interpolate().reset_index()


def table(rows):
    lives = LifeTable.from_dataframe(rows, age_col="age", lx_col="survivors")
    return lives, lives.omega, round(exn(lives, 0), 2)


lives, last, years = table(abridged)
whole, whole_last, whole_years = table(by_line)
twice, twice_last, _ = table(abridged.assign(age=[0, 1, 1, 2]))
print("pylifecontingencies", version("pylifecontingencies"), lives.to_dataframe()[["age", "lx"]].values.tolist())
print("last age and whole years to live, of all ages:", whole_last, whole_years, "abridged:", last, years)
assert (whole.lx(3), whole.lx(5), whole_last) == (85, 80, 11)
assert (lives.lx(2), lives.lx(3), last, twice_last) == (80, 40, 4, 4), "the behaviour changed"
assert years == 2.1 and whole_years > 7, "the behaviour changed"
PYTHON
