#!/usr/bin/env bash
# deltalake 1.6.6, polars 2.1.0: empty text in a column of partitions is empty or missing, by the function that
# reads.
#
# Believed: an empty text and a missing one are two values of a Delta table's partition column, or one of them is
# refused; and all readers agree.
# Seen: both are written, as two folders. The protocol says that the empty text in the log means a missing value:
# to_pyarrow_table and, once the table was compacted, every reader say so; scan and pl.read_delta say that it is
# empty. `ward is null` deletes one of the two rows that to_pyarrow_table shows as missing.
# What follows: how many people have no ward depends on the function, and on whether somebody ran optimize.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check deltalake==1.6.6 polars==2.1.0 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import polars as pl
from deltalake import DeltaTable, write_deltalake

people = pl.DataFrame({"ward": ["", "a", None], "id": [1, 2, 3]})


def wards() -> dict[str, dict]:
    table = DeltaTable("people")
    frames = {"scan": pl.DataFrame(table.scan()), "polars": pl.read_delta("people")}
    frames["to_pyarrow_table"] = pl.DataFrame(table.to_pyarrow_table())
    return {name: dict(frame.sort("id").select("id", "ward").rows()) for name, frame in frames.items()}


write_deltalake("people", people, partition_by=["ward"])
written = wards()
DeltaTable("people").delete("ward is null")
after_delete = wards()
write_deltalake("again", people, partition_by=["ward"])
DeltaTable("again").optimize.compact()
compacted = dict(pl.read_delta("again").sort("id").select("id", "ward").rows())
print("written:", written)
print("without those whose ward is null:", after_delete)
print("compacted:", compacted)
assert written["scan"] == written["polars"] == {1: "", 2: "a", 3: None}, "the behaviour changed"
assert written["to_pyarrow_table"] == {1: None, 2: "a", 3: None}, "the behaviour changed"
assert after_delete["to_pyarrow_table"] == {1: None, 2: "a"}, "the behaviour changed"
assert compacted == {1: None, 2: "a", 3: None}, "the behaviour changed"
PYTHON
