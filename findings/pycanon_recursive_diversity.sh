#!/usr/bin/env bash
# pycanon 1.3.6: recursive (c,l)-diversity is counted from the rarest value, not from the most frequent one.
#
# Believed: a group with nine people of one illness and one of another is recursively (c,2)-diverse for c above 9
# alone: the most frequent count must be less than c times the sum of those from the l-th on (Machanavajjhala et
# al., 2006).
# Seen: the answer is c = 1. The counts are sorted upwards, so that 1 is divided by 9, and the same answer is given
# for a group of six and four, for which c must be above 1.5.
# What follows: the measure is blind to the skew that it was made for: both groups look alike.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pycanon==1.3.6 pandas==2.3.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
from pycanon import anonymity

answers, quotients = {}, {}
for frequent, rare in ((9, 1), (99, 1), (6, 4)):
    group = pd.DataFrame({"age": ["30-39"] * (frequent + rare), "illness": ["flu"] * frequent + ["gout"] * rare})
    c, l_diversity = anonymity.recursive_c_l_diversity(group, ["age"], ["illness"])
    answers[frequent, rare] = (int(c), int(l_diversity))
    quotients[frequent, rare] = frequent / rare
print("pycanon", version("pycanon"), "c must be above:", quotients)
print("c and l answered:", answers)
assert set(answers.values()) == {(1, 2)}, "the behaviour changed"
PYTHON
