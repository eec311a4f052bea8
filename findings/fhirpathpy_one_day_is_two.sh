#!/usr/bin/env bash
# fhirpathpy 2.2.4: a day after the evening of 1 January in New York is 3 January.
#
# Believed: a moment with its offset, plus one day, is the same hour of the next day, with the same offset.
# Seen: 2020-01-01T23:30:00-05:00 + 1 day is 2020-01-03T04:30:00: the hour of UTC, without an offset. What is read from
# it is the third. Ten o'clock in UTC+2 is eight o'clock, and half an hour into June, plus a month, is in June. A
# comparison with the right answer is true, since a moment without an offset is taken for UTC there.
# What follows: dates of follow-up or of shifted visits that are cut out of the result are a day off for a part of the
# day, on either side of Greenwich. Add days to the date alone, where only that is of interest.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check fhirpathpy==2.2.4
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from fhirpathpy import evaluate

MOMENTS = {
    "2020-01-01T23:30:00-05:00": "1 day", "2020-06-01T10:00:00+02:00": "1 day", "2020-06-01T00:30:00+02:00": "1 month",
    "2020-06-01T10:00:00": "1 day",
}
seen = {moment: evaluate({"at": moment}, f"at + {span}") for moment, span in MOMENTS.items()}
right = evaluate({}, "@2020-01-01T23:30:00-05:00 + 1 day = @2020-01-02T23:30:00-05:00")
print("fhirpathpy", version("fhirpathpy"), "later:", seen, "equal to the right answer:", right)
assert seen.pop("2020-06-01T10:00:00") == ["2020-06-02T10:00:00"] and right == [True]
assert list(seen.values()) == [
    ["2020-01-03T04:30:00"], ["2020-06-02T08:00:00"], ["2020-06-30T22:30:00"]
], "the behaviour changed"
PYTHON
