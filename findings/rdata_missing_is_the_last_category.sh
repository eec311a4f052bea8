#!/usr/bin/env bash
# rdata 1.1.0: a missing category that was written is the last category when it is read.
#
# Believed: a categorical column of pandas comes back from an .rds or .rda file as it was: who has no answer has none.
# Seen: a missing code of a factor (-1 in pandas) is written as 0, where R has its own missing integer, and is read as the
# category before the first, which Python takes from the end: lo, missing, hi is read as lo, hi, hi. Nothing is said.
# A missing number, text or truth value stays missing. pyreadr reads the same file with a missing value, and rdata reads
# pyreadr's file rightly: the fault is in what is written, and in how 0 is read.
# What follows: write missing answers as a category of their own, or as text, or by pyreadr. An ordered one is read as
# unordered by both.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check rdata==1.1.0 pandas==2.3.3 xarray==2026.9.0 pyreadr==0.5.8
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas as pd
import pyreadr
import rdata

answers = pd.DataFrame({"income": pd.Categorical(["lo", None, "hi"], categories=["lo", "mid", "hi"])})
rdata.write_rds("by_rdata.rds", answers)
rdata.write_rda("by_rdata.rda", {"answers": answers})
pyreadr.write_rds("by_pyreadr.rds", answers)
seen = {
    "written and read": list(rdata.read_rds("by_rdata.rds")["income"]),
    "as .rda": list(rdata.read_rda("by_rdata.rda")["answers"]["income"]),
    "read by pyreadr": pyreadr.read_r("by_rdata.rds")[None]["income"].astype(object).fillna("missing").tolist(),
    "written by pyreadr": rdata.read_rds("by_pyreadr.rds")["income"].astype(object).fillna("missing").tolist(),
}
print("rdata", version("rdata"), "pyreadr", version("pyreadr"), seen)
assert seen["written and read"] == seen["as .rda"] == ["lo", "hi", "hi"], "the behaviour changed"
assert seen["read by pyreadr"] == seen["written by pyreadr"] == ["lo", "missing", "hi"]
PYTHON
