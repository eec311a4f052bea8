#!/usr/bin/env bash
# crowds 0.0.1: the second table that is anonymized may be the first one again.
#
# Believed: ola.anonymize(table, rules, k) returns the table with each age and sex generalized, and does not know of
# other calls.
# Seen: the set of candidate solutions is the default value of a parameter, and is kept between calls. Each candidate
# has its own table, and the one of the least loss is returned: asked for another table, at k = 4, the function returns
# the rows of the table before, whose ages are 70 and more, though nobody in the table is above 42.
# What follows: in a process that anonymizes each quarter, a later one may be an earlier one, at the earlier k.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check crowds==0.0.1 pandas==2.3.3 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from crowds.kanonymity import ola
from crowds.kanonymity.generalizations import GenRule


def anonymized(table, k):
    rules = {"age": GenRule([lambda age: f"{age // 10 * 10}s"]), "sex": GenRule([])}
    return ola.anonymize(table, rules, k=k)[0].to_dict("list")


old = pd.DataFrame({"age": [71, 72, 73, 74], "sex": ["F"] * 4})
young = pd.DataFrame({"age": [31, 32, 41, 42], "sex": ["F", "F", "M", "M"]})
seen = [anonymized(old, 2), anonymized(young, 4)]
print("crowds", version("crowds"), seen)
assert seen[0] == {"age": ["70s"] * 4, "sex": ["F"] * 4}
assert seen[1] == seen[0], "the behaviour changed"
PYTHON
