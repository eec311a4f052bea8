#!/usr/bin/env bash
# episia 0.1.3: the common risk ratio of one stratum is another one than that stratum's risk ratio.
#
# Believed: by Mantel and Haenszel, one stratum has the risk ratio of its table, and an interval about as wide; and of
# the cases of a population, as many are due to an exposure as of the exposed cases, times the share of cases that are
# exposed.
# Seen: the tables have exposed and others side by side, and the formula takes them one below the other: 40 of 100
# exposed fall ill, 20 of 100 others, and the ratio is 2.0 by itself and 1.56 of one stratum; the difference of risks
# is 10, for .2. The odds ratio is right, and its interval a third too narrow (1.63 to 4.35, for 1.42 to 5.02). Two
# thirds of the cases are exposed, half of these by it: .33 of all, and .4 is the answer.
# What follows: adjusted ratios seem to differ from crude ones, as if by confounding, where there is a single stratum.
# Take statsmodels' StratifiedTable.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pandas==2.3.3 numpy==2.3.5 scipy==1.17.1
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps episia==0.1.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from episia.stats.contingency import Table2x2
from episia.stats.stratified import mantel_haenszel_or

table = Table2x2(40, 20, 60, 80)
crude, odds = table.risk_ratio(), table.odds_ratio()
common = mantel_haenszel_or([table])
interval = [round(float(each), 2) for each in common.or_ci]
usual = [round(float(each), 2) for each in (odds.ci_lower, odds.ci_upper)]
of_population = table.attributable_fraction_population()
right = table.attributable_fraction_exposed() * table.a / table.total_cases
print("episia", version("episia"), "risk ratio:", crude.estimate, "of one stratum:", round(common.common_rr, 2))
print("difference of risks of one stratum:", common.common_rd, "odds ratio:", round(odds.estimate, 2), interval, usual)
print("due to the exposure:", of_population, "right:", round(right, 2))
assert crude.estimate == 2.0 and common.common_or == odds.estimate
assert round(common.common_rr, 2) == 1.56 and common.common_rd == 10.0, "the behaviour changed"
assert interval == [1.63, 4.35] and usual == [1.42, 5.02], "the behaviour changed"
assert round(of_population, 3) == 0.4 and round(right, 2) == 0.33, "the behaviour changed"
PYTHON
