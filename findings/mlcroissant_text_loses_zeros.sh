#!/usr/bin/env bash
# mlcroissant 1.1.1: a column of a CSV file that is declared as text is read as numbers first.
#
# Believed: the values of a field whose dataType is sc:Text are the characters of the file.
# Seen: pandas guesses the types, and text is made of the guess: 007 is b'7', 1E30 is b'1e+30', true is b'True', and NA,
# null and an empty cell are missing. In a column with one letter elsewhere, 007 stays what it is.
# What follows: postcodes, codes of diagnoses and of countries (Namibia) are others than in the file that is described,
# and others than in the same table as Parquet.
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


Path("codes.csv").write_text("postcode,icd,country,mixed\n007,1E30,NA,007\n010,1E40,PT,A1\n")
seen = records("codes.csv", "text/csv", postcode="Text", icd="Text", country="Text", mixed="Text")
print("mlcroissant", version("mlcroissant"), seen)
assert seen["mixed"] == [b"007", b"A1"]
assert seen["postcode"] == [b"7", b"10"], "the behaviour changed"
assert seen["icd"] == [b"1e+30", b"1e+40"], "the behaviour changed"
assert seen["country"] == [None, b"PT"], "the behaviour changed"
PYTHON
