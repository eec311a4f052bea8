#!/usr/bin/env bash
# fhiry 5.2.2: a patient has other identifiers where a reference has an address or a version.
#
# Believed: `patientId` is the identifier of the patient that a resource is about, and is empty if it is about nobody.
# Seen: "Patient/" is taken out of the text of the reference, wherever it stands: https://x.example/fhir/Patient/p1 is
# "https://x.example/fhir/p1", Patient/p1/_history/2 is "p1/_history/2", and a group's Group/g1 is "Group/g1".
# What follows: grouping by patientId counts one patient as three people, and a group as another one. Take the part
# after the last "Patient/" and before "/_history", and leave out other types.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check fhiry==5.2.2 pandas==3.1.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import logging
from importlib.metadata import version

logging.disable(logging.CRITICAL)
from fhiry import Fhiry

references = ["Patient/p1", "https://x.example/fhir/Patient/p1", "Patient/p1/_history/2", "Group/g1"]
resources = [{"resourceType": "Patient", "id": "p1"}]
resources += [
    {"resourceType": "Condition", "id": f"c{at}", "code": {"text": "flu"}, "subject": {"reference": reference}}
    for at, reference in enumerate(references)
]
bundle = {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": one} for one in resources]}
table = Fhiry().process_bundle_dict(bundle)
print("fhiry", version("fhiry"), table[["resourceType", "patientId"]].to_dict("list"))
wrong = ["https://x.example/fhir/p1", "p1/_history/2", "Group/g1"]
assert table["patientId"].tolist() == ["p1", "p1", *wrong], "the behaviour changed"
PYTHON
