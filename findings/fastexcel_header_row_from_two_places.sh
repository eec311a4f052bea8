#!/usr/bin/env bash
# Workbooks: fastexcel 0.21.0 counts header_row 0 from the first row that has anything, and all others from the top.
#
# Believed: header_row=1 is the row below header_row=0.
# Seen: a sheet with two empty rows, a title in its third and the headings in its fourth row. header_row=0 takes the
# title for the headings. So does header_row=2. header_row=1 takes an empty row, calls the columns __UNNAMED__0 and
# __UNNAMED__1, and has the title and the headings among the people. header_row=3 is right. Without the empty rows
# above, 0 is the title and 1 has the headings.
# What follows: who sees the title and adds one to header_row gets people who are none, and numbers that became text;
# and one empty row that a colleague adds above moves all rows but that of header_row=0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check fastexcel==0.21.0 polars==2.1.0 xlsxwriter==3.3.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import fastexcel
import xlsxwriter


def read(empty, header_row):
    book = xlsxwriter.Workbook("people.xlsx")
    sheet = book.add_worksheet()
    for row, cells in enumerate([["Members in May"], ["person", "age"], ["P1", 34], ["P2", 35]], empty):
        sheet.write_row(row, 0, cells)
    book.close()
    table = fastexcel.read_excel("people.xlsx").load_sheet(0, header_row=header_row).to_polars()
    return table.columns, table.height, str(table.dtypes[-1])


print("fastexcel", fastexcel.__version__)
found = {(empty, row): read(empty, row) for empty, rows in ((2, range(4)), (0, range(2))) for row in rows}
for (empty, row), (columns, height, kind) in found.items():
    print(f"{empty} empty rows above, header_row={row}: columns {columns}, {height} rows, the last column is {kind}")
title, right = ["Members in May", "__UNNAMED__1"], (["person", "age"], 2, "Float64")
assert found[2, 0] == found[2, 2] == (title, 3, "String"), "the behaviour changed"
assert found[2, 1] == (["__UNNAMED__0", "__UNNAMED__1"], 4, "String"), "the behaviour changed"
assert found[2, 3] == found[0, 1] == right, "the behaviour changed"
assert found[0, 0] == (title, 3, "String"), "the behaviour changed"
PYTHON
