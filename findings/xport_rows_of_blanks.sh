#!/usr/bin/env bash
# SAS transport files: four rows of text are read as one by pyreadstat 1.3.7, and as eight by pandas 3.1.1.
#
# Believed: an .xpt file (version 5) has as many rows as were written, and two readers agree how many.
# Seen: version 5 states no number of rows, and fills its last 80 bytes with blanks, which look like rows of empty
# text. pyreadstat drops all of those at the end, so that people without an answer are gone (4 rows become 1);
# pandas keeps them and the filling, so that people are added (4 become 8). Version 8 states the number: pyreadstat
# reads 4.
# What follows: a column of free text on its own, or with other texts that may be empty, changes its number of
# people by the reader. A number in the last row avoids it: a missing one is no blank.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import pandas as pd
import pyreadstat

remarks = pd.DataFrame({"remark": ["x", "", "", ""]})
rows = {}
for version in (5, 8):
    pyreadstat.write_xport(remarks, "remarks.xpt", file_format_version=version)
    rows["pyreadstat", version] = len(pyreadstat.read_xport("remarks.xpt")[0])
    if version == 5:
        rows["pandas", version] = len(pd.read_sas("remarks.xpt", encoding="infer"))
print("pyreadstat", pyreadstat.__version__, "pandas", pd.__version__, "rows written:", len(remarks))
for (reader, version), count in rows.items():
    print(f"{reader}, version {version}: {count} rows")
assert rows == {("pyreadstat", 5): 1, ("pandas", 5): 8, ("pyreadstat", 8): 4}, "the behaviour changed"
PYTHON
