"""A release as a Croissant dataset, in JSON-LD, which libraries of machine learning load.

References
----------
https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html
"""

from __future__ import annotations

from typing import Any

from republish.orchestration.catalogue.entry import Entry
from republish.orchestration.storage.parts import table_of

OURS = (
    *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field"),
    *("fileProperty", "fileObject", "fileSet", "format", "includes", "isArray", "isLiveDataset"),
    *("jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated"),
    *("replace", "samplingRate", "separator", "source", "subField", "transform"),
)
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{name: f"cr:{name}" for name in OURS},
}
PARQUET = "application/x-parquet"
"""The name that readers of Croissant know; they refuse that of IANA."""
TYPES = {"integer": "sc:Integer", "number": "sc:Float", "string": "sc:Text", "date": "sc:Date"}
"""Croissant's types, by those of a data package."""


def croissant(entry: Entry) -> dict[str, Any]:
    """The description of a release."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": entry.package["name"],
        "description": f"{entry.title}: {entry.description}",
        "url": entry.address,
        "version": f"{entry.manifest['n']}.0.0",
        "datePublished": entry.release,
        "publisher": {"@type": "sc:Organization", "name": entry.governance["controller"]},
        **({"license": entry.licence} if entry.licence else {}),
        **({"citeAs": entry.package["citation"]} if "citation" in entry.package else {}),
        "distribution": [_file(entry, name) for name in entry.tables],
        "recordSet": [
            _records(one, name)
            for one in entry.package["resources"]
            for name in entry.tables
            if table_of(name) == one["name"]
        ]
        + [_labels(name, own) for name, own in entry.package["republish"].get("labels", {}).items()],
    }


def _labels(name: str, labels: dict[str, str]) -> dict[str, Any]:
    """The codes of a column and their labels, as a record for each."""
    of = f"labels/{name}"
    text = {"@type": "cr:Field", "dataType": "sc:Text"}
    return {
        "@type": "cr:RecordSet",
        "@id": of,
        "name": of,
        "description": f"What the codes of {name} mean.",
        "dataType": "sc:Enumeration",
        "key": {"@id": f"{of}/code"},
        "field": [{**text, "@id": f"{of}/{one}", "name": f"{of}/{one}"} for one in ("code", "label")],
        "data": [{f"{of}/code": code, f"{of}/label": label} for code, label in labels.items()],
    }


def _file(entry: Entry, name: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": f"{entry.address}/{name}",
        "encodingFormat": PARQUET,
        "sha256": entry.tables[name]["sha256"],
    }


def _records(table: dict[str, Any], file: str) -> dict[str, Any]:
    """The rows of a file, with its columns; a table in parts has as many of them."""
    name = file.removesuffix(".parquet")
    return {
        "@type": "cr:RecordSet",
        "@id": f"rows/{name}",
        "name": name,
        "description": table["description"],
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"rows/{name}/{column['name']}",
                "name": column["name"],
                "description": column["description"],
                "dataType": TYPES[column["type"]],
                "source": {"fileObject": {"@id": file}, "extract": {"column": column["name"]}},
            }
            for column in table["schema"]["fields"]
        ],
    }
