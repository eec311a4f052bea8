#!/usr/bin/env bash
# pyiceberg 0.12.0: deleting rows by `!=` also deletes those without a value, if the table is partitioned by the
# column.
#
# Believed: whether a table is partitioned makes it faster, and changes no answer: `ward != 'a'` is not true of a
# row whose ward is missing, as in SQL, and a scan with that filter does not show the row.
# Seen: in a plain table the row without a ward stays; in one that is partitioned by ward it is deleted along with
# the others, although the same filter in a scan does not show it.
# What follows: people without a ward are gone after a job that removed the other wards' people, in one of two
# tables with equal content.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "pyiceberg[sql-sqlite,pyarrow]==0.12.0" pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import os
from importlib.metadata import version

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import IdentityTransform

os.mkdir("warehouse")
catalog = SqlCatalog("here", uri="sqlite:///catalog.db", warehouse=f"file://{os.getcwd()}/warehouse")
catalog.create_namespace("clinic")
people = pa.table({"id": [1, 2, 3], "ward": ["a", None, "b"]})
left = {}
for name in ("plain", "partitioned"):
    table = catalog.create_table(f"clinic.{name}", schema=people.schema)
    if name == "partitioned":
        with table.update_spec() as spec:
            spec.add_field("ward", IdentityTransform())
    table.append(people)
    shown = table.scan(row_filter="ward != 'a'").to_arrow()["id"].to_pylist()
    table.delete("ward != 'a'")
    left[name] = sorted(table.scan().to_arrow()["id"].to_pylist())
    print("pyiceberg", version("pyiceberg"), name, "a scan shows", shown, "the deletion leaves", left[name])
    assert shown == [3]
assert left["plain"] == [1, 2]
assert left["partitioned"] == [1], "the behaviour changed"
PYTHON
