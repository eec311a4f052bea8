#!/usr/bin/env bash
# estnin 1.0.1: p + 1 changes p; a birthday that is set in vain has changed the year.
#
# Believed: p + 1 is another number, that of the next person of a day, and p stays; setting a date sets it, or leaves
# the number as it was.
# Seen: p + 1 is p itself, with the next serial number: who keeps both has one person twice. -p, the same of the other
# sex, changes p as well. The date 1 February 1971 can't be set for a person born on 31 January 1970: year, month and
# day are set one after the other, and 31 February is refused, when the year is 1971 by then, with a valid checksum.
# What follows: make a copy before (estnin(str(p))), and make numbers with estnin.create only.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check estnin==1.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from datetime import date
from importlib.metadata import version

from estnin import estnin


def person():
    return estnin.create(estnin.MALE, date(1970, 1, 31), 5)


first = person()
next_one = first + 1
brother = person()
sister = -brother
late = person()
try:
    late.date = date(1971, 2, 1)
    raise SystemExit("the behaviour changed")
except ValueError as error:
    print("estnin", version("estnin"), "was", person(), "is", first, "brother:", brother, "late:", late, error)
assert next_one is first and first.sequence == 6, "the behaviour changed"
assert sister is brother and brother.is_female, "the behaviour changed"
assert late.date == date(1971, 1, 31) and estnin(str(late)) == late, "the behaviour changed"
PYTHON
