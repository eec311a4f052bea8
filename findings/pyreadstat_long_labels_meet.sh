#!/usr/bin/env bash
# pyreadstat 1.3.7: two codes of an .sav file become one category where their labels begin alike.
#
# Believed: value labels are written whole, or refused; after apply_value_formats two codes are two categories.
# Seen: a value label of more than 120 bytes is cut in the .sav file without a word (a Stata file keeps it whole). Two
# answers whose labels differ only after that, as long answers of a questionnaire do, are one category when they are
# read by their labels.
# What follows: people with different answers are counted together, and a table that says "labels, not codes" has
# fewer values than the table of codes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import pandas as pd
import pyreadstat

question = "In the past twelve months, because of what it would cost, you did not see a doctor, a dentist or a pharmacist, or you saw one late: "
labels = {"ANSWER": {1.0: question + "never", 2.0: question + "more than once"}}
answers = pd.DataFrame({"ANSWER": [1.0, 2.0, 2.0]})
found = {}
for name, write, read in (
    ("sav", pyreadstat.write_sav, pyreadstat.read_sav),
    ("dta", pyreadstat.write_dta, pyreadstat.read_dta),
):
    write(answers, f"answers.{name}", variable_value_labels=labels)
    found[name] = read(f"answers.{name}", apply_value_formats=True)[0]["ANSWER"].astype(str).value_counts()
    print("pyreadstat", pyreadstat.__version__, name, [(len(label), count) for label, count in found[name].items()])
assert found["dta"].tolist() == [2, 1]
assert found["sav"].tolist() == [3] and len(found["sav"].index[0]) == 120, "the behaviour changed"
PYTHON
