#!/usr/bin/env bash
# pyshacl 0.40.1, rdflib 7.6.0: no year is above a bound, nor below one.
#
# Believed: sh:minInclusive "2020"^^xsd:gYear accepts 2020 and 2024, and refuses 2019.
# Seen: it accepts 2020, and refuses 2024 and 2019, and so does sh:maxInclusive: years are equal or not compared. Bounds
# of dates hold. And "24" is a value of xsd:gYear, "1e3" one of xsd:decimal, which have other forms by the standard (-1
# is none of xsd:nonNegativeInteger).
# What follows: a shape that bounds a year of issue refuses every catalogue but those of that year. Bound dates, or use
# a pattern.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pyshacl==0.40.1 rdflib==7.6.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pyshacl
import rdflib

PREFIXES = (
    "@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix x: <https://x.example/> ."
    "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . "
)


def conforms(constraint, value):
    shape = f"x:Shape a sh:NodeShape ; sh:targetNode x:record ; sh:property [ sh:path x:issued ; {constraint} ] ."
    shapes, data = (
        rdflib.Graph().parse(data=PREFIXES + text, format="turtle") for text in (shape, f"x:record x:issued {value} .")
    )
    return pyshacl.validate(data, shacl_graph=shapes)[0]


bounds = {
    (bound, year): conforms(f'sh:{bound} "2020"^^xsd:gYear', f'"{year}"^^xsd:gYear')
    for bound in ("minInclusive", "maxInclusive") for year in (2019, 2020, 2024)
}
kinds = {
    value: conforms(f"sh:datatype xsd:{kind}", f'"{value}"^^xsd:{kind}')
    for kind, value in (("gYear", "24"), ("decimal", "1e3"), ("nonNegativeInteger", "-1"))
}
days = [
    conforms('sh:minInclusive "2020-01-01"^^xsd:date', f'"{year}-06-01"^^xsd:date') for year in (2019, 2024)
]
print("pyshacl", version("pyshacl"), "rdflib", rdflib.__version__, "years:", bounds, "kinds:", kinds, "days:", days)
assert days == [False, True] and kinds["-1"] is False
assert [key for key, accepted in bounds.items() if accepted] == [
    ("minInclusive", 2020), ("maxInclusive", 2020)
], "the behaviour changed"
assert kinds["24"] and kinds["1e3"], "the behaviour changed"
PYTHON
