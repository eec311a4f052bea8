#!/usr/bin/env bash
# cell-key-perturbation 3.1.0: a cell of people without an answer has the cell key 0, whoever they are.
#
# Believed: the key of a cell is the sum of the keys of its people, so that the noise of a cell depends on them; the
# package prints that people without an answer are a cell of their own, which may be removed.
# Seen: they are counted as a cell, but the sum of their keys is made in a grouping that leaves them out: its key is 0,
# with 11 people as with 4, and the noise is what the table of perturbation has for 0. The same people called "none" have
# the key that their own keys add up to. Two releases of such a cell that differ by one person differ by one.
# What follows: give missing answers a category before; the package's query for BigQuery would add up their keys.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps cell-key-perturbation==3.1.0
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pandas==2.3.3 numpy==2.3.5
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import contextlib
import io
from importlib.metadata import version

import pandas as pd
from cell_key_perturbation.create_perturbed_table import create_perturbed_table

# keys from 0 to 3; a cell of key 0 loses one, others gain 0, 1 and 2
noise = pd.DataFrame([(count, key, key - 1) for count in range(1, 751) for key in range(4)],
                     columns=["pcv", "ckey", "pvalue"])
people = pd.DataFrame({"region": ["north"] * 13 + [None] * 11, "key": [1] * 13 + [2] * 11})


def cells(people):
    with contextlib.redirect_stdout(io.StringIO()):
        table = create_perturbed_table(data=people, ptable=noise, geog=[], tab_vars=["region"], record_key="key",
                                       threshold=0)
    return {row.region if isinstance(row.region, str) else "missing": (row.pre_sdc_count, row.ckey, int(row.count_))
            for row in table.rename(columns={"count": "count_"}).itertuples()}


missing, named, fewer = cells(people), cells(people.fillna("none")), cells(people[:17])
print("cell-key-perturbation", version("cell-key-perturbation"), "people, key and published count:", missing)
print("where a missing region is called none:", named, "with 4 people instead of 11:", fewer["missing"])
assert missing["north"] == named["north"] == (13, 1, 13), "13 keys of 1 are 13, which is 1 after division by 4"
assert named["none"] == (11, 2, 12), "11 keys of 2 are 22, which is 2 after division by 4"
assert missing["missing"] == (11, 0, 10) and fewer["missing"] == (4, 0, 3), "the behaviour changed"
PYTHON
