#!/usr/bin/env bash
# dagster 1.13.27: partitions by time may have the same key twice.
#
# Believed: TimeWindowPartitionsDefinition refuses a format that gives two windows the same key, as
# StaticPartitionsDefinition refuses a key that is listed twice.
# Seen: with a cron of the 1st and the 15th, and the format %Y-%m, each key is in the list of keys twice; its window is
# that of the first half of the month, and the second half can't be asked for. The count of partitions is of windows.
# What follows: a table that is made twice a month and named by its month never has what came after the 14th.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check dagster==1.13.27
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from datetime import datetime, timezone

import dagster as dg

halves = dg.TimeWindowPartitionsDefinition(start="2024-01", fmt="%Y-%m", cron_schedule="0 0 1,15 * *")
keys = halves.get_partition_keys(current_time=datetime(2024, 3, 1, tzinfo=timezone.utc))
window = halves.time_window_for_partition_key("2024-02")
print("dagster", dg.__version__, "keys", keys, "window of 2024-02:", window.start.date(), window.end.date())
try:
    dg.StaticPartitionsDefinition(["2024-01", "2024-01"])
except dg.DagsterInvalidDefinitionError as error:
    print("listed:", error)
else:
    raise SystemExit("the behaviour changed")
assert keys == ["2024-01", "2024-01", "2024-02", "2024-02"], "the behaviour changed"
assert (window.start.day, window.end.day) == (1, 15), "the behaviour changed"
PYTHON
