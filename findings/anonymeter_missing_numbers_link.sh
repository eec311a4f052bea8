#!/usr/bin/env bash
# anonymeter 1.1.0: a person whose numbers are missing is linked to the first row of any table.
#
# Believed: the linkability attack measures what the released table tells: a table that has nothing to do with the
# people has a risk of about 0.
# Seen: the distance between a missing number and a number is not a number, and rows at such a distance come in the
# order of the table. So both halves of such a person are nearest to row 0, which counts as a link. Where three in ten
# lack both numbers and the control group lacks none, a table drawn by chance has a risk of about 0.3. (Where the
# control group lacks as many, its rate is as high, and the risk is about 0 whatever the table tells.)
# What follows: a risk measured on a table with missing numbers is about them; impute or drop them first, and say so.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check anonymeter==1.1.0 pandas==2.3.3 numpy==1.26.4 scikit-learn==1.5.2
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import numpy as np
import pandas as pd
from anonymeter.evaluators import LinkabilityEvaluator
from anonymeter.neighbors.mixed_types_kneighbors import MixedTypeKNeighbors

released = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0], "town": ["Ayr", "Bath", "Cork", "Deal"]})
nearest = MixedTypeKNeighbors(n_neighbors=1, n_jobs=1).fit(released)
asked = pd.DataFrame({"age": [50.0, None], "town": ["Deal", "Deal"]})
rows = nearest.kneighbors(asked)[:, 0].tolist()
print("anonymeter", version("anonymeter"), "nearest to Deal with and without an age:", rows)
assert rows == [3, 0], "the behaviour changed"

random = np.random.default_rng(1)


def drawn(people=400):
    """People whose columns have nothing to do with one another, or with any other table."""
    return pd.DataFrame({
        "age": random.integers(20, 80, people).astype(float), "town": random.choice(list("ABCDEFGH"), people),
        "income": random.integers(0, 1000, people).astype(float), "job": random.choice(list("abcdefgh"), people),
    })


people, unrelated, control = drawn(), drawn(), drawn()
for share in (0, 0.3):
    asked = people.copy()
    asked.loc[: share * len(asked) - 1, ["age", "income"]] = None
    attack = LinkabilityEvaluator(
        ori=asked, syn=unrelated, control=control, n_attacks=len(asked), n_neighbors=1,
        aux_cols=(["age", "town"], ["income", "job"]),
    )
    risk = attack.evaluate(n_jobs=1).risk().value
    print(f"{share:.0%} lack their numbers: risk {risk:.2f}")
    assert (risk < 0.05) if share == 0 else (0.25 < risk < 0.35), "the behaviour changed"
PYTHON
