#!/usr/bin/env bash
# pandera 0.35.0: rows that can't be read as numbers are dropped, and the others are text that nothing checked.
#
# Believed: a schema with coerce and drop_invalid_rows returns the rows that fit it: of "1", "x" and "3", as whole
# numbers of at least 2, it is [3].
# Seen: it is ["1", "3"], text, and 1 is below 2. Where one value of a column can't be cast, its row goes, and no other
# value of the table is cast or checked: a negative number of another column stays, and that column is text, too.
# Without an "x" all is as believed. Of two dates, one of them a 30 February, none is left. No error, and the schema
# refuses that result, as numbers, if it may not drop rows. All this is of polars: the same schema for pandas refuses
# the table.
# What follows: what was validated is not what the schema says, as soon as one value is bad. Validate the result again,
# without dropping.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pandera==0.35.0 polars==2.1.0 pandas==2.3.3 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import warnings

warnings.simplefilter("ignore")
import pandas as pd
import pandera
import pandera.pandas
import pandera.polars
import polars as pl


def kept(library, frame, drop=True):
    at_least = {"x": 2, "y": 0}
    schema = library.DataFrameSchema(
        {name: library.Column(int, library.Check.ge(at_least[name]), coerce=True) for name in frame.columns},
        drop_invalid_rows=drop,
    )
    try:
        table = schema.validate(frame, lazy=True)
    except pandera.errors.SchemaErrors:
        return "refused"
    return {name: list(table[name]) for name in frame.columns}


good = kept(pandera.polars, pl.DataFrame({"x": ["1", "2", "3"]}))
bad = {"x": ["1", "x", "3"], "y": ["5", "6", "-7"]}
seen = kept(pandera.polars, pl.DataFrame(bad))
of_pandas = kept(pandera.pandas, pd.DataFrame(bad))
again = kept(pandera.polars, pl.DataFrame({"x": [1, 3], "y": [5, -7]}), drop=False)
dates = pandera.polars.DataFrameSchema({"x": pandera.polars.Column(pl.Date, coerce=True)}, drop_invalid_rows=True)
days = dates.validate(pl.DataFrame({"x": ["2024-01-01", "2024-02-30"]}), lazy=True)["x"].to_list()
print("pandera", pandera.__version__, "good:", good, "with one x:", seen, "pandas:", of_pandas, "days:", days)
assert good == {"x": [2, 3]} and of_pandas == again == "refused"
assert seen == {"x": ["1", "3"], "y": ["5", "-7"]}, "the behaviour changed"
assert days == [], "the behaviour changed"
PYTHON
