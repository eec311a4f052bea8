#!/usr/bin/env bash
# sdmetrics 0.32.0: a row with another date is the same row, up to half a year apart, by how far from 1970 it is.
#
# Believed: NewRowSynthesis calls a synthetic row new if a date differs by more than a small, fixed time, such as a
# hundredth of the range of dates.
# Seen: dates are numbers of nanoseconds since 1970, and two numbers match within a hundredth of the synthetic one
# (`numerical_match_tolerance`). Admissions of 2024 match up to 199 days apart, those of 1971 up to 4; of birthdays in
# January 1970 each day is another one. A number 0 matches 0 only, by the same rule.
# What follows: a table whose dates were all shifted by five months is called a copy, and one whose births of 1970 were
# shifted by a day is called new.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check sdmetrics==0.32.0 pandas==2.3.3 numpy==2.4.6 scikit-learn==1.9.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
import pandas as pd
from sdmetrics.single_table import NewRowSynthesis

metadata = {"columns": {"day": {"sdtype": "datetime"}, "sex": {"sdtype": "categorical"}}}


def is_new(day, days):
    real = pd.DataFrame({"day": pd.to_datetime([day]), "sex": ["F"]})
    shifted = real.assign(day=real["day"] + pd.Timedelta(days=days))
    return NewRowSynthesis.compute_breakdown(real, shifted, metadata)["num_new_rows"] == 1


seen = {day: [is_new(day, days) for days in (0, 1, 150, 250)] for day in ("2024-01-01", "1971-01-01", "1970-01-05")}
print("sdmetrics", version("sdmetrics"), "is a new row, 0, 1, 150 or 250 days later:", seen)
assert seen["2024-01-01"] == [False, False, False, True], "the behaviour changed"
assert seen["1971-01-01"] == [False, False, True, True], "the behaviour changed"
assert seen["1970-01-05"] == [False, True, True, True], "the behaviour changed"
PYTHON
