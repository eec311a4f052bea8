#!/usr/bin/env bash
# fhir.resources 8.3.0: a decimal that was read from JSON has lost its last zero, and digits beyond the seventeenth.
#
# Believed: a decimal of FHIR becomes Python's Decimal with all of its digits; FHIR says that 0.010 is not 0.01, as the
# digits tell how exact a measurement is.
# Seen: it becomes a Decimal by way of a binary number: 7.50 is Decimal('7.5'), and is written as 7.5;
# 12345678901234567.25 is ...568. The value given to the constructor as Decimal('7.50') stays as it is, and is written
# as 7.5 even so.
# What follows: a record that was read and written says that a measurement is less exact, and a signature or a digest
# of it is another one.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check fhir.resources==8.3.0 fhir-core==1.1.12 pydantic==2.14.4
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from decimal import Decimal
from importlib.metadata import version

from fhir.resources.quantity import Quantity

read = Quantity.model_validate_json('{"value": 7.50, "unit": "kg"}')
long = Quantity.model_validate_json('{"value": 12345678901234567.25}')
made = Quantity(value=Decimal("7.50"))
print("fhir.resources", version("fhir.resources"), str(read.value), read.model_dump_json(), str(long.value))
print("made:", str(made.value), made.model_dump_json())
assert str(read.value) == "7.5" and '"value":7.5,' in read.model_dump_json(), "the behaviour changed"
assert str(long.value) == "12345678901234568", "the behaviour changed"
assert str(made.value) == "7.50" and made.model_dump_json() == '{"value":7.5}', "the behaviour changed"
PYTHON
