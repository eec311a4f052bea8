#!/usr/bin/env bash
# mlcroissant 1.1.1: integers of a Parquet file are rounded where one of the column is missing.
#
# Believed: a field whose dataType is sc:Integer has the integers of the Parquet file, which stores them with 64 bits
# and says which are missing.
# Seen: with a missing value in the column, all go through floating point numbers: 9007199254740993 is
# 9007199254740992, an int again, so that nothing shows. Without a missing value it is right.
# What follows: hashes and long identifiers of people meet: two neighbours are one person.
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


import pyarrow
from pyarrow import parquet

people = [9007199254740992, 9007199254740993, None]
parquet.write_table(pyarrow.table({"missing": people, "full": [*people[:2], 1]}), "people.parquet")
seen = records("people.parquet", "application/x-parquet", missing="Integer", full="Integer")
print("mlcroissant", version("mlcroissant"), seen)
assert [int(one) for one in seen["full"]] == [*people[:2], 1]
assert seen["missing"] == [9007199254740992, 9007199254740992, None], "the behaviour changed"
PYTHON
