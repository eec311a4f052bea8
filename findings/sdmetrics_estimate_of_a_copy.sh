#!/usr/bin/env bash
# sdmetrics 0.32.0: a copy of the real data is fully protected by the estimate, and not at all by the metric.
#
# Believed: DisclosureProtectionEstimate computes what DisclosureProtection does on random samples, faster, and is near
# it.
# Seen: with `zero_cap`, a published table that is the real one, with a key for each person, has 0, no protection, by
# the metric, and 1, the best there is, by the estimate: real and published rows are sampled apart, so that nine of ten
# people are not found in the sample of the published ones, which counts as protected. The larger the table, the safer.
# (With `cap`, people who are not found are left out, and both are 0.)
# What follows: above 10,000 rows, where the metric itself advises the estimate, `zero_cap` says nothing.
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
import numpy as np
import pandas as pd
from sdmetrics.single_table import DisclosureProtection, DisclosureProtectionEstimate

np.random.seed(1)
real = pd.DataFrame({"person": [f"p{at}" for at in range(1000)], "disease": ["flu", "none"] * 500})
seen = {}
for method in ("cap", "zero_cap"):
    given = {
        "real_data": real, "synthetic_data": real.copy(), "known_column_names": ["person"],
        "sensitive_column_names": ["disease"], "computation_method": method,
    }
    few = {"num_rows_subsample": 100, "num_iterations": 3, "verbose": False}
    metric = DisclosureProtection.compute_breakdown(**given)
    estimate = DisclosureProtectionEstimate.compute_breakdown(**given, **few)
    seen[method] = (metric["score"], estimate["score"])
print("sdmetrics", version("sdmetrics"), "metric and estimate of a copy:", seen)
assert seen["cap"] == (0, 0) and seen["zero_cap"][0] == 0
assert seen["zero_cap"][1] > 0.8, "the behaviour changed"
PYTHON
