#!/usr/bin/env bash
# fhirpathpy 2.2.4: a value of 5.4 is not 5.4, but at most and at least 5.4.
#
# Believed: valueQuantity.value = 5.4 is true of an observation with the value 5.4: decimals are equal if their values
# are, by FHIRPath.
# Seen: it is false, and != is true, while <=, >= and ~ are true, too, and so is = after + 0. Numbers of json are binary
# fractions in Python, literals are decimals, and = compares them as they are. 5.5 and 7, which are binary fractions,
# are equal to themselves; 5.4 in (5.4 | 6.0) is false.
# What follows: where($this = 1.1) finds nobody, without an error. Read the resource by json.loads(...,
# parse_float=Decimal): then all are equal.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check fhirpathpy==2.2.4
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import json
from decimal import Decimal
from importlib.metadata import version

from fhirpathpy import evaluate

TEXT = '{"resourceType": "Observation", "valueQuantity": {"value": 5.4}, "component": [{"n": 5.5}, {"n": 7}, {"n": 1.1}]}'
EXPRESSIONS = (
    "valueQuantity.value = 5.4", "valueQuantity.value != 5.4", "valueQuantity.value <= 5.4",
    "valueQuantity.value >= 5.4", "valueQuantity.value ~ 5.4", "valueQuantity.value + 0 = 5.4",
    "valueQuantity.value in (5.4 | 6.0)", "component.n[0] = 5.5", "component.n[1] = 7",
    "component.n.where($this = 1.1).count() = 1",
)
plain, exact = json.loads(TEXT), json.loads(TEXT, parse_float=Decimal)
seen = {expression: evaluate(plain, expression)[0] for expression in EXPRESSIONS}
read_as_decimals = [evaluate(exact, expression)[0] for expression in EXPRESSIONS]
print("fhirpathpy", version("fhirpathpy"), seen)
assert read_as_decimals == [True, False] + [True] * 8
assert list(seen.values()) == [False, True, True, True, True, True, False, True, True, False], "the behaviour changed"
PYTHON
