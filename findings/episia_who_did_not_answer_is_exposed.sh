#!/usr/bin/env bash
# episia 0.1.3: who did not answer is exposed, and ill, and so is everybody whose answer is "no".
#
# Believed: people whose exposure or illness is missing are left out of a table of two by two, or refused; text is
# refused.
# Seen: each column is cast to truth values: a missing number is true. Of four people who answered, one in each cell,
# and of two without an exposure who are well, three are exposed and well. And the word "no" is true, too: four people,
# of whom one said yes twice, are four exposed cases. stratified_by_variable drops them all instead. No error.
# What follows: missing answers make an exposure look common and harmless. Drop them first, and give 0 and 1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pandas==2.3.3 numpy==2.3.5 scipy==1.17.1
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps episia==0.1.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from episia.stats.contingency import from_dataframe
from episia.stats.stratified import stratified_by_variable


def cells(table):
    return {"exposed ill": table.a, "others ill": table.b, "exposed well": table.c, "others well": table.d}


people = pd.DataFrame({"exposed": [1, 1, 0, 0, None, None], "ill": [1, 0, 1, 0, 0, 0], "town": "Amberley"})
words = pd.DataFrame({"exposed": ["yes", "yes", "no", "no"], "ill": ["yes", "no", "no", "no"]})
answered = cells(from_dataframe(people.dropna(), "exposed", "ill"))
missing = cells(from_dataframe(people, "exposed", "ill"))
stratum = cells(stratified_by_variable(people, "exposed", "ill", "town").tables[0])
said = cells(from_dataframe(words, "exposed", "ill"))
print("episia", version("episia"), "who answered:", answered, "with two who did not:", missing)
print("one stratum of all:", stratum, "words:", said)
assert set(answered.values()) == {1} and stratum == answered
assert missing == {**answered, "exposed well": 3}, "the behaviour changed"
assert said == {"exposed ill": 4, "others ill": 0, "exposed well": 0, "others well": 0}, "the behaviour changed"
PYTHON
