#!/usr/bin/env bash
# What other tools say of small tables, and what republish and counting by hand say; docs/measured/audits.md has it.
#
# Installs pinned public packages in a temporary folder. Tables are made up; each has eight or fewer rows.
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
