#!/usr/bin/env bash
# polars-readstat 0.25.0: the labels of missing values are used for Stata's files, and not for SPSS' files.
#
# Believed: `InformativeNullOpts(use_value_labels=True)`, the default, names each declared missing value by its label
# ("prefer a value label"), whatever the format.
# Seen: `.a` of a .dta file is "refused"; 99 of an .sav file, with the same label, is "99". With
# `value_labels_as_strings=True`, which is about the other values, it is "refused" there, too. And merged into one
# column, without it, 1 is "1.0" beside "99".
# What follows: a count of the reasons is by words in one country's file and by codes in the other's.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check polars-readstat==0.25.0 polars==2.1.0 pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
import pyreadstat
from polars_readstat import InformativeNullOpts, read_readstat

labels = {"q": {1: "yes", 99: "refused"}}
pyreadstat.write_sav(
    pd.DataFrame({"q": [1.0, 99.0]}), "q.sav", missing_ranges={"q": [99]}, variable_value_labels=labels
)
stata = pd.DataFrame({"q": pd.Series([1, "a"], dtype=object)})
labels = {"q": {1: "yes", "a": "refused"}}
pyreadstat.write_dta(stata, "q.dta", missing_user_values={"q": ["a"]}, variable_value_labels=labels)


def read(name, mode, words):
    nulls = InformativeNullOpts(mode=mode)
    table = read_readstat(name, preserve_order=True, informative_nulls=nulls, value_labels_as_strings=words)
    return table[table.columns[-1]].to_list()


seen = {
    (name, mode, words): read(name, mode, words)
    for name in ("q.sav", "q.dta") for mode in ("separate_column", "merged_string") for words in (False, True)
}
print("polars-readstat", version("polars-readstat"))
for how, values in seen.items():
    print(how, values)
assert seen["q.dta", "separate_column", False] == [None, "refused"]
assert seen["q.sav", "separate_column", False] == [None, "99"], "the behaviour changed"
assert seen["q.sav", "merged_string", False] == ["1.0", "99"], "the behaviour changed"
assert seen["q.sav", "merged_string", True] == ["yes", "refused"], "the behaviour changed"
PYTHON
