#!/usr/bin/env bash
# mlcroissant 1.1.1: each text in a column of truth values is true.
#
# Believed: a value of a field whose dataType is sc:Boolean is false for no, N and 0, or is refused.
# Seen: a column of yes and no is all true, as is 0 in a column in which another cell is a word. A column of 0 and 1,
# or of true and false, is read as such.
# What follows: everybody in a survey has the disease. Look at whether a column has both values.
set -euo pipefail
beside=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check mlcroissant==1.1.1 pandas==3.1.1 numpy==2.4.6 pyarrow==26.0.1
cd "$work"
PYTHONPATH=$beside PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version
from pathlib import Path

from croissant_records import records

Path("answers.csv").write_text("ill,well,number,mixed\nyes,true,1,1\nno,false,0,0\nno,true,1,no\n")
seen = records("answers.csv", "text/csv", ill="Boolean", well="Boolean", number="Boolean", mixed="Boolean")
print("mlcroissant", version("mlcroissant"), seen)
assert seen["well"] == seen["number"] == [True, False, True]
assert seen["ill"] == [True, True, True], "the behaviour changed"
assert seen["mixed"] == [True, True, True], "the behaviour changed"
PYTHON
