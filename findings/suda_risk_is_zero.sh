#!/usr/bin/env bash
# suda 0.2.2: the DIS-SUDA risk of each record is 0.
#
# Believed: dis-suda is the risk of the file, .1, divided among the records by their scores, as the page says: in its
# example two records of six have .021 and .028.
# Seen: it is 0 for everybody, whatever their scores: what is asked before is the score in the table that was given, and
# not in the result, and it was set to 0 there just before. The table that was given gets that column, and its texts
# become categories.
# What follows: a table of unique people passes each bound on dis-suda. Divide by the sum of the scores yourself.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check suda==0.2.2 pandas==2.3.3 numpy==1.26.4
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from suda import suda

people = pd.DataFrame({
    "sex": ["F", "F", "M", "M", "M"], "town": ["A", "A", "A", "A", "B"], "job": ["x", "y", "x", "y", "y"]
})
scored = suda(people, max_msu=3, dis=0.1)
print("suda", version("suda"), "scores:", scored["suda"].tolist(), "dis-suda:", scored["dis-suda"].tolist())
assert (scored["suda"] > 0).all()
assert (scored["dis-suda"] == 0).all(), "the behaviour changed"
assert (people["suda"] == 0).all() and (people["sex"].dtype == "category"), "the behaviour changed"
PYTHON
