#!/usr/bin/env bash
# Believed: with `end_offset=1`, a daily partition is there from the beginning of its day on, also where most days are
# excluded.
# Seen (dagster 1.13.27): the offset skips excluded days. The next day that is not excluded is a partition already, be it
# months ahead; without exclusions, tomorrow is none.
# What follows: all of a backfill of irregular dates has one that is not due. republish gives each date a partition of a
# minute, without an offset.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet dagster==1.13.27
DAGSTER_DISABLE_TELEMETRY=1 "$folder/venv/bin/python" - <<'PYTHON'
import datetime as dt

import dagster as dg

days = [dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc) + dt.timedelta(days=day) for day in range(366)]
meant = ["2024-01-01", "2024-03-15", "2024-11-07"]
others = [day for day in days if f"{day:%Y-%m-%d}" not in meant]
every = {"start": "2024-01-01", "fmt": "%Y-%m-%d", "cron_schedule": "0 0 * * *", "end_offset": 1}
now = dt.datetime(2024, 4, 1, 12, tzinfo=dt.timezone.utc)
some = dg.TimeWindowPartitionsDefinition(**every, exclusions=others).get_partition_keys(current_time=now)
last = dg.TimeWindowPartitionsDefinition(**every).get_partition_keys(current_time=now)[-1]
print("dagster", dg.__version__, f"on {now:%Y-%m-%d}:", some, "without exclusions the last is", last)
raise SystemExit(0 if some[-1] == "2024-11-07" and last == "2024-04-01" else 1)
PYTHON
