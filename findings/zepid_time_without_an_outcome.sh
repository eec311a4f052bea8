#!/usr/bin/env bash
# zepid 0.9.1: people whose outcome is missing are left out of the cases of a rate, and stay in its time.
#
# Believed: "missing data is ignored", as its page says of incidence rates: two cases in three years are a rate of 2/3,
# whether two more people without an outcome stand in the table or not.
# Seen: the years of those two count, so that the rate is 2/5; the risk of the same table is 2/3, as they are left out
# of that one. Both count them as "missing D" in their summaries. The ratio and the difference of rates follow: people
# who are lost more often among the exposed make the exposure look harmless.
# What follows: call dropna on outcome, exposure and time before IncidenceRateRatio and IncidenceRateDifference.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check \
    zepid==0.9.1 pandas==2.3.3 numpy==2.3.5 scipy==1.17.1 statsmodels==0.14.6 matplotlib==3.10.8 tabulate==0.9.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'PYTHON'
from importlib.metadata import version

import numpy as np
import pandas as pd
from zepid import IncidenceRateDifference, IncidenceRateRatio, RiskRatio

people = pd.DataFrame({
    "exposed": [1] * 5 + [0] * 4,
    "ill": [1, 1, 0, np.nan, np.nan, 1, 0, 0, 0],
    "years": 1.0,
})


def of_exposed(measure, people, column, *time):
    measure.fit(people, "exposed", "ill", *time)
    return [round(float(each), 3) for each in measure.results[column]]


answers = {}
for name, table in (("all", people), ("complete", people.dropna())):
    answers[name] = (of_exposed(RiskRatio(), table, "Risk"),
                     of_exposed(IncidenceRateRatio(), table, "IncRate", "years"),
                     of_exposed(IncidenceRateRatio(), table, "IncRateRatio", "years"),
                     of_exposed(IncidenceRateDifference(), table, "IncRateDiff", "years"))
print("zepid", version("zepid"), "risks, rates, ratio and difference of rates, not exposed and exposed:", answers)
assert answers["complete"] == ([0.25, 0.667], [0.25, 0.667], [1.0, 2.667], [0.0, 0.417])
assert answers["all"][0] == answers["complete"][0]
assert answers["all"][1:] == ([0.25, 0.4], [1.0, 1.6], [0.0, 0.15]), "the behaviour changed"
PYTHON
