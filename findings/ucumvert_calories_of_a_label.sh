#!/usr/bin/env bash
# ucumvert 0.3.2: a Calorie of a label is a thousandth of one, and a cubic foot is three millimetres.
#
# Believed: from_ucum answers the quantity that UCUM's own table (ucum-essence.xml, which is part of the package) gives.
# Seen: codes are looked up in pint by a name that pint reads otherwise. [Cal], which the table says is a kilocalorie,
# is 4.184 joules and not 4184; [cft_i], a cubic foot, is a hundredth of a foot, a length; g%, a gram in a decilitre, is
# ten milligrams, a mass; and ', the minute of an angle, is sixty seconds of time. No error and no warning.
# What follows: a table of nutrition in [Cal] is a thousand times too small. Compare each code that you use with the
# value and unit of the table before you rely on it; of 300 codes about twenty differ by more than a millionth.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check ucumvert==0.3.2 pint==0.25.2
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from ucumvert import PintUcumRegistry

units = PintUcumRegistry()


def base(code, count=1):
    return (count * units.from_ucum(code)).to_base_units()


# What the table says each of them is.
said = {"[Cal]": (1, "kcal_th"), "[cft_i]": (1, "[ft_i]3"), "g%": (1, "g/dl"), "'": (1 / 60, "deg")}
seen = {code: (base(code), base(unit, count)) for code, (count, unit) in said.items()}
print("ucumvert", version("ucumvert"), "pint", version("pint"))
for code, (is_now, should_be) in seen.items():
    print(code, "is", is_now, "by the table", should_be)
calorie, by_table = seen["[Cal]"]
assert abs(calorie.magnitude - 4.184) < 1e-9 and abs(by_table.magnitude - 4184) < 1e-6, "the behaviour changed"
assert abs(base("kcal").magnitude - 4184) < 1e-6
for code in ("[cft_i]", "g%", "'"):
    is_now, should_be = seen[code]
    assert is_now.dimensionality != should_be.dimensionality, "the behaviour changed"
assert seen["'"][0].dimensionality == base("s").dimensionality and abs(seen["'"][0].magnitude - 60) < 1e-9
PYTHON
