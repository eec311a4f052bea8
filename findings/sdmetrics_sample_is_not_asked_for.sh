#!/usr/bin/env bash
# sdmetrics 0.32.0: DisclosureProtectionEstimate.compute ignores how many rows, and how often, it is to sample.
#
# Believed: `num_rows_subsample`, `num_iterations` and `verbose` of compute do what they are documented to do, as those
# of compute_breakdown do.
# Seen: compute takes them, and does not hand them on: each call samples 1,000 rows ten times, with a progress bar. An
# impossible number, -1, is refused by compute_breakdown, and taken by compute.
# What follows: more iterations make the score no steadier, and fewer rows the call no faster. Call compute_breakdown,
# and take its `score`.
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
from sdmetrics.single_table import DisclosureProtectionEstimate

table = pd.DataFrame({"town": ["A", "B"] * 10, "disease": ["flu", "none", "gout", "flu"] * 5})
given = {"real_data": table, "synthetic_data": table, "known_column_names": ["town"]}
given |= {"sensitive_column_names": ["disease"], "num_rows_subsample": -1, "num_iterations": -1, "verbose": False}
try:
    DisclosureProtectionEstimate.compute_breakdown(**given)
except ValueError as error:
    print("compute_breakdown:", error)
else:
    raise SystemExit("the behaviour changed")
score = DisclosureProtectionEstimate.compute(**given)
print("sdmetrics", version("sdmetrics"), "compute:", score)
assert 0 <= score <= 1, "the behaviour changed"
PYTHON
