#!/usr/bin/env bash
# ipfn 1.4.4: weights of a sorted table go to other people, and an array that is given is overwritten.
#
# Believed: the table that iteration() returns has the index of the table that was given, as the weight of a row is for
# that row; and what was given stays as it was.
# Seen: its rows are numbered from 0 anew. If the table was sorted or filtered before, table["weight"] =
# returned["total"], which pandas does by the index, gives each person the weight of another one, and the margins do not
# hold. No error, and the sum is right. And an array of floats that is given is overwritten by what is returned; one of
# integers, or a table, is not.
# What follows: call reset_index before, or assign by place, to_numpy(); copy an array.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check ipfn==1.4.4 pandas==2.3.3 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import numpy as np
import pandas as pd
from ipfn import ipfn

people = pd.DataFrame({"sex": ["M", "F", "F", "M"], "age": ["old", "old", "young", "young"], "total": [1.0, 1, 1, 2]})
sex = pd.Series({"F": 70.0, "M": 30.0}).rename_axis("sex")
age = pd.Series({"old": 50.0, "young": 50.0}).rename_axis("age")


def women_and_men(table):
    returned = ipfn.ipfn(table.copy(), [sex, age], [["sex"], ["age"]]).iteration()
    weighted = table.assign(weight=returned["total"])
    return [[round(each.groupby("sex")[name].sum()[of]) for of in "FM"]
            for each, name in ((returned, "total"), (weighted, "weight"))]


as_it_was, by_sex = women_and_men(people), women_and_men(people.sort_values("sex"))
arrays = {}
for kind in ("int64", "float64"):
    given = np.array([[1, 1], [1, 2]], kind)
    ipfn.ipfn(given, [np.array([70, 30]), np.array([50, 50])], [[0], [1]]).iteration()
    arrays[kind] = round(float(given.sum()))
print("ipfn", version("ipfn"), "returned and assigned:", as_it_was, "sorted by sex:", by_sex, "sums of arrays:", arrays)
assert as_it_was == [[70, 30], [70, 30]] and by_sex[0] == [70, 30]
assert by_sex[1] != [70, 30] and sum(by_sex[1]) == 100, "the behaviour changed"
assert arrays == {"int64": 5, "float64": 100}, "the behaviour changed"
PYTHON
