#!/usr/bin/env bash
# statsmodels 0.15.0: the imputed table has other rows than the one that was given, under the same numbers.
#
# Believed: the row 7 of MICEData(table).data is the row 7 of the table, with its gaps filled.
# Seen: a row in which everything is missing is dropped, and the rest are numbered from 0 anew, as is a table with
# another index. From there on each number means the next person. (An index of identifiers is gone as well.)
# What follows: a column that is put beside the imputed ones, such as a pseudonym, belongs to the neighbour, and
# pandas, which joins by index, does not object.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check statsmodels==0.15.0 pandas==3.1.1 numpy==2.4.6 scipy==1.17.1 patsy==1.0.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import numpy as np
import pandas as pd
import statsmodels
from statsmodels.imputation.mice import MICEData

random = np.random.default_rng(1)
table = pd.DataFrame({"age": random.normal(50, 10, 60), "weight": random.normal(70, 10, 60)})
table.loc[3, ["age", "weight"]] = np.nan
table.loc[8, "age"] = np.nan
imputed = MICEData(table).data
same = (imputed["weight"] == table["weight"].reindex(imputed.index)).sum()
print("statsmodels", statsmodels.__version__, "rows", len(table), len(imputed), "same weight under a number:", same)
print("row 7:", table["weight"][7], "imputed:", imputed["weight"][7], "row 8 was:", table["weight"][8])
assert len(imputed) == 59 and imputed.index.tolist() == list(range(59)), "the behaviour changed"
assert imputed["weight"][2] == table["weight"][2]
assert imputed["weight"][7] == table["weight"][8] and same == 3, "the behaviour changed"
named = table.drop(3).set_axis([f"person {number}" for number in range(59)])
assert MICEData(named).data.index.tolist() == list(range(59)), "the behaviour changed"
PYTHON
