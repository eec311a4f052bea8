#!/usr/bin/env bash
# SPSS' portable files: who refused and who was not asked are one to pyreadstat 1.3.7, and nothing says so.
#
# Believed: read_por gives the values that a file declares missing (9, "refused") as read_sav does: left out, with the
# declaration in missing_ranges, and as they are if they are asked for.
# Seen: the same four people, written by SPSS' free sibling as .sav and .por: both readers leave 9 out. read_sav can be
# asked for it, and states the range. read_por has no such parameter, and its missing_ranges is empty, so that the
# person who refused and the one without an answer are both None; the label of 9 is there, and no row has it.
# What follows: shares of refusals are 0 in whatever came as .por; convert such files in a program that knows the
# declaration, or take .sav.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
# Made up: sex is 1, 2, 9 (declared missing, "refused") and nothing, of P001 to P004.
cat > people.por <<'PORTABLE'
ASCII SPSS PORT FILE                    ASCII SPSS PORT FILE                    
ASCII SPSS PORT FILE                    ASCII SPSS PORT FILE                    
ASCII SPSS PORT FILE                    0000000000000000000000000000000000000000
0000000000000000000000000123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst
uvwxyz .<(+|&[]!$*);^-/|,%_>?`:$@'="000000~-0000123456789000-()0{}\0000000000000
00000000000000000000000000000000000000000000000000000000SPSSPORTA8/202611306/160
3461E/GNU pspp 1.6.23J/x86_64-pc-linux-gnu42/5B/74/6/PERSON1/4/0/1/4/0/70/3/SEX5
/1/0/5/1/0/89/D1/3/SEX3/1/6/female2/4/male9/7/refusedF4/P0011/4/P0022/4/P0039/4/
P004*.ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ
PORTABLE
"$work/venv/bin/python" - <<'PYTHON'
import pandas as pd
import pyreadstat

table, about = pyreadstat.read_por("people.por", output_format="dict")
print("pyreadstat", pyreadstat.__version__)
print("read_por:", dict(table), "declared missing:", about.missing_ranges, "labels:", about.variable_value_labels)
assert list(table["SEX"]) == [1.0, 2.0, None, None], "the behaviour changed"
assert about.missing_ranges == {} and about.variable_value_labels["SEX"][9.0] == "refused", "the behaviour changed"
assert "user_missing" not in pyreadstat.read_por.__doc__, "the behaviour changed"

people = pd.DataFrame({"person": ["P001", "P002", "P003", "P004"], "sex": [1.0, 2.0, 9.0, None]})
pyreadstat.write_sav(people, "people.sav", missing_ranges={"sex": [9]}, variable_value_labels={"sex": {9: "refused"}})
asked, said = pyreadstat.read_sav("people.sav", user_missing=True, output_format="dict")
print("read_sav, user_missing:", dict(asked), "declared missing:", said.missing_ranges)
assert list(asked["sex"])[:3] == [1.0, 2.0, 9.0], "the behaviour changed"
assert said.missing_ranges == {"sex": [{"lo": 9.0, "hi": 9.0}]}, "the behaviour changed"
PYTHON
