#!/usr/bin/env bash
# mlcroissant 1.1.1: each row's date is read by itself, as month and day or as day and month.
#
# Believed: a column whose dataType is sc:Date, with days written as 31/12/2023, is read in one order, or refused.
# Seen: 31/12/2023 is 31 December, and 01/02/2024, in the same column, is 2 January: each cell is read as month and day
# if it can be. The result is a moment, not a date.
# What follows: of dates in the order of most countries, those up to the twelfth of a month are wrong, and the others
# are right. Write them as 2024-02-01.
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


Path("days.csv").write_text("day,iso\n31/12/2023,2023-12-31\n01/02/2024,2024-02-01\n")
seen = records("days.csv", "text/csv", day="Date", iso="Date")
days = {name: [str(day.date()) for day in column] for name, column in seen.items()}
print("mlcroissant", version("mlcroissant"), days)
assert days["iso"] == ["2023-12-31", "2024-02-01"]
assert days["day"] == ["2023-12-31", "2024-01-02"], "the behaviour changed"
PYTHON
