#!/usr/bin/env bash
# anonymeter 1.1.0: nobody whose value has an apostrophe is ever singled out by several columns.
#
# Believed: the multivariate attack finds a person who is the only one with some combination of values, whatever the
# values are.
# Seen: an apostrophe in a value is written with a backslash before it, as for a query of text; but the query is an
# expression of polars, which compares the value as it stands, so it meets nobody. In a table in which everybody is
# alone with their town, no query is found if each town has an apostrophe, and 40 are found if none has one.
# What follows: a table of Val-d'Or, Côte d'Ivoire or O'Brien has a lower measured risk than the same table spelt
# without.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check anonymeter==1.1.0 pandas==2.3.3 numpy==1.26.4 scikit-learn==1.5.2
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import numpy as np
import polars as pl
from anonymeter.evaluators.singling_out_evaluator import multivariate_singling_out_queries

found = {}
for mark in ("'", "-"):
    towns = [f"L{mark}Isle {number}" for number in range(40)]
    people = pl.DataFrame({"town": towns, "street": towns})
    queries = multivariate_singling_out_queries(
        people, n_queries=40, n_cols=2, max_attempts=2000, rng=np.random.default_rng(1)
    )
    found[mark] = len(queries)
    print("anonymeter", version("anonymeter"), towns[0], "...: queries that single somebody out:", len(queries))
assert found == {"'": 0, "-": 40}, "the behaviour changed"
PYTHON
