#!/usr/bin/env bash
# pyreadstat 1.3.7: with polars, a column of a file that has types has the type of those of its values that are
# read.
#
# Believed: a numeric column of an .sav or .dta file is Float64 whatever is in it: the file says so. With pandas it
# is.
# Seen: where no value is there, as in a file without rows, or in a part of it that was read alone (`row_limit`,
# read_file_in_chunks), a numeric column is Null, and so is text of a file without rows; a column of dates keeps its
# type.
# What follows: parts of one file can't be put above one another (pl.concat raises SchemaError), and code that
# selects numeric columns misses one as long as nobody has answered the question.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 polars==2.1.0 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import datetime as dt

import polars as pl
import pyreadstat

answers = pl.DataFrame(
    {"score": [None, None, 1.5], "day": [None, None, dt.date(2024, 1, 1)], "town": ["", "", "x"]},
    schema={"score": pl.Float64, "day": pl.Date, "town": pl.String},
)
none = {"score": pl.Null, "day": pl.Date, "town": pl.Null}
print("pyreadstat", pyreadstat.__version__, "polars", pl.__version__)
for kind in ("sav", "dta"):
    write, read = getattr(pyreadstat, f"write_{kind}"), getattr(pyreadstat, f"read_{kind}")
    write(answers, f"answers.{kind}")
    write(answers.head(0), f"nobody.{kind}")
    whole = read(f"answers.{kind}", output_format="polars")[0]
    part = read(f"answers.{kind}", row_limit=2, output_format="polars")[0]
    nobody = read(f"nobody.{kind}", output_format="polars")[0]
    print(kind, "whole", dict(whole.schema), "two rows", dict(part.schema), "no rows", dict(nobody.schema))
    assert str(read(f"nobody.{kind}")[0]["score"].dtype) == "float64"
    assert whole.schema == answers.schema
    assert part.schema["score"] == pl.Null and dict(nobody.schema) == none, "the behaviour changed"
    try:
        pl.concat([part, whole])
    except pl.exceptions.SchemaError as error:
        print("concat:", str(error).splitlines()[0])
    else:
        raise SystemExit("the behaviour changed")
PYTHON
