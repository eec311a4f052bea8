#!/usr/bin/env bash
# great_expectations 1.24.1: the median of a column, and its quantile of one half, are two numbers.
#
# Believed: ExpectColumnMedianToBeBetween and ExpectColumnQuantileValuesToBeBetween with the quantile 0.5 judge the
# same number.
# Seen: of 1, 2, 3, 4 the median is 2.5 and the quantile 3 (pandas' quantile is 2.5): quantiles are values that occur,
# by rounding the place to an even one, so that of 1, 2 the quantile is 1, the lower one.
# What follows: a check of quantiles whose bounds were taken from pandas or from DuckDB fails, or passes, beside it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check great_expectations==1.24.1 pandas==3.1.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import logging
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
import great_expectations as gx
import pandas as pd
from great_expectations import expectations as gxe

source = gx.get_context(mode="ephemeral").data_sources.add_pandas("source")
whole = source.add_dataframe_asset("table").add_batch_definition_whole_dataframe("whole")


def medians(values):
    batch = whole.get_batch({"dataframe": pd.DataFrame({"age": values})})
    median = gxe.ExpectColumnMedianToBeBetween(column="age", min_value=0)
    half = {"quantiles": [0.5], "value_ranges": [[0, 100]]}
    quantile = gxe.ExpectColumnQuantileValuesToBeBetween(column="age", quantile_ranges=half)
    return (
        float(batch.validate(median).result["observed_value"]),
        float(batch.validate(quantile).result["observed_value"]["values"][0]),
        float(pd.Series(values).quantile(0.5)),
    )


seen = {name: medians(name) for name in ((1.0, 2.0), (1.0, 2.0, 3.0, 4.0), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))}
print("great_expectations", gx.__version__, "median, quantile, pandas' quantile:", seen)
assert [one[1] for one in seen.values()] == [1.0, 3.0, 3.0], "the behaviour changed"
assert [one[0] for one in seen.values()] == [one[2] for one in seen.values()] == [1.5, 2.5, 3.5]
PYTHON
