#!/usr/bin/env bash
# actymath 0.1.4: who asks a select table for the same age twice gets a life that goes on after its end.
#
# Believed: qx(age) answers the probabilities of dying of the years to come, the same ones each time.
# Seen: where a select table has its years side by side (a row of an age is select, and its last column goes on), the
# answer is built in the row of the table itself. The first time, 60 has five years, of which the last is certain
# death; the second time nine, the years from 63 on once more; then thirteen. Other ages, and the ultimate table, stay
# as they are. The exam table that comes with the package raises an error the second time, as its last number is 0.
# What follows: two policies of one age in one program have different premiums. Make a new table for each answer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check \
    actymath==0.1.4 pandas==2.3.3 numpy==2.3.5 parse==1.22.4
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from actymath.tables import PandasMortalityTable, TwoDimensionHorizontalTableMixIn


class Select(TwoDimensionHorizontalTableMixIn, PandasMortalityTable):
    """Probabilities of dying in the first and in the second year after a doctor's look, and later, two years on."""

    age_column, table_type, value_columns = "age", "qx", ["first", "second", "later"]


rows = {
    "age": [60, 61, 62],
    "first": [0.01, 0.02, 0.03],
    "second": [0.04, 0.05, 0.06],
    "later": [0.2, 0.3, 1.0],
}
table = Select(pd.DataFrame(rows))
answers = [list(table.qx(60)) for _ in range(3)]
print("actymath", version("actymath"), "the same age, three times:", *answers, sep="\n")
assert answers[0] == [0.01, 0.04, 0.2, 0.3, 1.0]
assert answers[1] == answers[0] + [0.3, 1.0], "the behaviour changed"
assert answers[2] == answers[1] + [0.3, 1.0], "the behaviour changed"
assert table.qx(61) == [0.02, 0.05, 0.3, 1.0]
PYTHON
