#!/usr/bin/env bash
# pysdmx 1.21.0: codes of an SDMX-CSV file are read as numbers, and written as text again.
#
# Believed: dimensions are codes, so that each value of theirs is the text of the file; pysdmx gives text for all.
# Seen: the file is read by pandas' guess of types and cast to text after that: region 01 is "1", the code 1E30 is
# "1e+30", the flag true is "True", and the number 10.50 is "10.5". In a column with an empty cell, or with one letter,
# all stay as they are, so that the same region has two codes in two files. 1.0, 2.0 and 2.1 of the format alike.
# What follows: counts by region do not match the codelist, nor those of another file.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pysdmx[data,xml]==1.21.0 pandas==3.1.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import warnings
from importlib.metadata import version
from pathlib import Path

warnings.simplefilter("ignore")
from pysdmx.io import read_sdmx

HEAD = {
    "1.0": ("DATAFLOW,", "ME:PEOPLE(1.0),"),
    "2.0": ("STRUCTURE,STRUCTURE_ID,ACTION,", "dataflow,ME:PEOPLE(1.0),I,"),
}


def read(kind, *rows):
    head, line = HEAD[kind]
    text = [f"{head}REGION,ICD,TIME_PERIOD,OBS_VALUE", *(line + row for row in rows)]
    Path("people.csv").write_text("\n".join(text) + "\n")
    table = read_sdmx("people.csv", validate=False).data[0].data
    return table[["REGION", "ICD", "OBS_VALUE"]].to_numpy().tolist()


for kind in HEAD:
    some = read(kind, "01,1E30,2024,10.50", "02,1E40,2024,3.25")
    others = read(kind, "01,1E30,2024,10.50", "0A,XE40,2024,")
    print("pysdmx", version("pysdmx"), "SDMX-CSV", kind, some, others)
    assert some == [["1", "1e+30", "10.5"], ["2", "1e+40", "3.25"]], "the behaviour changed"
    assert others[0] == ["01", "1E30", "10.50"], "the behaviour changed"
PYTHON
