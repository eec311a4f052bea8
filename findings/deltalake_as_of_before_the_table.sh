#!/usr/bin/env bash
# deltalake 1.6.6: the table as of a day before it was made is its first version, and a copy has other days.
#
# Believed: load_as_version with a moment before the first commit raises an error, as Spark does; and a folder and a
# copy of it are the same table as of any moment.
# Seen: a moment of 1999 answers version 0, with its rows. What is compared is when the files of the log were
# changed, not the time that a commit states (and `history` shows): as of a moment after the second of two commits,
# the table has one row, and its copy, whose files are newer, has two.
# What follows: a report about the people of last year has people, though the table is of this year, and a backup
# that was copied back has forgotten what was erased when.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check deltalake==1.6.6 polars==2.1.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import datetime as dt
import os
import shutil
from pathlib import Path

import polars as pl
from deltalake import DeltaTable, write_deltalake

write_deltalake("people", pl.DataFrame({"id": [1, 2]}))
DeltaTable("people").delete("id = 1")
shutil.copytree("people", "copy")
for name, later in (("people", 0), ("copy", 3600)):
    for version, file in enumerate(sorted(Path(name, "_delta_log").glob("*.json"))):
        stated = {commit["version"]: commit["timestamp"] for commit in DeltaTable(name).history()}[version]
        os.utime(file, (stated / 1000 + later, stated / 1000 + later))


def rows_as_of(name: str, moment: dt.datetime) -> tuple[int, int]:
    table = DeltaTable(name)
    table.load_as_version(moment)
    return table.version(), pl.read_delta(table).height


last = DeltaTable("people").history()[0]["timestamp"]
after = dt.datetime.fromtimestamp(last / 1000 + 60, dt.timezone.utc)
early = rows_as_of("people", dt.datetime(1999, 1, 1, tzinfo=dt.timezone.utc))
original, copy = rows_as_of("people", after), rows_as_of("copy", after)
print("as of 1999: version, rows", early)
print("a minute after the deletion: version, rows", original, "of the copy", copy)
assert original == (1, 1)
assert early == (0, 2), "the behaviour changed"
assert copy == (0, 2), "the behaviour changed"
PYTHON
