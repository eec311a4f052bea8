#!/usr/bin/env bash
# aindo-anonymize 1.1.5: the bin that a value is published in need not contain it.
#
# Believed: Binning replaces a value by the bin that it lies in, so that the value is in the published interval.
# Seen: values are sorted into bins by exact edges, and the bins are published with edges rounded to three digits
# (pandas.cut, whose precision can't be given). 3.00041 is published as (0.994, 3.0], and 18.0002, with an edge that
# was given as 18.0004, as (0.0, 18.0].
# What follows: whoever matches people with published bins looks for these in the next bin, where they are not; a
# measure of the risk of re-identification by such a match is too low.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check aindo-anonymize==1.1.5 pandas==2.3.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from aindo.anonymize.techniques import Binning

print("aindo-anonymize", version("aindo-anonymize"), "pandas", pd.__version__)
outside = []
for bins, values in ((3, [1.0004, 3.00041, 7.0007]), ([0, 18.0004, 35], [18.0002, 20.0])):
    for value, published in zip(values, Binning(bins=bins).anonymize_column(pd.Series(values)), strict=True):
        print(value, "is published as", published)
        outside += [] if value in published else [value]
print("not in their bin:", outside)
assert outside == [3.00041, 18.0002], "the behaviour changed"
PYTHON
