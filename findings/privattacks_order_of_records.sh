#!/usr/bin/env bash
# Believed: `posterior_vulnerability(…, distribution=True)`, the vulnerability per record, has that of record 7 in place 7.
# Seen (privattacks 1.4): the records are sorted by the quasi-identifiers, these by where each value occurs first, and the
# figures are in that order. The only person of 50 has 1/3, and one of three people of 20 has 1: a publisher who takes
# out the records that are at risk takes out others. Of inference, too.
# What follows: of a table that is not sorted, only the mean, and how many records have which figure, say something.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet privattacks==1.4
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
import privattacks

people = pd.DataFrame({"age": [20, 50, 20, 20, 30], "ill": ["flu", "gout", "gout", "flu", "flu"]})
attack = privattacks.Attack(privattacks.Data(dataframe=people))
mean, each = attack.posterior_vulnerability("reid", ["age"], distribution=True)
_, inferred = attack.posterior_vulnerability("ai", ["age"], "ill", distribution=True)
true = [1 / alike for alike in people.groupby("age")["age"].transform("size")]
found, values = [[round(float(one), 2) for one in some] for some in (each, inferred["ill"])]
true = [round(one, 2) for one in true]
print("privattacks", version("privattacks"), "ages", people["age"].to_list(), "true", true)
print("found", found, "mean", mean, "of the value", values)
is_so = true == [0.33, 1, 0.33, 0.33, 1] and found == [0.33, 0.33, 0.33, 1, 1] and values == [0.67, 0.67, 0.67, 1, 1]
raise SystemExit(0 if is_so and mean == 0.6 else 1)
PYTHON
