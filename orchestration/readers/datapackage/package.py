"""`datapackage.json`: what is in a published folder, as a Frictionless Data Package.

It is made of the contract's declared words and columns, and of what the release's manifest states. Nothing in
it is read from the tables: it can't say more of anybody than they do.

References
----------
https://specs.frictionlessdata.io/data-package/
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from republish.anonymize.contract import CategoryAttribute, DateAttribute, NumberAttribute, Product, Sensitive
from republish.anonymize.contract.scalars import WordedColumn
from republish.anonymize.formats import Format
from republish.anonymize.formats.format import RELEASE, PublishedColumn
from republish.anonymize.people.rows import as_counted, counted_in, has_several_rows
from republish.anonymize.principles import PRINCIPLES, parameters_stated
from republish.orchestration.readers.datapackage.words import (
    CELLS,
    GRID,
    OF_SEVERAL,
    SEMANTICS,
    TERMS,
    may_be_known,
    missing_values,
    own_values,
    several_columns,
)
from republish.orchestration.snapshots.labels import LABELS_STATED, Labels, categories, labels_declared
from republish.orchestration.storage.parts import SUFFIX, table_of

TYPES = {"Int64": "integer", "Float64": "number", "String": "string", "Date": "date"}
"""The types of published columns, in a Data Package's words."""
TABLES = {
    "microdata": "A row for each tuple: a person, or a counterfeit.",
    "quasi_identifiers": "A row for each tuple: the exact quasi-identifiers of a person, or a counterfeit.",
    "sensitive": "How many tuples of each group have which value; who of the group has it is not published.",
    "counterfeits": "R(n): how many tuples of a group are counterfeits. A group that is not listed has none.",
    "view": "A row for each person.",
}
"""Descriptions of the tables of all formats, by name."""


def _described_table(name: str, contract: Product) -> str:
    """The description of a table; of people with several rows, a tuple is one of these."""
    if not has_several_rows(contract):
        return TABLES[name]
    return TABLES[name].replace("a person, or", "a row of a person, or")


def _not_promised(stated: Mapping[str, Any], contract: Product) -> dict[str, str]:
    """A sentence on what the promise does not cover; nothing where it covers all."""
    words = " ".join(filter(None, (_deferred(stated), _beside_counterfeits(stated))))
    return {"not_promised": as_counted(words, contract)} if words else {}


def _deferred(stated: Mapping[str, Any]) -> str:
    """A sentence on people who were held back and so are known to have a frequent value; else empty."""
    if not stated.get("deferred"):
        return ""
    return (
        f"{stated['deferred']:,} people were held back, now or in an earlier release, as too many"
        " people had their value. A reader who knows that such a person was in the table, and finds no group"
        " of theirs, knows that they had a frequent value. What is promised of values is not promised of"
        " theirs."
    )


def _beside_counterfeits(stated: Mapping[str, Any]) -> str:
    """A sentence on what counterfeits may give away in spite of the promise; empty without any."""
    if not stated.get("beside_counterfeits"):
        return ""
    return (
        f"{stated['beside_counterfeits']:,} people share a group with a counterfeit; the fewest people in a"
        f" group are {stated['fewest_people']}. Counterfeits seldom have the most frequent value of a group."
        " A reader who knows this guesses the value of a person in such a group right more often than once in"
        " as many tries as the group has values."
    )


def data_package(
    contract: Product, release_format: Format, stated: Mapping[str, Any], types: Mapping[str, str]
) -> dict[str, Any]:
    """The content of a release's `datapackage.json`.

    Parameters
    ----------
    contract
        Its words, columns, domains, labels and hierarchies.
    stated
        The release's manifest, or what it is to say: `product`, `series`, `release`, `n`, `principle`; and
        `files`, of which the names of tables in parts matter.
        `lone_ends` is stated of intervals whose ends are those of cells of `min_width`. Beside a manifest's
        keys, `labels` of the snapshot's codes.
    types
        The type (`Int64`, `String`) of each published column that may have either, by its name.
    """
    lone_ends = stated.get("lone_ends")
    attributes = [_attribute(one, of_intervals=lone_ends is not None) for _, one in contract.attributes()]
    exact = [one["name"] for one in attributes if "ends" not in one]
    parameters = parameters_stated(stated["principle"])
    promise = PRINCIPLES[parameters.name].promise(parameters)
    words = {"title": contract.title, "description": contract.description}
    said = missing_values(
        _published_missing(contract, release_format), stated.get("left_out", {}), counted_in(contract)
    )
    tables = release_format.columns(contract).items()
    labels = labels_declared(stated.get(LABELS_STATED, {}), contract)
    return _without_none(
        {
            "profile": "data-package",
            "name": f"{stated['product']}-{stated['series']}-{stated['release']}".lower(),
            **{key: text or None for key, text in words.items()},
            "version": stated["release"],
            "licenses": contract.licence and [_licence(contract.licence)],
            "contributors": contract.contact and [_contact(contract.contact)],
            "citation": contract.citation,
            "resources": [
                *(
                    _table(name, _path(name, stated.get("files", ())), columns, contract, types, labels)
                    for name, columns in tables
                ),
                *(
                    {"name": name, "path": f"{name}.json", "mediatype": "application/json"}
                    for name in release_format.documents
                ),
            ],
            "republish": {
                **{key: stated[key] for key in ("product", "series", "release", "n")},
                "format": release_format.name,
                **contract.model_dump(include={"rows"}),  # nothing where people have one row
                "principle": dict(stated["principle"]),
                "promised": [
                    *promise.sentences(),
                    *several_columns([one.name for _, one in contract.sensitive_columns()]),
                    *may_be_known(_not_sensitive(contract)),
                ],
                **_not_promised(stated, contract),
                "ends": None if lone_ends is None else own_values(exact, lone_ends),
                **({"missing": said} if said is not None else {}),
                **_held_back(stated),
                "terms": contract.governance.terms or TERMS,
                "sensitive": _sensitive(contract),
                "attributes": attributes,
                **({LABELS_STATED: labels} if labels else {}),
            },
        }
    )


def _held_back(stated: Mapping[str, Any]) -> dict[str, Any]:
    """How many people of the table are held back, none of them for their own value; nothing if nobody is."""
    people = int(stated.get("held_back", 0))
    return {"held_back": {"people": people, "by_value": False}} if people else {}


def _path(table: str, files: Iterable[str]) -> str | list[str]:
    """The file of a table, or the files of its parts."""
    return sorted(name for name in files if "/" in name and table_of(name) == table) or f"{table}{SUFFIX}"


def _table(
    name: str,
    path: str | list[str],
    columns: list[PublishedColumn],
    contract: Product,
    types: Mapping[str, str],
    labels: Labels,
) -> dict[str, Any]:
    release = {
        "name": RELEASE,
        "type": "date",
        "description": "the release: the same in every row",
        "constraints": {"required": True},
    }
    return {
        "name": name,
        "path": path,
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "description": _described_table(name, contract),
        "schema": {"fields": [release, *(_field(column, contract, types, labels) for column in columns)]},
    }


def _field(
    column: PublishedColumn, contract: Product, types: Mapping[str, str], labels: Labels
) -> dict[str, Any]:
    """A column with its type, its description, and which values there can be."""
    attributes: dict[str | None, WordedColumn] = {
        **dict(contract.attributes()),
        **dict(contract.sensitive_columns()),
    }
    declared = attributes.get(column.origin)
    kind = column.dtype if column.dtype in TYPES else types.get(column.name, "String")
    unit, required, values = getattr(declared, "unit", None), True, _values(declared, kind)
    own = labels.get(getattr(declared, "name", ""), {})
    if _is_count_of_missing(column):
        unit, values, own = None, {"minimum": 0}, {}
    elif isinstance(declared, NumberAttribute | DateAttribute) and declared.publishes_missing:
        required = False
    return _without_none(
        {
            "name": column.name,
            "type": TYPES[kind],
            "description": _described(column.description, declared),
            "unit": unit,
            "constraints": {"required": required, **values},
            "categories": categories(own, TYPES[kind]),
        }
    )


def _is_count_of_missing(column: PublishedColumn) -> bool:
    """Whether a column says of how many people another one's value is missing."""
    return column.ours.endswith("_missing")


def _described(by_format: str, declared: Any) -> str:
    words = getattr(declared, "description", None)
    return f"{by_format}: {words}" if words else by_format


def _values(declared: Any, kind: str) -> dict[str, Any]:
    """The constraints on a column: its domain, labels or values, where they are declared."""
    if declared is None:
        return {"minimum": 1} if kind == "Int64" else {}
    if isinstance(declared, CategoryAttribute):
        return {} if getattr(declared, "keep", True) is False else {"enum": list(declared.in_tables)}
    if hasattr(declared, "domain"):
        if kind == "String":
            return {}
        low, high = _domain(declared)
        return {"minimum": low, "maximum": high}
    return {"enum": list(declared.values)} if declared.values is not None else {}


def _attribute(declared: Any, *, of_intervals: bool) -> dict[str, Any]:
    """An attribute as the contract declares it: kind, domain or labels in order, hierarchy, minimum width.

    Of intervals, it says where they end if that is where cells do, and the first label of each cell if these
    are of a hierarchy.
    """
    told = {"name": declared.name, "kind": declared.kind}
    if isinstance(declared, CategoryAttribute):
        told |= {"labels": list(declared.labels)}
        told |= {"hierarchy": declared.hierarchy and [list(path) for path in declared.hierarchy]}
    else:
        told |= {"domain": _domain(declared)}
    told |= {"min_width": declared.min_width or None}
    told |= declared.model_dump(include={"step"})
    cells = getattr(declared, "cells", None)
    ends = GRID if cells is None else CELLS
    told |= {"ends": ends if of_intervals and declared.min_width > int(declared.discrete) else None}
    if cells is not None and of_intervals:
        told |= {CELLS: [declared.labels[first] for first in cells]}
    told |= {"missing": None if declared.missing == "refuse" else declared.missing}
    told |= {"unit": declared.unit, "description": declared.description}
    return _without_none(told)


def _domain(declared: Any) -> list[Any]:
    """The lowest and the highest value, dates as text."""
    return [str(end) if isinstance(declared, DateAttribute) else end for end in declared.domain]


def _not_sensitive(contract: Product) -> tuple[Any, ...]:
    return () if contract.sensitive is None else contract.sensitive.not_sensitive


def _published_missing(contract: Product, release_format: Format) -> dict[str, str]:
    """How a missing value of each column is published, by the column's name, as `missing_values` takes it."""
    tables = release_format.columns(contract).values()
    counted = {column.origin for table in tables for column in table if _is_count_of_missing(column)}

    def how(ours: str, declared: object) -> str:
        is_label = isinstance(declared, CategoryAttribute | Sensitive)
        return "counted" if ours in counted else "label" if is_label else "null"

    columns = (*contract.attributes(), *contract.sensitive_columns())
    return {one.name: how(ours, one) for ours, one in columns if one.publishes_missing}


def _sensitive(contract: Product) -> dict[str, Any] | list[dict[str, Any]] | None:
    of_rows = has_several_rows(contract)
    columns = [_sensitive_column(one, of_rows=of_rows) for _, one in contract.sensitive_columns()]
    return columns if len(columns) > 1 else next(iter(columns), None)


def _sensitive_column(declared: Sensitive, *, of_rows: bool) -> dict[str, Any]:
    means = OF_SEVERAL if of_rows and declared.semantics == "persistent" else SEMANTICS[declared.semantics]
    return _without_none(
        {
            "name": declared.name,
            "kind": declared.kind,
            "bins": list(declared.bins) or None,
            "values": declared.values and list(declared.values),
            "missing": None if declared.missing == "refuse" else declared.missing,
            "not_sensitive": list(declared.not_sensitive) or None,
            "semantics": declared.semantics,
            "means": means,
            "unit": declared.unit,
            "description": declared.description,
        }
    )


def _licence(declared: str) -> dict[str, str]:
    """An SPDX name, an address, or a sentence, each under the key it belongs to."""
    if declared.startswith(("https://", "http://")):
        return {"path": declared}
    return {"title": declared} if " " in declared else {"name": declared}


def _contact(declared: str) -> dict[str, str]:
    key = "email" if "@" in declared and "://" not in declared else "path"
    return {"title": declared, "role": "publisher", key: declared}


def _without_none(told: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if value is not None}
