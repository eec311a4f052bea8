#!/usr/bin/env bash
# splink 5.0.0: -10 and -1000 differ by less than a tenth.
#
# Believed: PercentageDifferenceLevel(column, 0.1) holds for 100 and 105, and not for -10 and -1000, nor for -10 and
# 100.
# Seen: it holds for any two negative numbers: their distance is divided by the greater of the two, and 990 / -10 is
# below .1. And it does not hold for 0 and 0, where it is 0 / 0.
# What follows: losses, temperatures, longitudes west of Greenwich agree in each pair, and the weights that are
# estimated from that are wrong, without an error. Shift the column above zero, or write the level in SQL, by the
# absolute values.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check splink==5.0.0 duckdb==2.0.1 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import logging
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
import pandas as pd
import splink
import splink.comparison_level_library as levels
import splink.comparison_library as comparisons
from splink.backends.duckdb import DuckDBAPI

WAGES = [-10.0, -1000.0, 0.0, 0.0, 100.0, 105.0]
near = comparisons.CustomComparison(
    output_column_name="wage",
    comparison_levels=[levels.NullLevel("wage"), levels.PercentageDifferenceLevel("wage", 0.1), levels.ElseLevel()],
)
settings = splink.SettingsCreator(
    link_type="dedupe_only", comparisons=[near], blocking_rules_to_generate_predictions=["1=1"]
)
people = pd.DataFrame({"unique_id": range(len(WAGES)), "wage": WAGES})
pairs = splink.Linker(DuckDBAPI().register(people), settings).inference.predict().as_pandas_dataframe()
seen = {
    tuple(sorted((float(left), float(right)))): int(level)
    for left, right, level in zip(pairs["wage_l"], pairs["wage_r"], pairs["gamma_wage"])
}
print("splink", splink.__version__, "near:", [pair for pair, level in seen.items() if level == 1], "of", len(pairs))
assert seen[100, 105] == 1 and seen[-10, 100] == 0
assert seen[-1000, -10] == 1 and seen[0, 0] == 0, "the behaviour changed"
PYTHON
