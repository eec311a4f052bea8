#!/usr/bin/env bash
# mlcroissant 1.1.1: each text in a column of truth values is true.
#
# Believed: a value of a field whose dataType is sc:Boolean is false for no, N and 0, or is refused.
# Seen: a column of yes and no is all true, as is 0 in a column in which another cell is a word. A column of 0 and 1,
# or of true and false, is read as such.
# What follows: everybody in a survey has the disease. Look at whether a column has both values.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check mlcroissant==1.1.1 pandas==3.1.1 numpy==2.4.6 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" - <<'PYTHON'
import json
import logging
import warnings
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
import mlcroissant

OURS = "column data dataType extract field fileObject recordSet source"
CONTEXT = {"@language": "en", "@vocab": "https://schema.org/", "cr": "http://mlcommons.org/croissant/"}
CONTEXT |= {"sc": "https://schema.org/", "dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo"}
CONTEXT |= {name: f"cr:{name}" for name in OURS.split()}
CONTEXT |= {"dataType": {"@id": "cr:dataType", "@type": "@vocab"}}


def records(file, form, **types):
    """The values of each column, as they are read."""
    content = {"@type": "cr:FileObject", "@id": "file", "name": "file", "contentUrl": file, "encodingFormat": form}
    content["sha256"] = sha256(Path(file).read_bytes()).hexdigest()
    fields = [
        {
            "@type": "cr:Field", "@id": f"rows/{name}", "name": name, "dataType": f"sc:{kind}",
            "source": {"fileObject": {"@id": "file"}, "extract": {"column": name}},
        }
        for name, kind in types.items()
    ]
    dataset = {
        "@context": CONTEXT, "@type": "sc:Dataset", "conformsTo": "http://mlcommons.org/croissant/1.1", "name": "table",
        "description": "a table", "url": "https://x.example", "version": "1.0.0", "license": "CC0-1.0",
        "datePublished": "2024-01-01", "distribution": [content],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": fields}],
    }
    Path("croissant.json").write_text(json.dumps(dataset))
    read = list(mlcroissant.Dataset("croissant.json").records("rows"))
    return {name: [row[f"rows/{name}"] for row in read] for name in types}


Path("answers.csv").write_text("ill,well,number,mixed\nyes,true,1,1\nno,false,0,0\nno,true,1,no\n")
seen = records("answers.csv", "text/csv", ill="Boolean", well="Boolean", number="Boolean", mixed="Boolean")
print("mlcroissant", version("mlcroissant"), seen)
assert seen["well"] == seen["number"] == [True, False, True]
assert seen["ill"] == [True, True, True], "the behaviour changed"
assert seen["mixed"] == [True, True, True], "the behaviour changed"
PYTHON
