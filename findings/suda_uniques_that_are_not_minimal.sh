#!/usr/bin/env bash
# suda 0.2.2: who is alone in their town is found again by each combination with the town.
#
# Believed: a minimal sample unique has no smaller part that is unique, as in the papers that the page cites: somebody
# who is unique by their town alone, of three columns, has one, and the score (3 - 1)! = 2.
# Seen: they have four, and the score 5: town, town and sex, town and job, and all three are counted. With max_msu 1, 2
# and 3 the score is 2, 4 and 5, though nothing else is unique. Somebody who is unique by all three columns only has 1,
# as they should.
# What follows: the scores are not those of sdcMicro or of the papers, and grow with max_msu; uniques by one value weigh
# more.
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
seen = []
for most in (1, 2, 3):
    scored = suda(people.copy(), max_msu=most)
    seen.append((int(scored.loc[4, "msu"]), int(scored.loc[4, "fM"]), int(scored.loc[4, "suda"])))
print("suda", version("suda"), "size, number, score of the one in town B:", seen)
assert (int(scored.loc[3, "fM"]), int(scored.loc[3, "suda"])) == (1, 1)
assert seen == [(1, 1, 2), (1, 3, 4), (1, 4, 5)], "the behaviour changed"
PYTHON
