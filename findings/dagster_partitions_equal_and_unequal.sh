#!/usr/bin/env bash
# Believed: two sets of the same partitions of a dagster asset are equal, and so not unequal.
# Seen (dagster 1.13.27): both `a == b` and `a != b` are true, where one of them was made by a union. The class
# defines `__eq__`, and takes `__ne__` from `tuple`, which compares a count that is not filled in yet.
# What follows: the webserver compares the targets of a multi-asset's outputs by `!=` as a backfill is launched, and
# refuses it ("Targeted subset must match between every key"), or not, by the hash seed of its process.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet dagster==1.13.27
DAGSTER_DISABLE_TELEMETRY=1 "$folder/venv/bin/python" - <<'PYTHON'
import dagster as dg

quarters = dg.TimeWindowPartitionsDefinition(start="2024-01-01", fmt="%Y-%m-%d", cron_schedule="0 0 1 */3 *")
one = quarters.subset_with_partition_keys(["2024-04-01", "2024-07-01"])
same = one | one
print("dagster", dg.__version__, "equal:", one == same, "unequal:", one != same)
raise SystemExit(0 if one == same and one != same else 1)
PYTHON
