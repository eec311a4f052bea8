#!/usr/bin/env bash
# Believed: all dates of a patient are shifted by the same number of days, in all tables of a call: what was ten days
# apart stays ten days apart.
# Seen (deidkit 0.1.6, pandas 3.1.1): patients are told apart by the text of their number. In a table where one row has
# no number, pandas has 7.0 for 7, and these are two patients: ten days between admission and result are 441, and the
# result of another patient is 51 days before the admission. Nothing says so.
# What follows: write numbers of patients as text, or as Int64, before tables are read for it; look at intervals after.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet deidkit==0.1.6 pandas==3.1.1
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import deidkit
import pandas as pd


def days_between(results):
    admitted = pd.DataFrame({"patient_id": [7, 8], "admission_date": ["2024-03-05", "2024-03-06"]})
    shifted = deidkit.deidentify({"stays": admitted, "results": results}, secret="made up for this script" * 2).tables
    first, last = shifted["stays"]["admission_date"], shifted["results"]["lab_date"]
    return [(pd.Timestamp(last[row]) - pd.Timestamp(first[row])).days for row in (0, 1)]


dates = ["2024-03-15", "2024-03-16", "2024-03-17"]
whole = days_between(pd.DataFrame({"patient_id": [7, 8, 9], "lab_date": dates}))
gap = days_between(pd.DataFrame({"patient_id": [7, 8, None], "lab_date": dates}))
kept = days_between(pd.DataFrame({"patient_id": pd.Series([7, 8, None], dtype="Int64"), "lab_date": dates}))
print("deidkit", version("deidkit"), "pandas", pd.__version__, "days between admission and result")
print("all numbers there:", whole, "one missing:", gap, "one missing, as Int64:", kept)
raise SystemExit(0 if whole == kept == [10, 10] and 10 not in gap else 1)
PYTHON
