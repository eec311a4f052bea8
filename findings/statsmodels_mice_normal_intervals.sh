#!/usr/bin/env bash
# statsmodels 0.15.0: intervals of MICE are those of a normal distribution, however few copies and rows there are.
#
# Believed: a pooled estimate of m = 3 imputed copies has an interval of Student's t with the degrees of freedom of
# Rubin's rules, (m - 1) / l^2 where l is the part of the information that is missing, as in mice of R.
# Seen: the 95 % interval is 1.96 standard errors on either side, and the result says that use_t is false, also
# where more than half of the information is missing, so that Rubin's degrees of freedom are below 5 and Student's t
# is 2.7. Where copies don't differ it is still 1.96, though the rows alone give 2.23. With one copy, standard
# errors are NaN.
# What follows: intervals are too narrow, and another tool that pools the same copies answers wider ones.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check statsmodels==0.15.0 pandas==3.1.1 numpy==2.4.6 scipy==1.17.1 patsy==1.0.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import warnings

import numpy as np
import pandas as pd
import statsmodels
import statsmodels.api as sm
from scipy import stats
from statsmodels.imputation.mice import MICE, MICEData

warnings.simplefilter("ignore")
COPIES = 3
random = np.random.default_rng(35)
x = random.normal(size=12)
table = pd.DataFrame({"x": x, "y": x + 2 * random.normal(size=12)})
gaps = table.copy()
gaps.loc[[0, 2, 4, 5, 7, 9], "x"] = np.nan
widths = {}
for name, data in (("complete", table), ("gaps", gaps)):
    pooled = MICE("y ~ x", sm.OLS, MICEData(data, rng=9)).fit(5, COPIES)
    low, high = pooled.conf_int()[1]
    widths[name] = (high - low) / 2 / pooled.bse[1]
    print("statsmodels", statsmodels.__version__, name, "half an interval:", round(widths[name], 3), "standard errors")
freedom = (COPIES - 1) / pooled.frac_miss_info[1] ** 2
print("missing", round(pooled.frac_miss_info[1], 2), "freedom", round(freedom, 1), "t", round(stats.t.ppf(0.975, freedom), 2))
assert freedom < 6 and stats.t.ppf(0.975, freedom) > 2.4 and not pooled.use_t
alone = sm.OLS.from_formula("y ~ x", table).fit()
low, high = alone.conf_int().loc["x"]
print("OLS on the complete rows:", round((high - low) / 2 / alone.bse["x"], 3))
assert np.isnan(MICE("y ~ x", sm.OLS, MICEData(gaps, rng=9)).fit(5, 1).bse).all(), "the behaviour changed"
assert round((high - low) / 2 / alone.bse["x"], 2) == round(stats.t.ppf(0.975, 10), 2) == 2.23
assert all(round(width, 2) == 1.96 for width in widths.values()), "the behaviour changed"
PYTHON
