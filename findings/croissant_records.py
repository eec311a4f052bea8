"""Tables described in Croissant and read by mlcroissant, for the findings on what it reads."""  # noqa: INP001 - no package

import json
import logging
import warnings
from hashlib import sha256
from pathlib import Path

import mlcroissant

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

OURS = "column data dataType extract field fileObject recordSet source"
CONTEXT = {"@language": "en", "@vocab": "https://schema.org/", "cr": "http://mlcommons.org/croissant/"}
CONTEXT |= {"sc": "https://schema.org/", "dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo"}
CONTEXT |= {name: f"cr:{name}" for name in OURS.split()}
CONTEXT |= {"dataType": {"@id": "cr:dataType", "@type": "@vocab"}}


def records(file, form, **types):
    """The values of each column, as they are read."""
    content = {
        "@type": "cr:FileObject",
        "@id": "file",
        "name": "file",
        "contentUrl": file,
        "encodingFormat": form,
    }
    content["sha256"] = sha256(Path(file).read_bytes()).hexdigest()
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"rows/{name}",
            "name": name,
            "dataType": f"sc:{kind}",
            "source": {"fileObject": {"@id": "file"}, "extract": {"column": name}},
        }
        for name, kind in types.items()
    ]
    dataset = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": "table",
        "description": "a table",
        "url": "https://x.example",
        "version": "1.0.0",
        "license": "CC0-1.0",
        "datePublished": "2024-01-01",
        "distribution": [content],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": fields}],
    }
    Path("croissant.json").write_text(json.dumps(dataset))
    read = list(mlcroissant.Dataset("croissant.json").records("rows"))
    return {name: [row[f"rows/{name}"] for row in read] for name in types}
