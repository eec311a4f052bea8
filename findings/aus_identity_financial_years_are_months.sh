#!/usr/bin/env bash
# aus-identity 0.3.3: the financial year 2011-12 is December 2011, and half a year ends after a quarter.
#
# Believed: a financial year, as the tax office and others write it (2024-25), is one in each of its forms, goes from
# July to June, and half a year, 2025-S1, ends in June.
# Seen: what could be a month is a month: the financial years 2000-01 to 2011-12 are January 2000 to December 2011, and
# the next one, 2012-13, is the calendar year 2012; so is each later one, from January, half a year too early. A
# half-year begins where it should, and ends after its first quarter: 2025-S1 on 31 March, 2025-S2 on 30 September.
# What follows: joined series are half a year apart, and twelve years of taxes are single months. Give dates, and read
# financial and half-years yourself.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check aus-identity==0.3.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from aus_identity import to_date, to_date_end

spans = {
    period: (to_date(period), to_date_end(period))
    for period in ("2000-01", "2011-12", "2012-13", "2024-25", "2011-2012", "2025-S1", "2025-S2", "2025-Q2")
}
print("aus-identity", version("aus-identity"))
for period, span in spans.items():
    print(period, *span)
assert spans["2025-Q2"] == ("2025-04-01", "2025-06-30")
assert spans["2000-01"] == ("2000-01-01", "2000-01-31"), "the behaviour changed"
assert spans["2011-12"] == ("2011-12-01", "2011-12-31"), "the behaviour changed: from 2011-07-01 to 2012-06-30"
assert spans["2012-13"] == ("2012-01-01", "2012-12-31"), "the behaviour changed"
assert spans["2011-2012"] == ("2011-01-01", "2011-12-31"), "the behaviour changed"
assert spans["2025-S1"] == ("2025-01-01", "2025-03-31"), "the behaviour changed"
assert spans["2025-S2"] == ("2025-07-01", "2025-09-30"), "the behaviour changed"
PYTHON
