"""A release as a DDI codebook, which data archives and statistics offices harvest.

References
----------
DDI-Codebook 2.6, https://ddialliance.org/ddi-codebook
"""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from republish.orchestration.catalogue.entry import Entry
from republish.orchestration.storage.parts import table_of


def ddi(entry: Entry) -> str:
    """The codebook of a release, as XML."""
    book = Element("codeBook", {"xmlns": "ddi:codebook:2_6", "version": "2.6"})
    _study(SubElement(book, "stdyDscr"), entry)
    names = {name: f"F{at}" for at, name in enumerate(entry.tables, 1)}
    tables = {one["name"]: one for one in entry.package["resources"]}
    for name, mark in names.items():
        columns = tables[table_of(name)]["schema"]["fields"]
        content = SubElement(SubElement(book, "fileDscr", {"ID": mark}), "fileTxt")
        SubElement(content, "fileName").text = name
        size = SubElement(content, "dimensns")
        SubElement(size, "caseQnty").text = str(entry.tables[name]["rows"])
        SubElement(size, "varQnty").text = str(len(columns))
        SubElement(content, "fileType").text = "application/vnd.apache.parquet"
    variables = SubElement(book, "dataDscr")
    for table, described in tables.items():
        files = " ".join(mark for name, mark in names.items() if table_of(name) == table)
        for column in described["schema"]["fields"] if files else ():
            _variable(variables, column, files)
    indent(book)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(book, encoding="unicode")}\n'


def _study(study: Element, entry: Entry) -> None:
    citation = SubElement(study, "citation")
    title = SubElement(citation, "titlStmt")
    SubElement(title, "titl").text = entry.title
    SubElement(title, "IDNo").text = entry.package["name"]
    made = SubElement(citation, "prodStmt")
    SubElement(made, "producer").text = entry.governance["controller"]
    given = SubElement(citation, "distStmt")
    SubElement(given, "contact").text = entry.contact
    SubElement(SubElement(citation, "verStmt"), "version", {"date": entry.release}).text = entry.release
    SubElement(citation, "holdings", {"URI": entry.address}).text = entry.address
    about = SubElement(study, "stdyInfo")
    SubElement(about, "abstract").text = entry.description
    summary = SubElement(about, "sumDscr")
    SubElement(summary, "timePrd", {"date": entry.release, "event": "single"}).text = entry.release
    if entry.declared.population:
        SubElement(summary, "universe").text = entry.declared.population
    use = SubElement(SubElement(study, "dataAccs"), "useStmt")
    SubElement(use, "restrctn").text = entry.declared.access.replace("_", " ")
    if entry.licence:
        SubElement(use, "conditions").text = entry.licence


def _variable(parent: Element, column: dict[str, Any], files: str) -> None:
    constraints = column.get("constraints", {})
    is_number = column["type"] in ("integer", "number")
    variable = SubElement(parent, "var", {"name": column["name"], "files": files})
    SubElement(variable, "labl").text = column["description"]
    ends = {key: constraints.get(word) for key, word in (("min", "minimum"), ("max", "maximum"))}
    if found := {key: str(end) for key, end in ends.items() if end is not None}:
        SubElement(SubElement(variable, "valrng"), "range", found)
    labels = {one["value"]: one["label"] for one in column.get("categories", ())}
    for value in dict.fromkeys((*constraints.get("enum", ()), *labels)):
        category = SubElement(variable, "catgry")
        SubElement(category, "catValu").text = str(value)
        if value in labels:
            SubElement(category, "labl").text = labels[value]
    SubElement(variable, "varFormat", {"type": "numeric" if is_number else "character"})
