#!/usr/bin/env bash
# anonymity-api 1.0.4: two sensitive columns with two values each are entropy 4-diverse.
#
# Believed: verify.entropy_l_diversity with several sensitive columns is the least l of any of them, as that of
# distinct l-diversity is, so that adding a column never raises it.
# Seen: the entropies of the columns are added before the exponent is taken: two columns with l = 2 have l = 4, three
# have 8. A column with a single value in a class, l = 1, is hidden by another one.
# What follows: a class whose people all have flu is "entropy 2-diverse" as soon as a second column has two values.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check anonymity-api==1.0.4 pandas==2.3.3 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from anonymity_api import verify

table = pd.DataFrame({"town": ["A"] * 4, "disease": ["flu"] * 4, "stage": ["early", "late"] * 2})
table["paid"] = ["yes", "no"] * 2
asked = (["disease"], ["stage"], ["disease", "stage"], ["stage", "paid"])
seen = {"+".join(one): round(verify.entropy_l_diversity(table, ["town"], one), 2) for one in asked}
distinct = int(verify.distinct_l_diversity(table, ["town"], ["disease", "stage"]))
print("anonymity-api", version("anonymity-api"), "entropy:", seen, "distinct l of disease+stage:", distinct)
assert seen["disease"] == 1 and seen["stage"] == 2 and distinct == 1
assert seen["disease+stage"] == 2 and seen["stage+paid"] == 4, "the behaviour changed"
PYTHON
