#!/usr/bin/env bash
# csvw 4.1.1: each file is valid where warnings are switched off.
#
# Believed: is_valid says whether the file is as it is described, however the program treats warnings.
# Seen: the faults are collected as warnings, by python's filter: under `warnings.simplefilter("ignore")`, `python -W
# ignore` or PYTHONWARNINGS=ignore, a word in a column of integers and a header with a column too many are valid. With
# "error", is_valid ends in an error instead of False.
# What follows: a job that silences warnings, as most notebooks do somewhere, has a validator that finds nothing.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check csvw==4.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import json
import warnings
from importlib.metadata import version
from pathlib import Path

from csvw import CSVW


def is_valid(text, how):
    Path("people.csv").write_text(text)
    schema = {"columns": [{"name": "id"}, {"name": "age", "datatype": "integer"}]}
    described = {"@context": "http://www.w3.org/ns/csvw", "url": "people.csv", "tableSchema": schema}
    Path("people.csv-metadata.json").write_text(json.dumps(described))
    with warnings.catch_warnings():
        warnings.simplefilter(how)
        return CSVW("people.csv-metadata.json", validate=True).is_valid


texts = {"right": "id,age\n1,30\n", "word": "id,age\n1,old\n", "header": "id,age,sex\n1,30,F\n"}
seen = {how: {name: is_valid(text, how) for name, text in texts.items()} for how in ("default", "ignore")}
print("csvw", version("csvw"), seen)
assert seen["default"] == {"right": True, "word": False, "header": False}
assert seen["ignore"] == {"right": True, "word": True, "header": True}, "the behaviour changed"
PYTHON
