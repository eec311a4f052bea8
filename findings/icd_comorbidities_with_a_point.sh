#!/usr/bin/env bash
# icd 0.1.3: codes that are written with their point have the comorbidities of three characters, and no others.
#
# Believed: E11.9 and E119 are one code, and have one comorbidity; a way of writing that is not known has an error, or
# at least nothing at all.
# Seen: the table of codes has no points, and a code is looked for as it is. So I50.9, C34.1 and J44.1 are found by
# their first three characters, and what the table has with four is missing. Of 397 codes of the Elixhauser table, 212
# are found, with a point; diabetes of both kinds, ulcers and anaemia by loss of blood never are. No error.
# What follows: a register with points has sick hearts and no diabetes. Take the points out first.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check icd==0.1.3 pandas==2.3.3 numpy==2.3.5
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import json
from importlib.metadata import files, version

import pandas as pd
from icd.icd_to_comorbidities import icd_to_comorbidities


def comorbidities(codes):
    found = icd_to_comorbidities(pd.DataFrame({"id": codes, "code": codes}), "id", ["code"]).drop(columns="id")
    return {code: list(found.columns[found.loc[code].astype(bool)]) for code in codes}


def pointed(code):
    return code if len(code) == 3 else f"{code[:3]}.{code[3:]}"


(path,) = (each.locate() for each in files("icd") if each.name == "quan_elixhauser10.json")
table = json.loads(path.read_text())
listed = sorted({code for codes in table.values() for code in codes})
plain, points = comorbidities(listed), comorbidities([pointed(code) for code in listed])
lost = [code for code in listed if plain[code] and not points[pointed(code)]]
gone = [name for name, codes in table.items() if all(name not in points[pointed(code)] for code in codes)]
examples = comorbidities(["I509", "I50.9", "E119", "E11.9"])
print("icd", version("icd"), examples, "codes that are found:", len(listed), "with a point:", len(listed) - len(lost))
print("never found with a point:", gone)
assert examples["I509"] == examples["I50.9"] == ["congestive_heart_failure"]
assert examples["E119"] == ["diabetes_uncomplicated"]
assert examples["E11.9"] == [] and (len(listed), len(listed) - len(lost)) == (397, 212), "the behaviour changed"
assert gone[:2] == ["diabetes_uncomplicated", "diabetes_complicated"] and len(gone) == 4, "the behaviour changed"
PYTHON
