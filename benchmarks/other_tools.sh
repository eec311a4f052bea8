#!/usr/bin/env bash
# What other tools say of small tables, and what republish and counting by hand say; docs/measured/audits.md has it.
#
# Installs pinned public packages in a temporary folder. Tables are made up; each has ten or fewer rows. With
# SDCMICRO=folder, the sources of sdcMicro 5.8.1 in it are compiled and run, too: it takes R with data.table and Rcpp.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for tool in pycanon==1.3.6 anjana==1.2.3 anonypyx==0.2.11 aindo-anonymize==1.1.5; do
    python3 -m venv "$work/${tool%%=*}"
    "$work/${tool%%=*}/bin/pip" install --quiet --disable-pip-version-check "$tool" pandas==2.3.3
done
cd "$work"
cat > tables.py <<'PYTHON'
"""Age, sex, value of each row; the people behind them are in the same order."""
TWO = [("20-29", "F", "flu"), ("20-29", "F", "gout"), ("30-39", "M", "flu"), ("30-39", "M", "gout")]
TABLES = {
    "plain": TWO,
    "one class in two spellings": [TWO[0], ("[20, 29]", "F", "gout"), *TWO[2:]],
    "decimals for the same class": [TWO[0], ("19.5-29.5", "F", "gout"), *TWO[2:]],
    "a set for the same class": [("20,21", "F", "flu"), ("{21, 20}", "F", "gout"), *TWO[2:]],
    "flu and Flu": [TWO[0], ("20-29", "F", "Flu "), *TWO[2:]],
    "7 and 07": [("20-29", "F", "7"), ("20-29", "F", "07"), ("30-39", "M", "7"), ("30-39", "M", "8")],
    "flu with a soft hyphen": [TWO[0], ("20-29", "F", "f\u00adlu"), *TWO[2:]],
    "one row of stars": [*TWO, ("*", "*", "flu")],
    "NA and a star": [*TWO, ("NA", "*", "flu"), ("*", "NA", "gout")],
    "means": [("22.5", "F", "flu"), ("22.5", "F", "gout"), ("34.5", "M", "flu"), ("34.5", "M", "gout")],
    "somebody in no cell": [("20-21", "F", "flu"), ("20-21", "F", "gout"), *TWO[2:]],
    "an empty value": [TWO[0], ("20-29", "F", ""), *TWO[2:]],
}
PEOPLE = [(22, "F"), (23, "F"), (34, "M"), (35, "M"), (60, "M"), (61, "F")]
PYTHON
pycanon/bin/python - <<'PYTHON'
import pandas as pd
from pycanon import anonymity
from tables import TABLES

for name, rows in TABLES.items():
    table = pd.DataFrame(rows, columns=["age", "sex", "value"])
    k, l = anonymity.k_anonymity(table, ["age", "sex"]), anonymity.l_diversity(table, ["age", "sex"], ["value"])
    print(f"pycanon | {name} | k {k}, l {l}")
PYTHON
PYTHONPATH=$here "$here/.venv/bin/python" - <<'PYTHON'
from pathlib import Path

import polars as pl
from tables import PEOPLE, TABLES

from tests.orchestration.audit.bench import Release, Row, Table, audited

for name, rows in TABLES.items():
    truth, shown = [], []
    for number, ((age, sex, value), (true_age, true_sex)) in enumerate(zip(rows, PEOPLE, strict=False)):
        true = value.strip().lower().replace("\u00ad", "") or "gout"
        true = {"07": "7"}.get(true, true)
        row = Row(f"p{number}", true_age, true_sex, true, number, 0, 0, [sex], value, age)
        truth.append(row), shown.append(row)
    table = Table([Release(shown, truth)], {"sensitive": "VALUE", "promise": {"k": 2, "l": 2}})
    folder = Path("ours") / name.replace(" ", "_")
    found = audited(table, "dash", folder, towns=["F", "M"])
    if isinstance(found, Exception):
        print(f"republish | {name} | refused: {str(found).split(': ', 1)[1][:90]}")
        continue
    figures, rows = found.series[0].releases[0].attack.figures, found.promises()
    broken = sorted(rows.filter(~pl.col("holds") & ~pl.col("promise").is_in(["row order"]))["promise"])
    said = {name: figures[name] for name in ("rows_of_anything", "smallest_match") if figures.get(name)}
    print(
        f"republish | {name} | k {figures['smallest_class']}, l {figures['fewest_values_of_a_class']}"
        f" {said or ''} broken: {', '.join(broken) or 'nothing'}"
    )
PYTHON
anonypyx/bin/python - <<'PYTHON'
import anonypyx
import pandas as pd

people = pd.DataFrame({"age": [20, 21, 22, 23, None, 41, 42, 43], "value": ["flu", "flu", "gout", "gout"] * 2})
made = anonypyx.Anonymiser(
    people, k=2, algorithm="Mondrian", feature_columns=["age"], sensitive_column="value",
    generalisation_strategy="human-readable",
).anonymise()
print("anonypyx | rows of the file, people in it, people given |", len(made), int(made["count"].sum()), len(people))
whole = anonypyx.Anonymiser(
    people.dropna(), k=2, algorithm="Mondrian", feature_columns=["age"], sensitive_column="value",
    generalisation_strategy="microaggregation",
).anonymise()
print("anonypyx | microaggregation |", sorted(set(whole["age"])))
PYTHON
anjana/bin/python - <<'PYTHON' 2> /dev/null
import pandas as pd
from anjana.anonymity import delta_disclosure, k_anonymity

people = pd.DataFrame({"name": list("abcdefgh"), "age": [20] * 4 + [30] * 4, "value": ["flu"] * 3 + ["HIV"] + ["flu"] * 4})
hierarchies = {"age": {0: people["age"].to_numpy(), 1: pd.Series(["*"] * 8).to_numpy()}}
made = delta_disclosure(people, ["name"], ["age"], "value", 2, 1, 0, hierarchies)
print("anjana | delta 1 | values by class:", {age: sorted(set(rows["value"])) for age, rows in made.groupby("age")})
made = k_anonymity(people, ["name"], ["age"], 2, 0, hierarchies)
print("anjana | order of rows is that of the people:", made["value"].tolist() == people["value"].tolist(), "columns:", list(made))
PYTHON
aindo-anonymize/bin/python - <<'PYTHON'
import pandas as pd
from aindo.anonymize.techniques import Binning, TopBottomCodingNumerical

made = Binning(bins=[0, 18, 35]).anonymize_column(pd.Series([0, 5, 18, 30, 36]))
print("aindo | bins of 0, 5, 18, 30, 36:", list(map(str, made)))
made = TopBottomCodingNumerical(q=0.5).anonymize_column(pd.Series([20, 21, 40, 41, 90]))
print("aindo | ages 20, 21, 40, 41, 90 coded at both ends:", made.tolist())
PYTHON
cat > closeness.py <<'PYTHON'
"""Tables under t, delta and beta, and the same figures by counting."""
from math import inf, log

FIRST, SECOND = ["20-29"] * 4, ["30-39"] * 4
CLOSE = {
    "plain": (FIRST + SECOND, ["flu", "flu", "gout", "HIV", "flu", "flu", "gout", "HIV"]),
    "a class without HIV": (FIRST + SECOND, ["flu", "flu", "flu", "HIV"] + ["flu"] * 4),
    "a class of flu alone": (FIRST + SECOND, ["flu"] * 4 + ["flu", "gout", "gout", "HIV"]),
    "a class in two spellings": (["20-29"] * 2 + ["[20, 29]"] * 2, ["flu", "flu", "gout", "gout"]),
    "codes 1, 5 and 9 as numbers": (FIRST + SECOND, [1, 1, 9, 9, 1, 5, 5, 5]),
    "one code alone": (FIRST + SECOND, [1] * 8),
    "a class of missing numbers": (FIRST + SECOND, [None] * 4 + [1, 2, 3, 4]),
}


def by_hand(table, columns):
    """k, l, t (equal distances), delta, beta, enhanced beta; a missing value is a value like any other."""
    table = table.astype("string").fillna("missing").astype(object)
    share = table["value"].value_counts(normalize=True)
    k, l, t, delta, beta, enhanced = inf, inf, 0.0, 0.0, 0.0, True
    for _, rows in table.groupby(columns):
        here = rows["value"].value_counts(normalize=True).reindex(share.index, fill_value=0.0)
        more = [(q - p) / p for q, p in zip(here, share)]
        k, l, t = min(k, len(rows)), min(l, (here > 0).sum()), max(t, (here - share).abs().sum() / 2)
        delta = max(delta, *(abs(log(q / p)) if q else inf for q, p in zip(here, share)))
        beta, enhanced = max(beta, *more), enhanced and all(one <= -log(p) for one, p in zip(more, share))
    figures = {"k": k, "l": l, "t": t, "delta": delta, "beta": beta, "enhanced": beta if enhanced else inf}
    return {name: round(float(one), 3) for name, one in figures.items()}
PYTHON
pycanon/bin/python - <<'PYTHON'
import warnings

import pandas as pd
from closeness import CLOSE, by_hand
from pycanon import anonymity

warnings.simplefilter("ignore")
FIGURES = {
    "k": lambda table, columns: anonymity.k_anonymity(table, columns),
    "l": lambda table, columns: anonymity.l_diversity(table, columns, ["value"]),
    "t": lambda table, columns: anonymity.t_closeness(table, columns, ["value"]),
    "delta": lambda table, columns: anonymity.delta_disclosure(table, columns, ["value"]),
    "beta": lambda table, columns: anonymity.basic_beta_likeness(table, columns, ["value"]),
    "enhanced": lambda table, columns: anonymity.enhanced_beta_likeness(table, columns, ["value"]),
}


def said(table, columns):
    """What pycanon says, or why it does not."""
    found = {}
    for name, figure in FIGURES.items():
        try:
            found[name] = round(float(figure(table, columns)), 3)
        except Exception as error:
            found[name] = type(error).__name__
    return found


tables = {name: pd.DataFrame({"age": ages, "value": values}) for name, (ages, values) in CLOSE.items()}
for name, table in tables.items():
    ours, theirs = by_hand(table, ["age"]), said(table, ["age"])
    differ = {figure: (theirs[figure], ours[figure]) for figure in ours if theirs[figure] != ours[figure]}
    print(f"pycanon | {name} | by hand {ours} | differ (pycanon, by hand): {differ or 'nothing'}")
PYTHON
[ -n "${SDCMICRO:-}" ] || exit 0
cp -r "$SDCMICRO"/R "$SDCMICRO"/src .
include=$(Rscript -e 'cat(system.file("include", package = "Rcpp"))')
(cd src && PKG_CXXFLAGS=-std=c++17 PKG_CPPFLAGS="-I$include -I." R CMD SHLIB -o sdcMicro.so ./*.cpp sdcMicro.c > /dev/null 2>&1)
Rscript - <<'R'
suppressMessages({library(data.table); library(Rcpp)})
dyn.load("src/sdcMicro.so")
for (one in parse("R/RcppExports.R")) eval(one)
for (one in grep("^_sdcMicro_", names(getDLLRegisteredRoutines("sdcMicro")$.Call), value = TRUE))
  assign(one, getNativeSymbolInfo(one, "sdcMicro"))
source("R/freqCalc.r")
for (one in parse("R/measure_risk.R")) if (grepl("^ldiversityWORK", deparse(one)[1])) eval(one)
say <- function(name, table, keys) {
  l <- ldiversityWORK(table, keys, "value")
  cat("sdcMicro |", name, "| rows that match each:", freqCalc(table, keys)$fk, "| l of each:", l[, 1],
    "| entropy:", round(l[, 2], 2), "| recursive:", l[, 3], "\n")
}
keys <- c("age", "sex")
say("one row of stars", data.frame(age = c(1, 1, 2, 2, NA), sex = c(1, 1, 2, 2, NA), value = c(1, 2, 1, 2, 1)), keys)
say("NA and a star", data.frame(age = c(1, 1, 2, 2, NA, 1), sex = c(1, 1, 2, 2, 1, NA), value = c(1, 2, 1, 2, 1, 2)), keys)
say("values that are missing", data.frame(age = c(1, 1, 1, 2, 2, 2), value = c(1, NA, NA, 1, 2, NA)), "age")
say("two equal values", data.frame(age = c(1, 1), value = c(1, 2)), "age")
say("nine and one", data.frame(age = rep(1, 10), value = c(rep(1, 9), 2)), "age")
R
