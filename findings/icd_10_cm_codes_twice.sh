#!/usr/bin/env bash
# simple-icd-10-cm 1.5.0: 39 codes are in the list of all codes twice, and each is its own parent.
#
# Believed: get_all_codes lists a code once, get_parent goes up until there is no parent, and a code is either a
# block or a category.
# Seen: C50, B20, Z66 and 36 others are both a block and the category of the same name in it. get_parent('C50') is
# C50, so that a loop that walks up never ends, get_children('C50') has the subcategories and not the category, and
# C50.0 has C50 among its ancestors twice. is_leaf says of B20 that it is a leaf, of block and category alike.
# What follows: a table that is made of this list has C50 twice, so that joining diagnoses to it counts breast
# cancer twice; and paths by get_ancestors are a level deeper there than elsewhere.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check simple-icd-10-cm==1.5.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import warnings
from collections import Counter
from importlib.metadata import version

warnings.simplefilter("ignore")
import simple_icd_10_cm as icd

twice = [code for code, times in Counter(icd.get_all_codes()).items() if times > 1]
print("simple-icd-10-cm", version("simple-icd-10-cm"), "twice:", len(twice), twice)
print("C50: parent", icd.get_parent("C50"), "children", icd.get_children("C50")[:2])
print("C50.0: ancestors", icd.get_ancestors("C50.0"))
assert len(twice) == 39 and {"B20", "C50", "Z66"} <= set(twice), "the behaviour changed"
assert all(icd.get_parent(code) == code and icd.is_block(code) and icd.is_category(code) for code in twice)
assert icd.get_ancestors("C50.0") == ["C50", "C50", "2"], "the behaviour changed"
PYTHON
