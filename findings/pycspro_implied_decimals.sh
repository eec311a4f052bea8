#!/usr/bin/env bash
# pycspro 1.1.0: decimals without a decimal point are read as whole numbers.
#
# Believed: an item of a CSPro dictionary with `Decimal=2`, and without a decimal point in the file (`DecimalChar=No`,
# CSPro's default), is read as the number that it stands for.
# Seen: 07025, which is 70.25 kilograms, is 7025. The labels of the same item have numbers with decimals as keys, so
# that 99999 ("refused") is looked up as 99999.0. With `DecimalChar=Yes` the number is right.
# What follows: weights of census and survey files are a hundred times too large. Divide each by ten to the power of
# its item's `Decimal`.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pycspro==1.1.0 transitions==0.9.3
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from pycspro import CaseParser, DictionaryParser

DICTIONARY = """
[Dictionary]
Version=CSPro 7.2
Label=Survey
Name=SURVEY
RecordTypeStart=1
RecordTypeLen=1
Positions=Relative
ZeroFill=No
DecimalChar=No

[Level]
Label=Household
Name=HOUSEHOLD

[IdItems]

[Item]
Label=Number
Name=NUMBER
Start=2
Len=3
ZeroFill=Yes

[Record]
Label=Person
Name=PERSON
RecordTypeValue='1'
MaxRecords=10
RecordLen=20

[Item]
Label=Weight in kilograms
Name=WEIGHT
Start=5
Len=5
Decimal=2

[ValueSet]
Label=Weight
Name=WEIGHT_VALUES
Value=99999;Refused

[Item]
Label=Height in centimetres
Name=HEIGHT
Start=10
Len=5
Decimal=1
DecimalChar=Yes
"""
parser = DictionaryParser(DICTIONARY.strip())
people = CaseParser(parser.parse()).parse(["100107025170.1"])["PERSON"]
print("pycspro", version("pycspro"), people, parser.get_value_labels("PERSON"))
assert people["HEIGHT"] == [170.1]
assert people["WEIGHT"] == [7025], "the behaviour changed"
assert parser.get_value_labels("PERSON") == {"WEIGHT": {99999.0: "Refused"}}, "the behaviour changed"
PYTHON
