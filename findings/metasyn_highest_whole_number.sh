#!/usr/bin/env bash
# metasyn 3.0.0: sexes that are coded 1 and 2 are all 1, and truth values 0 and 1 are all 0.
#
# Believed: a column of whole numbers is synthesized with the values it has, in about the shares it has: half of 1 and
# half of 2.
# Seen: it is fitted by a normal distribution that is cut at the lowest and at the highest number, and the fraction of
# what is drawn is cut off, so that the highest one never comes: of 1 and 2 there is only 1, whatever their shares, of
# answers 1 to 5 there is no 5, and their mean is 2.5 instead of 3. Declared as categories, both are there. The table
# keeps its types, and nothing is said.
# What follows: code that is tried on such a table has never met the other half of the people. Declare codes as
# categories, and look at each column's values.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check metasyn==3.0.0 polars==2.1.0 numpy==1.26.4 scipy==1.17.1 pandas==2.3.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from collections import Counter
from importlib.metadata import version

import numpy as np
import polars as pl
from metasyn import MetaFrame


def synthesized(values):
    np.random.seed(1)
    fitted = MetaFrame.fit_dataframe(pl.DataFrame({"code": values}), progress_bar=False)
    return dict(sorted(Counter(fitted.synthesize(1000, seed=1, progress_bar=False)["code"].to_list()).items()))


sexes, truths = synthesized([1, 2] * 100), synthesized([0] * 70 + [1] * 130)
answers = synthesized([1, 2, 3, 4, 5] * 60)
categories = synthesized(pl.Series(["1", "2"] * 100, dtype=pl.Categorical))
print("metasyn", version("metasyn"), "sexes:", sexes, "truth values:", truths, "answers:", answers, categories)
assert list(categories) == ["1", "2"] and 400 < categories["1"] < 600
assert sexes == {1: 1000} and truths == {0: 1000}, "the behaviour changed"
assert list(answers) == [1, 2, 3, 4], "the behaviour changed"
PYTHON
