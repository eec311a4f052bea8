#!/usr/bin/env bash
# lifetables 0.0.11: people of the last, open age live half a year, and no decomposition has a word for them.
#
# Believed: those of 85 and more, of whom a tenth die a year, live ten years on average, the inverse of their rate. And
# of a difference of two life expectancies, each age has its part, the last one too.
# Seen: they live half a year, whatever their rate: 2.2 years are left at 83, for 10. Where only those of 85 differ,
# both expectancies are the same. The part of the last age is missing, by each direction, and the others are said to be
# all of the difference. No error, no warning.
# What follows: rates must go on until nobody is left (to 110), or life expectancies end at the top age. Count the last
# age by its rate yourself.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check lifetables==0.0.11 polars==2.1.0 polars-utils==0.1.12
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import polars as pl
from lifetables import arriaga_decomposition, create_life_table


def rates(*mortality):
    return pl.LazyFrame({"sex": "f", "age": [83, 84, 85], "mortality": mortality})


def left(people):
    return create_life_table(people, by=["sex"]).collect()["e"].round(2).to_list()


steady, frail, robust = rates(0.1, 0.1, 0.1), rates(0.1, 0.1, 0.5), rates(0.05, 0.05, 0.05)
parts = {
    direction: arriaga_decomposition(steady, robust, by=["sex"], direction=direction).collect()
    for direction in ("forward", "backward", "average")
}
years = {direction: part["contribution_years"].round(3).to_list() for direction, part in parts.items()}
shares = parts["average"]["contribution_proportion"]
print("lifetables", version("lifetables"), "years left at 83, 84, 85:", left(steady), "half of the last die:", left(frail))
print("contributions of ages:", years, "shares:", shares.round(2).to_list())
assert left(steady) == left(frail) == [2.22, 1.4, 0.5], "the behaviour changed: 10 would be right, and 2 at 85 of frail"
assert all(found[2] is None and None not in found[:2] for found in years.values()), "the behaviour changed"
assert abs(shares.sum() - 1) < 1e-9, "the behaviour changed"
PYTHON
