#!/usr/bin/env bash
# zepid 0.9.1: a number needed to harm has a confidence interval of numbers needed to treat, and the other way round.
#
# Believed: the summary of NNT gives a number and an interval around it, both of harm or both of treatment.
# Seen: where 40 of 100 exposed die and 10 of 100 others, it prints "Number Needed to Harm: 3.333", and as its interval
# "NNT 5.336 to 2.424". Where 10 of 100 exposed die and 40 of 100 others, the number is one needed to treat, and its
# interval one of "NNH". The names are right only where the interval holds no difference.
# What follows: take names and signs from the risk difference (RiskDifference), and invert its limits by hand.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check \
    zepid==0.9.1 pandas==2.3.3 numpy==2.3.5 scipy==1.17.1 statsmodels==0.14.6 matplotlib==3.10.8 tabulate==0.9.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'PYTHON'
import contextlib
import io
from importlib.metadata import version

import pandas as pd
from zepid import NNT


def summary(exposed, others):
    """The lines of NNT's summary that have numbers, where so many of a hundred exposed and of a hundred others die."""
    people = pd.DataFrame({"exposed": [1] * 100 + [0] * 100})
    people["dead"] = [int(each < exposed) for each in range(100)] + [int(each < others) for each in range(100)]
    number = NNT()
    number.fit(people, "exposed", "dead")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        number.summary()
    return [" ".join(line.split()) for line in printed.getvalue().splitlines() if line.startswith(("Number", "NN"))]


harm, help_, neither = summary(40, 10), summary(10, 40), summary(12, 10)
print("zepid", version("zepid"), "40 and 10 die:", harm, "10 and 40:", help_, "12 and 10:", neither)
assert harm == ["Number Needed to Harm: 3.333", "NNT 5.336 to 2.424"], "the behaviour changed"
assert help_ == ["Number Needed to Treat: 3.333", "NNH 2.424 to 5.336"], "the behaviour changed"
assert neither[0] == "Number Needed to Harm: 50.0" and neither[1].startswith("NNT 14.996 to infinity to NNH 9.37")
PYTHON
