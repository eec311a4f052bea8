#!/usr/bin/env bash
# opendp 0.16.0: the text false, and the text 0, are cast to True.
#
# Believed: make_cast_default from text to bool gives True for true, False for false, and the default, False, for
# what is neither.
# Seen: every text but the empty one is True: false, False, 0 and no are. Numbers are read more strictly than
# elsewhere: ` 3` with a space before it and 2.0 are the default, 0, as whole numbers.
# What follows: the private count of smokers of a CSV file with true and false is a count of those who answered.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check opendp==0.16.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import opendp.prelude as dp

dp.enable_features("contrib")
texts = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
to_bool = dp.t.make_cast_default(*texts, TOA=bool)
to_int = dp.t.make_cast_default(*texts, TOA=int)
words = ["true", "false", "False", "0", "no", ""]
numbers = ["3", " 3", "2.0", "x"]
print("opendp", version("opendp"), dict(zip(words, to_bool(words))), dict(zip(numbers, to_int(numbers))))
assert to_int(["3"]) == [3] and to_bool(["true", ""]) == [True, False]
assert to_bool(["false", "False", "0", "no"]) == [True] * 4, "the behaviour changed"
assert to_int([" 3", "2.0", "x"]) == [0, 0, 0], "the behaviour changed"
PYTHON
