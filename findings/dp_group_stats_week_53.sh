#!/usr/bin/env bash
# dp-group-stats 0.1.2: the last days of 2026 are in no period of two weeks.
#
# Believed: get_period_bounds(day, "biweekly") returns the period that contains the day, as its documentation says.
# Seen: each day of an ISO week 53 has the period of weeks 51 and 52, which ends before it: 30 December 2026 is said to
# be in 14 to 27 December. The next period begins on 4 January, so that the seven days between have none. The period
# before that one begins, by period_before, on 21 December, which begins none either. Of weekly and monthly periods each
# day is in its own; so it was in 2020, and will be in 2032.
# What follows: reports of that week are in no statistic, or, if periods are taken by their start, three weeks of a
# person are in one period whose bounds and budget are for two.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check dp-group-stats==0.1.2
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from datetime import date, timedelta
from importlib.metadata import version

from dp_group_stats import get_period_bounds, period_before

days = [date(2026, 1, 1) + timedelta(days=at) for at in range(2 * 365)]


def outside(kind):
    return [day for day in days if not (bounds := get_period_bounds(day, kind))[0] <= day <= bounds[1]]


lost = outside("biweekly")
period = get_period_bounds(date(2026, 12, 30), "biweekly")
following = get_period_bounds(date(2027, 1, 4), "biweekly")[0]
before = period_before(following, "biweekly")
print("dp-group-stats", version("dp-group-stats"), "outside of their period:", lost[0], "to", lost[-1], "period:", *period)
assert outside("weekly") == outside("monthly") == []
assert lost == [date(2026, 12, 28) + timedelta(days=at) for at in range(7)], "the behaviour changed"
assert period == (date(2026, 12, 14), date(2026, 12, 27)), "the behaviour changed"
assert get_period_bounds(before, "biweekly")[0] != before == date(2026, 12, 21), "the behaviour changed"
PYTHON
