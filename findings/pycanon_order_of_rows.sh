#!/usr/bin/env bash
# pycanon 1.3.6: how diverse and close a table is depends on the order of its rows.
#
# Believed: l-diversity and t-closeness are of the groups that quasi-identifiers make, so that sorting a table
# changes neither.
# Seen: a table one of whose two groups has one illness alone is 1-diverse, and the same rows sorted by illness are
# said to be 2-diverse, and closer. Groups are found by the labels of rows, and taken by their positions, which
# differ as soon as a table was sorted, filtered or joined. k-anonymity counts labels alone, and is right.
# What follows: a release that reveals an illness passes the check. reset_index(drop=True) before it avoids that.
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

people = pd.DataFrame({"age": ["30-39"] * 3 + ["40-49"] * 3, "illness": ["gout", "cold", "flu", "flu", "flu", "flu"]})
by_illness = people.sort_values("illness", kind="stable")
true = people.groupby("age")["illness"].nunique().min()
assert true == by_illness.groupby("age")["illness"].nunique().min() == 1
answers = {}
for order, table in (("as entered", people), ("sorted by illness", by_illness)):
    l_diversity = anonymity.l_diversity(table, ["age"], ["illness"])
    t_closeness = anonymity.t_closeness(table, ["age"], ["illness"])
    answers[order] = (int(anonymity.k_anonymity(table, ["age"])), l_diversity, round(float(t_closeness), 3))
print("pycanon", version("pycanon"), "k, l, t:", answers)
renumbered = anonymity.l_diversity(by_illness.reset_index(drop=True), ["age"], ["illness"])
print("l, rows numbered anew:", renumbered)
assert answers["as entered"][:2] == (3, 1) and renumbered == 1, "the behaviour changed"
assert answers["sorted by illness"][:2] == (3, 2), "the behaviour changed"
assert answers["sorted by illness"][2] < answers["as entered"][2], "the behaviour changed"
PYTHON
