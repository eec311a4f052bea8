#!/usr/bin/env bash
# pandas 3.1.1: the last days of a year are written into the next year by Stata's format of weeks.
#
# Believed: DataFrame.to_stata(convert_dates={column: "tw"}) gives each day the week that Stata gives it. A year
# has 52 of them there: days 358 to 365 or 366 are all of week 52.
# Seen: 31 December of each year, and 30 December of a leap year, are written as the number of week 1 of the next
# year, as week 53 is counted on: 3380 (2025w1) for 31 December 2024, where Stata says 3379 (2024w52). pandas reads
# its own file as 1 January 2025.
# What follows: a round trip moves people into the next year without a warning, and months or quarters ("tm", "tq")
# of the same dates do not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import pandas as pd
import pyreadstat

days = pd.to_datetime(["2024-12-29", "2024-12-30", "2024-12-31", "2023-12-30", "2023-12-31"])
table = pd.DataFrame({"seen": days})
back = {}
for unit in ("tw", "tm", "tq"):
    table.to_stata("visits.dta", convert_dates={"seen": unit}, write_index=False)
    back[unit] = pd.read_stata("visits.dta")["seen"].dt.year.tolist()
    if unit == "tw":
        weeks = pyreadstat.read_dta("visits.dta")[0]["seen"].astype(int).tolist()
print("pandas", pd.__version__, "days:", [str(day.date()) for day in days])
print("weeks since 1960, 52 a year:", weeks, "of", [f"{1960 + week // 52}w{week % 52 + 1}" for week in weeks])
print("years read again:", back)
assert weeks == [3379, 3380, 3380, 3327, 3328], "the behaviour changed"
assert back == {"tw": [2024, 2025, 2025, 2023, 2024], "tm": [2024] * 3 + [2023] * 2, "tq": [2024] * 3 + [2023] * 2}
PYTHON
