#!/usr/bin/env bash
# aus-identity 0.3.3: travel agents and agencies for jobs are "Professional, Scientific and Technical Services".
#
# Believed: a code of ANZSIC 2006 is in the division that the classification says. Subdivision 70 is design of computer
# systems, in M, and 72 is Administrative Services (721 employment, 722 travel agencies, 729 others), in N with 73.
# Seen: all of 72 is in M, and of N there is 73 alone, cleaning, pest control and packaging. 71, which the
# classification does not have, is in M too, where other such codes (61, 74) are refused.
# What follows: people of an agency for jobs are counted as scientists. Read 72 as N yourself, and refuse 71.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check aus-identity==0.3.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from aus_identity import anzsic_division, anzsic_division_for_code


def division(code):
    try:
        return anzsic_division_for_code(code)
    except ValueError:
        return "refused"


found = {code: division(code) for code in ("7000", "7211", "7220", "7299", "7310", "71", "61", "74")}
of_services = [f"{code:02}" for code in range(100) if division(f"{code:02}") == "N"]
print("aus-identity", version("aus-identity"), found, "in N,", anzsic_division("N"), of_services)
assert found["7000"] == "M" and found["7310"] == "N" and found["61"] == found["74"] == "refused"
assert found["7211"] == found["7220"] == found["7299"] == "M", "the behaviour changed"
assert found["71"] == "M" and of_services == ["73"], "the behaviour changed"
PYTHON
