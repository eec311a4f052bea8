#!/usr/bin/env bash
# rocrate 0.16.0: a crate that was read and written has lost the meaning of its own properties.
#
# Believed: ROCrate(folder).write(other) keeps what the metadata say; properties that the crate defines by a second
# context are kept with that definition.
# Seen: the property is kept, and its definition is not: of a list of two contexts the first one is written. Readers
# of JSON-LD drop a property without a definition, so that it is in the file, and not in the graph.
# What follows: give the definition again, after each reading, by `metadata.extra_contexts` or `extra_terms`, which are
# empty after it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check rocrate==0.16.0
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import json
from importlib.metadata import version
from pathlib import Path

from rocrate.rocrate import ROCrate

context = ["https://w3id.org/ro/crate/1.1/context", {"universe": "https://x.example/terms#universe"}]
about = {"@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": {"@id": "./"}}
about["conformsTo"] = {"@id": "https://w3id.org/ro/crate/1.1"}
root = {"@id": "./", "@type": "Dataset", "name": "n", "description": "d", "datePublished": "2024-01-01"}
root |= {"license": "CC0", "universe": "Inpatients"}
Path("crate").mkdir()
Path("crate/ro-crate-metadata.json").write_text(json.dumps({"@context": context, "@graph": [about, root]}))
crate = ROCrate("crate")
crate.write("again")
again = json.loads(Path("again/ro-crate-metadata.json").read_text())
(data,) = (one for one in again["@graph"] if one["@id"] == "./")
print("rocrate", version("rocrate"), "context:", again["@context"], "universe:", data["universe"])
print("extra:", crate.metadata.extra_contexts, crate.metadata.extra_terms)
assert data["universe"] == "Inpatients"
assert again["@context"] == context[0], "the behaviour changed"
assert not crate.metadata.extra_contexts and not crate.metadata.extra_terms, "the behaviour changed"
PYTHON
