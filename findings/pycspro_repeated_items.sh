#!/usr/bin/env bash
# pycspro 1.1.0: of an item that is repeated in a record, only the first one is read.
#
# Believed: an item of a CSPro dictionary with `Occurrences=3` becomes three columns, a list, or an error.
# Seen: it is one column, with the first of the three; the dictionary that was parsed has `Occurrences` 3. The item
# after it is read from its own place, so that nothing looks wrong.
# What follows: of the ages of three children the first child's is kept. The others can be had by adding items of one
# occurrence each to the dictionary.
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
RecordLen=11

[Item]
Label=Age of a child
Name=CHILD
Start=5
Len=2
Occurrences=3

[Item]
Label=Town
Name=TOWN
DataType=Alpha
Start=11
Len=1
"""
parsed = DictionaryParser(DICTIONARY.strip()).parse()
(record,) = parsed["Dictionary"]["Level"]["Records"]
people = CaseParser(parsed).parse(["1001070411A"])["PERSON"]
print("pycspro", version("pycspro"), "occurrences", record["Items"][0]["Occurrences"], people)
assert record["Items"][0]["Occurrences"] == 3
assert people == {"CASE_ID": ["001"], "CHILD": [7], "TOWN": ["A"]}, "the behaviour changed"
PYTHON
