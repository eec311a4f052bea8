#!/usr/bin/env bash
# python-stdnum 2.2: a NACE code that lost its zero is another, valid one.
#
# Believed: nace.validate refuses 1.1 (01.1, growing of crops, as a spreadsheet leaves it), as it refuses 1 and 1.11;
# nace.format writes a code as the classification does, whatever way it was written.
# Seen: the point is taken out before anything else, so that 1.1 is the valid division 11, manufacture of beverages,
# 2.1 is 21, pharmaceuticals, and 6.2 is 62, programming. And format puts a second point into a code that has one:
# 01..1, which is valid again.
# What follows: check for two digits before the point before you validate: about every group below 10 passes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check python-stdnum==2.2
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from stdnum.eu import nace

lost = {code: nace.validate(code) for code in ("1.1", "2.1", "3.1", "6.2") if nace.is_valid(code)}
print("python-stdnum", version("python-stdnum"), {code: (was, nace.get_label(was)) for code, was in lost.items()})
print("format('01.1'):", nace.format("01.1"), "valid:", nace.is_valid(nace.format("01.1")))
assert lost == {"1.1": "11", "2.1": "21", "3.1": "31", "6.2": "62"}, "the behaviour changed"
assert not nace.is_valid("1") and not nace.is_valid("1.11")
assert nace.get_label("1.1") == "Manufacture of beverages", "the behaviour changed"
assert nace.get_label("01.1") == "Growing of non-perennial crops"
assert nace.format("01.1") == "01..1" and nace.format("011") == "01.1", "the behaviour changed"
PYTHON
