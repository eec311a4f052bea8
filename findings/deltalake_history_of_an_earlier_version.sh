#!/usr/bin/env bash
# deltalake 1.6.6: the history of an earlier version has the numbers -1 and -2, and the commits after it.
#
# Believed: DeltaTable(place, version=0).history() lists the commit that made version 0, with its number.
# Seen: it lists all commits up to the newest, numbered from the version that was asked for downward: of three
# commits, the newest is number 0 and the first one is -2. The history of the newest version is right.
# What follows: a log that says which version a report was made from names the time and the author of another
# commit, and reading version -1 fails.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check deltalake==1.6.6 polars==2.1.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import polars as pl
from deltalake import DeltaTable, write_deltalake

for day in range(3):
    write_deltalake("people", pl.DataFrame({"id": [day]}), mode="append")


def history(version: int | None) -> list[tuple[int, int]]:
    return [(commit["version"], commit["timestamp"]) for commit in DeltaTable("people", version=version).history()]


newest, first = history(None), history(0)
print("newest:", newest)
print("version 0:", first)
assert [version for version, _ in newest] == [2, 1, 0]
assert [version for version, _ in first] == [0, -1, -2], "the behaviour changed"
assert [time for _, time in first] == [time for _, time in newest], "the behaviour changed"
PYTHON
