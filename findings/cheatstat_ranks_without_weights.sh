#!/usr/bin/env bash
# cheatstat 4.1.2: with weights the mean is weighted, and the median, the mode and the rank correlations are not.
#
# Believed: a table with weights of 1, 2 and 3 is described as one in which people stand once, twice and three times.
# Seen: the mean is, and so are Pearson's correlation and frequencies. The median, the quartiles, the mode and the
# skewness are those of the rows, and so are Spearman's and Kendall's correlations, which then may have the other sign:
# -.20 for .21. Nothing says so. And the excess ("Exzess") is 3 too low in each table, weighted or not: what is called
# kurtosis is the excess already, of which 3 is taken off again.
# What follows: repeat rows by their weights for all but means and shares.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check \
    cheatstat==4.1.2 pandas==2.3.3 numpy==2.3.5 scipy==1.17.1
cd "$work"
"$work/venv/bin/python" -W ignore - <<'PYTHON'
from importlib.metadata import version

import cheatstat
import pandas as pd

people = pd.DataFrame({"answer": [2.0, 3, 5, 1, 4, 2], "group": [1, 1, 2, 2, 1, 2], "weight": [1, 2, 3, 1, 2, 1]})
repeated = people.loc[people.index.repeat(people["weight"])].reset_index(drop=True)


def described(people, **weight):
    alone = cheatstat.uniV(people, "answer", **weight).stat.set_index("Statistik")["Wert"]
    together = cheatstat.biV(people, "group", "answer", "ordinal", **weight)["stat"].set_index("Maß")["Wert"]
    figures = {"mean": alone["Mittelwert"], "median": alone["50%-Quantil (Median)"], "kurtosis": alone["Kurtosis"],
               "excess": alone["Exzess"], "Pearson": together["Pearson-r"], "Spearman": together["Spearman-Rho"]}
    return {name: round(float(value), 2) for name, value in figures.items()}


weighted, rows, repetitions = described(people, weight="weight"), described(people), described(repeated)
print("cheatstat", version("cheatstat"), "weighted:", weighted, "without weights:", rows, "repeated:", repetitions)
assert weighted["mean"] == repetitions["mean"] != rows["mean"]
assert weighted["Pearson"] == repetitions["Pearson"] != rows["Pearson"]
assert repetitions["median"] == repeated["answer"].median() == 3.5
assert weighted["median"] == rows["median"] == 2.5, "the behaviour changed"
assert weighted["Spearman"] == rows["Spearman"] == -0.2 and repetitions["Spearman"] == 0.21, "the behaviour changed"
# pandas takes 3 off: a normal distribution has a kurt of 0
assert rows["kurtosis"] == round(people["answer"].kurt(), 2), "the behaviour changed"
assert round(rows["excess"] - rows["kurtosis"], 2) == -3, "the behaviour changed"
PYTHON
