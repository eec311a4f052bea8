#!/usr/bin/env bash
# icd10-am 0.1.1: anaemias are children of B12, a category that there is none, and broken ribs of T12, the spine.
#
# Believed: the parent of a code of ICD-10-AM is the category that it begins with, and lists it among its children.
# Seen: the six codes of D51 (vitamin B12 deficiency anaemia) have the parent B12, a category "deficiency anaemia,
# unspecified" in the chapter of the blood, and D51 is "Vitamin", without children. Fifteen codes of S22, ribs among
# them, have T10 or T12, the fractures of the spine below. None of the 21 is a child of its parent. Four codes of F00
# have no parent, and B12 is in the list of categories.
# What follows: a hierarchy that goes up by get_parent counts broken ribs as spines; one that goes down by get_children
# does not have them at all.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check icd10-am==0.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from icd10am import ICD10

classification = ICD10()
codes = {code: entry for code, entry in classification.db.items() if entry["type"] != "chapter"}
elsewhere = {
    code: entry["parent"] for code, entry in codes.items()
    if entry["type"] == "child" and entry["parent"] and not code.startswith(entry["parent"])
}
print("icd10-am", version("icd10-am"), elsewhere)
print("B12:", classification.get_description("B12"), "- D51:", classification.get_description("D51"))
print("T12:", classification.get_description("T12"), "- S22.3:", classification.get_description("S22.3"))
assert set(elsewhere.values()) == {"B12", "T10", "T12"} and len(elsewhere) == 21, "the behaviour changed"
assert elsewhere["D51.0"] == "B12" and elsewhere["S22.3"] == "T12", "the behaviour changed"
assert not any(code in classification.get_children(parent) for code, parent in elsewhere.items())
assert classification.get_children("D51") == [], "the behaviour changed"
without = [code for code, entry in codes.items() if entry["parent"] is None]
assert without == ["F00.0", "F00.1", "F00.2", "F00.9"], "the behaviour changed"
PYTHON
