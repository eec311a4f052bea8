#!/usr/bin/env bash
# polars-ds 0.13.0, polars 2.1.0: a missing value counts as nought in a weighted mean, and as a hit in an error.
#
# Believed: weighted_mean and weighted_var leave out rows without a value, as mean and var of polars do; with equal
# weights they are the mean and the variance; query_l2 is the mean of the squares that there are.
# Seen: the sum is of the values that are there, and is divided by the weights of all rows: 1, 2, 3, 5, 6 and a missing
# one have the mean 17 / 6 = 2.83, and not 3.4. The variance is taken around that mean, and divided by all weights, too.
# query_l2 divides by all rows: a prediction that is missing improves the error. weighted_corr moves with it. hmean and
# z_normalize leave the row out. Nothing is said of missing values on their pages.
# What follows: filter by is_not_null() of value and weight before.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check polars-ds==0.13.0 polars==2.1.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import polars as pl
import polars_ds as pds

people = pl.DataFrame({"age": [1.0, 2.0, 3.0, None, 5.0, 6.0], "weight": [1.0] * 6, "true": [1.0, 3.0, 2.0, 5.0, 4.0, 9.0]})


def answers(table):
    return table.select(
        plain=pl.col("age").mean(),
        mean=pds.weighted_mean("age", "weight"),
        variance=pds.weighted_var("age", "weight"),
        error=pds.query_l2("true", "age"),
        harmonic=pds.hmean("age"),
    ).row(0, named=True)


with_a_gap, without = answers(people), answers(people.drop_nulls())
print("polars-ds", version("polars-ds"), "polars", version("polars"), with_a_gap, "without the row:", without)
assert abs(without["mean"] - 3.4) < 1e-9 and abs(without["variance"] - 3.44) < 1e-9 and without["error"] == 2.4
assert with_a_gap["plain"] == without["plain"] and abs(with_a_gap["harmonic"] - without["harmonic"]) < 1e-9
assert abs(with_a_gap["mean"] - 17 / 6) < 1e-9 and with_a_gap["error"] == 2, "the behaviour changed"
assert abs(with_a_gap["variance"] - without["variance"]) > 0.1, "the behaviour changed"
PYTHON
