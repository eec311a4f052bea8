#!/usr/bin/env bash
# SurvivalPy 1.0.2: who is censored on the day of a death counts as gone before it, so that too few survive.
#
# Believed: a Kaplan-Meier curve counts a person who is censored on the day of a death as at risk on that day: of three
# people, of whom one dies and one leaves on day 5, two thirds survive; of four, of whom one dies, three quarters.
# Seen: whoever leaves on the day of a death is taken off before the deaths are counted: of the three people half survive
# then, and of the four half, if two leave on that day. Where people leave on other days, the curve is the usual one.
# What follows: times in whole days, weeks or years have such ties, and the curve lies too low wherever they are. Add
# half a unit to the times of the censored, or use another library.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check SurvivalPy==1.0.2 scipy==1.17.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from survivalpy.survival import Analyzer, Datum

DIES, LEAVES = False, True


def survive(*people):
    """What is left of all after each day of a death but the last one: an interval has the share at its beginning."""
    return [round(interval.cumulative, 3) for interval in Analyzer([Datum(*each) for each in people]).compute()[1:]]


alone = survive((5, DIES), (5, LEAVES), (9, LEAVES))
half_a_day_later = survive((5, DIES), (5.5, LEAVES), (9, LEAVES))
four = survive((1, DIES), (1, LEAVES), (1, LEAVES), (2, DIES))
nobody = survive((5, DIES), (5, LEAVES), (5, LEAVES), (6, DIES), (6, LEAVES), (7, LEAVES))
print("SurvivalPy", version("SurvivalPy"), "one dies, one leaves, one stays:", alone, "leaves later:", half_a_day_later)
print("one dies, two leave, one stays:", four, "two days of ties:", nobody)
assert half_a_day_later == [0.667], "the usual curve: two of three"
assert alone == [0.5], "the behaviour changed"
assert four == [0.5], "the behaviour changed: .75 would be right"
assert nobody == [0.75, 0.375], "the behaviour changed: 5/6 and 5/9 would be right"
PYTHON
