#!/usr/bin/env bash
# polars-readstat 0.25.0: `compress` makes codes missing that look like numbers.
#
# Believed: with `compress=True` a column of text becomes numbers where each of its values is one, and no value is
# lost.
# Seen: " 1" and "1e3" count as numbers when the type is chosen, and are missing when the values are made: of 1e3, 2, 3
# in a column, the first one is gone. A letter that can't be in a number leaves the column as it is. ("007" becomes 7.)
# What follows: wards, grades or ICD-11 codes such as 1E32, in a column of which all look like numbers, arrive with
# gaps, from .sav and from .dta, without a word.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check polars-readstat==0.25.0 polars==2.1.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import polars as pl
from polars_readstat import read_readstat, write_readstat

table = pl.DataFrame({"ward": ["1e3", "2", "3"], "grade": [" 1", "2", "3"], "room": ["0x1", "2", "3"]})
for name in ("table.sav", "table.dta"):
    write_readstat(table, name)
    plain = read_readstat(name, preserve_order=True)
    small = read_readstat(name, preserve_order=True, compress=True)
    print("polars-readstat", version("polars-readstat"), name, small.to_dict(as_series=False))
    assert plain["ward"].to_list() == ["1e3", "2", "3"]
    assert small["ward"].to_list() == [None, 2, 3], "the behaviour changed"
    assert small["grade"].to_list() == [None, 2, 3], "the behaviour changed"
    assert small["room"].to_list() == ["0x1", "2", "3"], "the behaviour changed"
PYTHON
