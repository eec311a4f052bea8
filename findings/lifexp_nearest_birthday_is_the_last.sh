#!/usr/bin/env bash
# lifexp 0.1.0: the age at the nearest birthday is that at the last, and one year of one person may be one and a half.
#
# Believed: the day before their 61st birthday, people are 61 by the nearest birthday and 60 by the last. And who dies
# in a year of age counts as one year in the initial exposure of that age, as the page says.
# Seen: both are 60, on each day. And the year is added to the policy year of the death, while the part of the same age
# that was in the policy year before stays: who became 60 in January, has a policy of July, and dies in December, is
# exposed 1.5 years at 60. One death in one person-year is a rate of .67.
# What follows: rates by the nearest birthday are half a year too late, and initial rates too low, the more so the more
# policies begin far from birthdays. Group by age alone before the deaths are corrected.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check lifexp==0.1.0 pandas==2.3.3 numpy==2.3.5 scipy==1.17.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from datetime import date, timedelta
from importlib.metadata import version

from lifexp.core.data_model import PolicyDataset, PolicyRecord
from lifexp.core.date_utils import age_at
from lifexp.core.exposure import initial_etr
from lifexp.core.study_period import AgeBasis, StudyPeriod

born = date(1960, 1, 1)
days = [date(2020, 1, 1) + timedelta(days=each) for each in range(366)]
bases = AgeBasis.NEAREST_BIRTHDAY, AgeBasis.LAST_BIRTHDAY
nearest, last = ({age_at(born, day, basis) for day in days} for basis in bases)


def exposed(issued):
    """Years of exposure, and deaths, at 60, of somebody with a policy of a day who dies at the end of the year."""
    died = date(2020, 12, 31)
    person = PolicyRecord("1", born, issued, "F", "NS", 1000.0, 10.0, "term", "agent", "DEATH", died, "DEATH")
    found = initial_etr(PolicyDataset([person]), StudyPeriod(date(2020, 1, 1), date(2020, 12, 31)))
    return round(float(found["initial_etr"].sum()), 2), int(found["deaths"].sum())


july, january = exposed(date(2010, 7, 1)), exposed(date(2010, 1, 1))
print("lifexp", version("lifexp"), "ages in 2020 by the nearest birthday:", nearest, "by the last:", last)
print("years and deaths at 60, policy of January:", january, "of July:", july)
assert last == {60} and january == (1.0, 1)
assert nearest == {60}, "the behaviour changed"
assert july == (1.5, 1), "the behaviour changed"
PYTHON
