#!/usr/bin/env bash
# simple-icd-10-cm 1.5.0: twelve blocks have no codes in them, and are leaves of the classification.
#
# Believed: a leaf is a diagnosis, and a block such as C00-C96 has all codes from C00 to C96 below it.
# Seen: C00-C96, C00-C75, M00-M25, V00-X58 and eight other ranges are valid, have a chapter as their parent and
# nothing below them, and is_leaf says that they are leaves. The codes that they name stand below narrower blocks
# beside them.
# What follows: a tree that is made of parents and children offers ranges as values of a person, and grouping at
# C00-C96 finds nobody with cancer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check simple-icd-10-cm==1.5.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
import simple_icd_10_cm as icd

codes = set(icd.get_all_codes())
leaves = sorted(code for code in codes if icd.is_leaf(code) and not icd.is_category_or_subcategory(code))
print("simple-icd-10-cm", version("simple-icd-10-cm"), "leaves that are no diagnosis:", leaves)
print("C00-C96:", icd.get_children("C00-C96"), "parent", icd.get_parent("C00-C96"))
print("C50.0 is in", icd.get_ancestors("C50.0"))
assert "C00-C96" in leaves and len(leaves) == 12, "the behaviour changed"
assert all(icd.is_chapter(icd.get_parent(code)) for code in leaves), "the behaviour changed"
assert "C00-C96" not in icd.get_ancestors("C50.0"), "the behaviour changed"
PYTHON
