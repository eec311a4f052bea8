#!/usr/bin/env bash
# svy-io 0.7.1: declared missing values of text columns are read as values.
#
# Believed: read_sav gives values that the file declares missing as missing, as it does by default (`user_na=False`)
# and as haven, pyreadstat and readstat-arrow do, whatever the type of the column.
# Seen: 99 of a column of numbers is missing, and "99" of a column of text is "99". The metadata lists the first column
# under `user_missing`, and not the second one.
# What follows: refusals of a question that is coded by letters or digits as text are counted as answers.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check svy-io==0.7.1 polars==2.1.0 pyarrow==26.0.1 pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
import pyreadstat
from svy_io import read_sav

table = pd.DataFrame({"NUMBER": [1.0, 99.0], "TEXT": ["1", "99"]})
pyreadstat.write_sav(table, "answers.sav", missing_ranges={"NUMBER": [99], "TEXT": ["99"]})
frame, metadata = read_sav("answers.sav", normalize_names=False)
other = pyreadstat.read_sav("answers.sav", output_format="polars")[0]
print("svy-io", version("svy-io"), frame.to_dict(as_series=False), metadata["user_missing"])
assert other["TEXT"].to_list() == ["1", None]
assert frame.to_dict(as_series=False) == {"NUMBER": [1.0, None], "TEXT": ["1", "99"]}, "the behaviour changed"
assert [one["col"] for one in metadata["user_missing"]] == ["NUMBER"], "the behaviour changed"
PYTHON
