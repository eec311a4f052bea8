#!/usr/bin/env bash
# csvw 4.1.1: a file is valid though its columns have other names, and its rows too few or too many cells.
#
# Believed: CSVW(..., validate=True).is_valid is False where the header has other names than the description, or a row
# another number of cells: the standard calls such tables incompatible, an error for a validator.
# Seen: it is True. A column that is called Alter, and described as Age, is read under both names: text under the
# first, missing under the second, with a warning at that time only. A row of one cell has a missing value more, and of
# a row of three cells the third one is gone. (A header with another number of columns is found, and a wrong number.)
# What follows: compare the header with the description yourself, before a missing age is taken for one.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check csvw==4.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import json
from importlib.metadata import version
from pathlib import Path

from csvw import CSVW

COLUMNS = [{"name": "age", "titles": "Age", "datatype": "integer"}, {"name": "sex"}]


def judged(text):
    Path("people.csv").write_text(text)
    described = {"@context": "http://www.w3.org/ns/csvw", "url": "people.csv", "tableSchema": {"columns": COLUMNS}}
    Path("people.csv-metadata.json").write_text(json.dumps(described))
    table = CSVW("people.csv-metadata.json", validate=True)
    return table.is_valid, len(table.warnings), table.is_valid and [dict(row) for row in table.t]


seen = {"name": judged("Alter,sex\n30,F\n"), "short": judged("Age,sex\n30\n"), "long": judged("Age,sex\n30,F,x\n")}
print("csvw", version("csvw"), seen)
assert judged("Age,sex\nold,F\n")[0] is False and judged("Age,sex,x\n30,F,x\n")[0] is False
assert seen["name"] == (True, 0, [{"Alter": "30", "sex": "F", "age": None}]), "the behaviour changed"
assert seen["short"] == (True, 0, [{"age": 30, "sex": None}]), "the behaviour changed"
assert seen["long"] == (True, 0, [{"age": 30, "sex": "F"}]), "the behaviour changed"
PYTHON
