#!/usr/bin/env bash
# pandas 3.1.1, polars 2.1.0: an ordered categorical of pandas loses its order and its other categories in polars.
#
# Believed: pandas' ordered Categorical becomes an Enum in polars, as an Enum becomes an ordered Categorical in pandas.
# Seen: it becomes a Categorical, whose highest value is the last by its letters, and whose categories are those that
# occur; there and back, an Enum is none any more. A dictionary of pyarrow that is marked as ordered arrives so, too.
# What follows: levels of care that went through pandas for one step are sorted as text from there on, and those
# without a person are gone from tables of counts.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import pandas as pd
import polars as pl
import pyarrow as pa

levels = ["low", "middle", "high", "none yet"]
ordered = pd.DataFrame({"care": pd.Categorical(["low", "high", "middle"], categories=levels, ordered=True)})
enum = pl.DataFrame({"care": pl.Series(["low", "high", "middle"], dtype=pl.Enum(levels))})
codes = pa.DictionaryArray.from_arrays(pa.array([0, 2, 1], pa.int8()), pa.array(levels), ordered=True)
arrived = {
    "pandas": pl.from_pandas(ordered)["care"],
    "there and back": pl.from_pandas(enum.to_pandas())["care"],
    "pyarrow": pl.from_arrow(pa.table({"care": codes}))["care"],
}
print("pandas", pd.__version__, "polars", pl.__version__, "in pandas:", ordered["care"].max())
for source, care in arrived.items():
    print(source, care.dtype, "highest:", care.max(), "lowest:", care.min())
assert enum["care"].max() == "high" and enum.to_pandas()["care"].dtype.ordered
assert all(isinstance(care.dtype, pl.Categorical) for care in arrived.values()), "the behaviour changed"
assert {care.max() for care in arrived.values()} == {"middle"}, "the behaviour changed"
assert {care.min() for care in arrived.values()} == {"high"}, "the behaviour changed"
PYTHON
