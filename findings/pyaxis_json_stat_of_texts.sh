#!/usr/bin/env bash
# pyaxis 0.4.3: to_json_stat writes numbers as texts, and changes the table that it is given.
#
# Believed: json_stat.to_json_stat(table) is a JSON-stat dataset of a PC-Axis table, whose values are numbers or null,
# in the order of the file; the table that was given stays what it was.
# Seen: values are texts ('8.50', '"-"' with its quotation marks, and '' for "."), in the order of the labels' letters
# (10-19 before 5-9); and the metadata of the table says afterwards that its rows (STUB) are by the columns, too, and
# by `Variables`, so that a second call ends in a KeyError.
# What follows: sums of the values put texts together. Convert a deep copy, and the values after that.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyaxis==0.4.3 pyjstat==2.4.0 pandas==3.1.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import logging
import warnings
from importlib.metadata import version
from pathlib import Path

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
from pyaxis import json_stat, pyaxis

Path("people.px").write_text("""CHARSET="ANSI";
AXIS-VERSION="2010";
TITLE="People";
STUB="age";
HEADING="year";
VALUES("age")="5-9","10-19";
VALUES("year")="2023","2024";
DATA=
1 8.50
"-" ".";
""")
table = pyaxis.parse("people.px", "utf-8")
cube = json_stat.to_json_stat(table)
ages = list(cube["dimension"]["age"]["category"]["index"])
print("pyaxis", version("pyaxis"), cube["value"], ages, "STUB is now", table["METADATA"]["STUB"])
assert cube["value"] == ['"-"', "", "1", "8.50"] and ages == ["10-19", "5-9"], "the behaviour changed"
assert table["METADATA"]["STUB"] == ["age", "year", "Variables"], "the behaviour changed"
try:
    json_stat.to_json_stat(table)
except KeyError as error:
    print("again:", error)
else:
    raise SystemExit("the behaviour changed")
PYTHON
