#!/usr/bin/env bash
# pygrowthstandards 0.1.3: a boy whose sex is written m is compared with girls, and preterm children with term ones.
#
# Believed: zscore takes M for m, or refuses it; a child that was born after 196 days, 12 weeks ago, is compared with the
# preterm standard of INTERGROWTH-21st, which the package has and its page names.
# Seen: what is not exactly M or F is a girl: 9 kg at one year are 0.05 for m as for F, and -0.63 for M. And the days of
# gestation (280 in its example) are compared with 28: no child has fewer, and the preterm standard of growth is
# never used: 3 kg at 84 days are -6.0, as without any gestation. Its table, by the age from conception (280 days), says
# -0.95. No warning.
# What follows: write M and F, and refuse anything else before. For preterm children look the table up yourself.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pygrowthstandards==0.1.3 pandas==2.3.3 scipy==1.17.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from pygrowthstandards import functional
from pygrowthstandards.functional.data import DATA, get_lms, get_table
from pygrowthstandards.utils.stats import calculate_z_score

of_sex = {sex: round(functional.zscore("weight", 9.0, sex, age_days=365), 2) for sex in ("M", "m", "F", "U")}
preterm, without = (
    functional.zscore("weight", 3.0, "M", age_days=84, **more) for more in ({"gestational_age": 196}, {})
)
standard = get_table(DATA, ("very_preterm_growth", "weight", "M", "age"))
by_standard = calculate_z_score(3.0, *get_lms(standard, 196 + 84))
print("pygrowthstandards", version("pygrowthstandards"), "9 kg at a year:", of_sex)
print("3 kg, born at 196 days, 84 days ago:", preterm, "without gestation:", without, "by the standard:", by_standard)
assert of_sex["m"] == of_sex["F"] == of_sex["U"] == 0.05 and of_sex["M"] == -0.63, "the behaviour changed"
assert preterm == without and preterm < -5, "the behaviour changed"
assert abs(by_standard + 0.953) < 0.001 and standard.source == "intergrowth"
PYTHON
