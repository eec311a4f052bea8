#!/usr/bin/env bash
# pram 0.2.0: with a minimum probability to stay of 1, a third of people change.
#
# Believed: m is, as its page says, the minimum probability that a data point remains unchanged: with m = 1 nothing
# changes, and with m = .8 at least eight in ten stay, whatever alpha is.
# Seen: m is written into the diagonal, and the columns are divided by their sums after that: of two equal groups, 1
# beside .5 becomes two thirds. With m = 1 and alpha = 1 a third of people change, with m = .8 about 38 of a hundred.
# With the defaults, .8 and .5, a quarter of ten equal groups change: the more values a column has, the more.
# What follows: frequencies that are put right by a matrix with m in its diagonal are put wrong. Take the matrix from
# what was changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pram==0.2.0 pandas==2.3.3 numpy==1.26.4
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
import numpy as np
import pandas as pd
from pram import pram


def changed(groups, **given):
    np.random.seed(1)
    people = pd.DataFrame({"group": [str(at) for at in range(groups)] * (6000 // groups)})
    return float((pram(people, **given)["group"] != people["group"]).mean())


seen = [changed(2, m=1, alpha=1), changed(2, m=0.8, alpha=1), changed(10)]
none = changed(2, m=1, alpha=0)
print("pram", version("pram"), "changed:", seen, "with alpha 0:", none)
assert none == 0
assert [round(share, 2) for share in seen] == [0.33, 0.38, 0.25], "the behaviour changed"
PYTHON
