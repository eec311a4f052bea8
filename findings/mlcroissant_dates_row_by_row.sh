#!/usr/bin/env bash
# mlcroissant 1.1.1: each row's date is read by itself, as month and day or as day and month.
#
# Believed: a column whose dataType is sc:Date, with days written as 31/12/2023, is read in one order, or refused.
# Seen: 31/12/2023 is 31 December, and 01/02/2024, in the same column, is 2 January: each cell is read as month and day
# if it can be. The result is a moment, not a date.
# What follows: of dates in the order of most countries, those up to the twelfth of a month are wrong, and the others
# are right. Write them as 2024-02-01.
set -euo pipefail
beside=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check mlcroissant==1.1.1 pandas==3.1.1 numpy==2.4.6 pyarrow==26.0.1
cd "$work"
PYTHONPATH=$beside PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version
from pathlib import Path

from croissant_records import records

Path("days.csv").write_text("day,iso\n31/12/2023,2023-12-31\n01/02/2024,2024-02-01\n")
seen = records("days.csv", "text/csv", day="Date", iso="Date")
days = {name: [str(day.date()) for day in column] for name, column in seen.items()}
print("mlcroissant", version("mlcroissant"), days)
assert days["iso"] == ["2023-12-31", "2024-02-01"]
assert days["day"] == ["2023-12-31", "2024-01-02"], "the behaviour changed"
PYTHON
