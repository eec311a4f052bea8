#!/usr/bin/env bash
# labunits 0.2.1: creatinine is that of urine, ten times less than that of blood.
#
# Believed: to_si_unit(1, "Creatinine") is of serum, 88.4 µmol/L for 1 mg/dL, or is refused, as the name has two LOINC
# codes with two factors in the table of the package.
# Seen: it is 8.84, mmol a day for g a day, of urine: the last of the lines with a name is the one that is meant by it.
# So it is with magnesium (of mEq/L), methemoglobin (of percent) and norepinephrine. Four names of seven that are there
# twice have two factors or two units. A code is answered rightly.
# What follows: blood values that are converted by name are ten times too low, without an error. Give the LOINC code.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check labunits==0.2.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from collections import defaultdict
from importlib.metadata import version

from labunits import converters

by_name = defaultdict(set)
for analyte in converters.analytes():
    by_name[analyte.name].add((analyte.traditional_unit, analyte.si_unit, analyte.conversion_factor))
ambiguous = sorted(name for name, ways in by_name.items() if len(ways) > 1)
serum = converters.to_si_unit(1, "2160-0"), converters.si_unit("2160-0")
named = converters.to_si_unit(1, "Creatinine"), converters.si_unit("Creatinine")
print("labunits", version("labunits"), "code of serum:", serum, "by name:", named, "two ways:", ambiguous)
assert round(serum[0], 2) == 88.4 and round(converters.to_si_unit(1, "2162-6"), 2) == 8.84
assert round(named[0], 2) == 8.84 and named[1] == "mmol/day", "the behaviour changed"
assert ambiguous == ["Creatinine", "Magnesium", "Methemoglobin", "Norepinephrine"], "the behaviour changed"
PYTHON
