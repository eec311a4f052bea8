#!/usr/bin/env bash
# fastexcel 0.21.0: a formula without a stored result is missing, and the method that names such cells names others.
#
# Believed: to_arrow_with_errors gives the place of each cell that could not be read, and became missing.
# Seen: it names errors (#DIV/0!, #N/A), and not a formula whose result was never stored, as report generators write
# it. Both are missing in the table.
# What follows: a table of people has gaps where nobody has calculated yet, and an empty list of errors is no proof that
# it has none.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check fastexcel==0.21.0 pyarrow==26.0.1 xlsxwriter==3.3.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import fastexcel
import xlsxwriter

book = xlsxwriter.Workbook("people.xlsx")
sheet = book.add_worksheet()
sheet.write_row(0, 0, ["age", "town"])
for row in range(1, 5):
    sheet.write_row(row, 0, [30 + row, "Ulm"])
sheet.write_formula(1, 0, "=1/0", None, "#DIV/0!")
sheet.write_formula(2, 0, "=40+1", None, "")  # no result
sheet.write_formula(3, 1, "=NA()", None, "#N/A")
book.close()
table, errors = fastexcel.read_excel("people.xlsx").load_sheet(0, schema_sample_rows=None).to_arrow_with_errors()
named = [one.offset_position for one in errors.errors]
print("fastexcel", version("fastexcel"), "age:", table["age"].to_pylist(), "town:", table["town"].to_pylist())
print("named (row, column):", named)
assert table["age"].to_pylist() == [None, None, 33, 34], "the behaviour changed"
assert table["town"].to_pylist() == ["Ulm", "Ulm", None, "Ulm"], "the behaviour changed"
assert named == [(0, 0), (2, 1)], "the behaviour changed"
PYTHON
