#!/usr/bin/env bash
# surveyweights 0.6: a raking that could be exact stops after one round, at a "local minimum".
#
# Believed: with 30 or 100 iterations weights of ten people by age and sex come close to the shares that are asked for,
# half and half of both; and which variable is named first does not matter.
# Seen: after one round it says "REACHED LOCAL MINIMUM; EARLY TERMINATION": the share of the old is .524, however many
# iterations are allowed; with sex named first it is the share of men. Whether to stop is judged by the errors from
# before the last step, of which the last variable has the largest. With early_terminate=False the shares are reached,
# though the first step after the round weighs the last variable again, and more than doubles the error.
# What follows: give early_terminate=False and 30 iterations, and look at the shares themselves.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check surveyweights==0.6 pandas==2.3.3 numpy==2.3.5
cd "$work"
"$work/venv/bin/python" -W ignore - <<'PYTHON'
import contextlib
import io
from importlib.metadata import version

import pandas as pd
from surveyweights import run_weighting_scheme

people = pd.DataFrame({"age": ["young"] * 6 + ["old"] * 4, "sex": ["f"] * 5 + ["m", "f"] + ["m"] * 3})
halves = {"age": {"young": 0.5, "old": 0.5}, "sex": {"f": 0.5, "m": 0.5}}


def shares(variables, iterations, **options):
    """The weighted shares of the old and of men, and the error that is reported."""
    with contextlib.redirect_stdout(io.StringIO()):
        found = run_weighting_scheme(people.copy(), iters=iterations, census=halves, weigh_on=variables, verbose=0,
                                     **options)
    weights = found["final_weights"] / found["final_weights"].sum()
    old, men = weights[people["age"] == "old"].sum(), weights[people["sex"] == "m"].sum()
    return tuple(round(float(each), 3) for each in (old, men, found["error"]))


rounds = [shares(["age", "sex"], iterations) for iterations in (3, 10, 100)]
other = shares(["sex", "age"], 100)
on = [shares(["age", "sex"], iterations, early_terminate=False) for iterations in (3, 4, 30)]
print("surveyweights", version("surveyweights"), "old, men, error after 3, 10, 100 iterations:", rounds)
print("sex first:", other, "without early termination, after 3, 4 and 30:", on)
assert rounds == [(0.524, 0.5, 0.083)] * 3, "the behaviour changed"
assert other == (0.5, 0.524, 0.083), "the behaviour changed"
assert on == [(0.524, 0.5, 0.083), (0.549, 0.542, 0.181), (0.5, 0.5, 0.0)], "the behaviour changed"
PYTHON
