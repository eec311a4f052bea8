#!/usr/bin/env bash
# dateparser 1.5.0: the 1950s are half an hour ago, week 5 is in May, and n/a is last week.
#
# Believed: what is no day ("1950s", "n/a"), and a week as ISO 8601 writes it, is None, or a day within it; with
# STRICT_PARSING there is no date unless day, month and year were given.
# Seen: "1950s" is 1,950 seconds before now, in English and strictly, too. 2024-W05, which begins on 29 January, is a day
# of May, W12 one of December, and W13 the 13th of this month. "n/a" is five days ago, in some language. Each is a
# date like others in the column, and follows the day on which it is read.
# What follows: give `languages`, which makes weeks and n/a None, and take decades out before: no setting does.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check dateparser==1.5.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from datetime import datetime
from importlib.metadata import version

import dateparser

now = {"RELATIVE_BASE": datetime(2026, 3, 31, 12)}


def read(text, **more):
    moment = dateparser.parse(text, **{"settings": now, **more})
    return moment and str(moment)


seen = {text: read(text) for text in ("1950s", "2024-W05", "2024-W12", "2024-W13", "n/a")}
strictly = read("1950s", languages=["en"], settings={**now, "STRICT_PARSING": True})
english = {text: read(text, languages=["en"]) for text in ("2024-W05", "2024-W12", "n/a")}
print("dateparser", version("dateparser"), seen, "strictly:", strictly, "in English:", english)
assert seen["1950s"] == strictly == "2026-03-31 11:27:30", "the behaviour changed"
assert [seen[week][:10] for week in ("2024-W05", "2024-W12", "2024-W13")] == ["2024-05-31", "2024-12-31", "2024-03-13"]
assert seen["n/a"][:10] == "2026-03-26", "the behaviour changed"
assert not any(english.values())
PYTHON
