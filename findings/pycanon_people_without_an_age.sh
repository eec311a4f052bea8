#!/usr/bin/env bash
# pycanon 1.3.6: people whose quasi-identifier is missing are in no equivalence class, and are not counted.
#
# Believed: a missing value is one more value: those who lack it are a class of their own, or the table is refused.
# Seen: two people without an age, both with the same illness, leave k-anonymity at 3 and l-diversity at 3, as they are
# without them. Where the missing age is written as a word, k is 2 and l is 1.
# What follows: a table is said to be 3-anonymous in which two people are alone with "no age", whose illness everybody
# can read. Write missing quasi-identifiers as a word before measuring.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pycanon==1.3.6 pandas==2.3.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from pycanon import anonymity

people = pd.DataFrame({
    "age": ["30-39", "30-39", "30-39", None, None], "illness": ["asthma", "flu", "gout", "stroke", "stroke"],
})
measured = {}
for name, table in (("missing", people), ("as a word", people.fillna("unknown"))):
    measured[name] = (
        int(anonymity.k_anonymity(table, ["age"])), int(anonymity.l_diversity(table, ["age"], ["illness"]))
    )
    print("pycanon", version("pycanon"), name, "k and l:", measured[name])
assert measured["as a word"] == (2, 1)
assert measured["missing"] == (3, 3), "the behaviour changed"
PYTHON
