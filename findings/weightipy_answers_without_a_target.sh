#!/usr/bin/env bash
# weightipy 0.4.2: eight people weigh twelve, if the answer of four has no target.
#
# Believed: the weights of a table add up to its people, and an answer that no target names is refused, or is left out
# as a missing one is.
# Seen: of three women, a man and four without an answer, each side weighs 2, and the sum is 8. If the four answered X,
# and only F and M have targets, each side weighs 4, and X weighs 4 as before: the sum is 12. If a target has nobody,
# its share is missing from the sum. And where the column has the numbers 1 and 2, and the targets the texts "1" and
# "2", all weights are 1: validate_scheme_dict, which the page advises to call before, has nothing to say of it.
# What follows: look at the shares that the weights make, not at the error that does not come.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check weightipy==0.4.2 pandas==2.3.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
import pandas as pd
import weightipy


def weights(answers, targets):
    people = weightipy.weight_dataframe(
        pd.DataFrame({"sex": answers}), weightipy.scheme_from_dict({"sex": targets}), weight_column="weight"
    )
    shares = people.groupby("sex")["weight"].sum().round(3).to_dict()
    return round(float(people["weight"].sum()), 3), shares


FEW, HALVES = ["F", "F", "F", "M"], {"F": 50.0, "M": 50.0}
missing = weights(FEW + [None] * 4, HALVES)
unnamed = weights(FEW + ["X"] * 4, HALVES)
nobody = weights(FEW, {"F": 50.0, "M": 40.0, "X": 10.0})
numbers = weights([1, 1, 1, 2], {"1": 50.0, "2": 50.0})
issues = weightipy.validate_scheme_dict(pd.DataFrame({"sex": [1, 1, 1, 2]}), {"sex": {"1": 50.0, "2": 50.0}})
print("weightipy", version("weightipy"), missing, unnamed, nobody, numbers, "issues:", len(issues))
assert missing == (8, {"F": 2, "M": 2})
assert unnamed == (12, {"F": 4, "M": 4, "X": 4}), "the behaviour changed"
assert nobody == (3.6, {"F": 2, "M": 1.6}), "the behaviour changed"
assert numbers == (4, {1: 3, 2: 1}) and len(issues) == 0, "the behaviour changed"
PYTHON
