#!/usr/bin/env bash
# elixhauser-ahrq 2026.1.3: heart failure counts only with a word on admission, and never as the first code.
#
# Believed: map_patient_diagnoses flags the comorbidities of a list of codes, in any order. The example of its page
# flags heart and renal failure of five codes, and has a score of 7.
# Seen: the same call flags neither, and the score is -7. The first code of a list is the principal diagnosis, and is
# left out; and where poa_indicators are not given, heart failure, renal failure and others, nineteen categories in all,
# count as not present on admission: only those that do not ask for it are flagged. An empty code before the five, and
# "Y" for each, flag all five, and the score is 10.
# What follows: lists without these indicators, as of most registers, are scored too low, and by the order of their
# codes, without an error.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check elixhauser-ahrq==2026.1.3 pandas==3.1.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from elixhauser_ahrq import ElixhauserMapper, ElixhauserScorer

mapper, scorer = ElixhauserMapper(), ElixhauserScorer(index_type="mortality")


def scored(codes, **given):
    flags = mapper.map_patient_diagnoses(codes, **given)
    return sorted(name for name, there in flags.items() if there), scorer.calculate_score(flags)


CODES = ["I509", "E119", "I10", "N183", "E6601"]  # heart failure, diabetes, pressure, kidneys, obesity
seen = scored(CODES)
turned = scored(CODES[::-1])
all_of_them = scored(["", *CODES], poa_indicators=["Y"] * 6)
print("elixhauser-ahrq", version("elixhauser-ahrq"), seen, "turned:", turned, "all of them:", all_of_them)
assert all_of_them == (["DIAB_UNCX", "HF", "HTN_UNCX", "OBESE", "RENLFL_MOD"], 10)
assert seen == (["DIAB_UNCX", "HTN_UNCX", "OBESE"], -7), "the behaviour changed"
assert turned == (["DIAB_UNCX", "HTN_UNCX"], 0), "the behaviour changed"
PYTHON
