#!/usr/bin/env bash
# pyreadstat 1.3.7: a missing number of a Stata file is read as 0, if other ones are missing for a reason.
#
# Believed: read_dta(user_missing=True) gives the letters of the tagged missing values (.a to .z) as text, and
# still gives Stata's plain missing value (.) as missing.
# Seen: in a column of whole numbers that has both, the plain missing value becomes 0, and nothing says so. Without
# user_missing, with output_format="polars", or in a column of decimals it is missing.
# What follows: a count or mean by the option that is meant to preserve why values are missing has zeros that
# nobody gave.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==3.1.1 polars==2.1.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import pandas as pd
import pyreadstat

children = pd.DataFrame({"children": pd.Series([1, "a", None], dtype=object)})  # "a": refused
pyreadstat.write_dta(children, "people.dta", missing_user_values={"children": ["a"]})
read = pyreadstat.read_dta("people.dta", user_missing=True)[0]["children"].tolist()
plain = pyreadstat.read_dta("people.dta")[0]["children"].isna().tolist()
polars = pyreadstat.read_dta("people.dta", user_missing=True, output_format="polars")[0]["children"].to_list()
print("pyreadstat", pyreadstat.__version__, "written:", children["children"].tolist())
print("user_missing, pandas:", read)
print("user_missing, polars:", polars)
print("missing without user_missing:", plain)
assert read == [1, "a", 0], "the behaviour changed"
assert polars == [1, "a", None] and plain == [False, True, True], "the behaviour changed"
PYTHON
