#!/usr/bin/env bash
# pandas 3.1.1: a 0 in a SAS transport file is read as a tiny number that is not 0.
#
# Believed: read_sas gives a number of an .xpt file as it was written, and above all 0, which every format has.
# Seen: 0, which the file holds as eight bytes of zero, is read as about 5.4e-79. Other numbers, and missing ones,
# are right, and pyreadstat reads 0. IBM's floating point has no hidden first bit, and all bits zero are 0 in it; as
# any other number they would be the smallest one.
# What follows: nobody has a count of 0 (`column == 0` is false for all, and `column > 0` is true), such as days in
# hospital or cigarettes a day, and a sum does not show it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from pathlib import Path

import pandas as pd
import pyreadstat

days = pd.DataFrame({"DAYS": [0.0, 1.0, 14.0, None]})
pyreadstat.write_xport(days, "stays.xpt", file_format_version=5)
content = Path("stays.xpt").read_bytes()
first = content.rindex(b"HEADER RECORD*******OBS") + 80
print("the bytes of 0:", content[first : first + 8].hex())
assert content[first : first + 8] == bytes(8)
read = pd.read_sas("stays.xpt", format="xport")["DAYS"]
other = pyreadstat.read_xport("stays.xpt")[0]["DAYS"]
print("pandas", pd.__version__, read.tolist(), "pyreadstat", pyreadstat.__version__, other.tolist())
assert other[0] == 0 and read[1:3].tolist() == [1, 14] and read[3:].isna().all()
assert 0 < read[0] < 1e-78 and not (read == 0).any(), "the behaviour changed"
PYTHON
