#!/usr/bin/env bash
# mlcroissant 1.1.1: a column of a CSV file that is declared as text is read as numbers first.
#
# Believed: the values of a field whose dataType is sc:Text are the characters of the file.
# Seen: pandas guesses the types, and text is made of the guess: 007 is b'7', 1E30 is b'1e+30', true is b'True', and NA,
# null and an empty cell are missing. In a column with one letter elsewhere, 007 stays what it is.
# What follows: postcodes, codes of diagnoses and of countries (Namibia) are others than in the file that is described,
# and others than in the same table as Parquet.
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

Path("codes.csv").write_text("postcode,icd,country,mixed\n007,1E30,NA,007\n010,1E40,PT,A1\n")
seen = records("codes.csv", "text/csv", postcode="Text", icd="Text", country="Text", mixed="Text")
print("mlcroissant", version("mlcroissant"), seen)
assert seen["mixed"] == [b"007", b"A1"]
assert seen["postcode"] == [b"7", b"10"], "the behaviour changed"
assert seen["icd"] == [b"1e+30", b"1e+40"], "the behaviour changed"
assert seen["country"] == [None, b"PT"], "the behaviour changed"
PYTHON
