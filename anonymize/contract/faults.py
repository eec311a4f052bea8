"""The faults of a contract in a publisher's words: the key, what is wrong, and what is accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from republish.anonymize.contract.expect import Expect
from republish.anonymize.contract.identifier import JoinedColumns
from republish.anonymize.contract.parameters import Parameters
from republish.anonymize.contract.scalars import Declaration, shown
from republish.anonymize.contract.schema import Table, role_fault
from republish.anonymize.contract.sensitive import Sensitive
from republish.anonymize.contract.source import FileSource, Releases, kind_of_source

Location = Sequence[str | int]
Principles = Mapping[str, type[Parameters]]


def describe_faults(
    declared: Mapping[str, Any], error: ValidationError, principles: Principles, shape: type[Table]
) -> list[tuple[str, str]]:
    """Every fault of a contract as `(key, what is wrong and what is accepted)`.

    Faults between columns are among them, also where a column has a fault of its own. `error` is what
    pydantic found in what was `declared`, which was to be of a `shape`: a `Contract`, or a `ViewContract`.
    """
    faults = [_fault(declared, fault, principles, shape) for fault in error.errors()]
    between = role_fault(*_declared_names(declared))
    return faults if between is None or ("", between) in faults else [*faults, ("", between)]


_REWORDED = {
    "missing": "is missing",
    "string_type": "must be text: write {input} in quotes",
    "int_type": "must be a whole number, not {input}",
    "tuple_type": "must be a list, not {input}",
    "model_type": "must be a mapping of keys, not {input}",
    "model_attributes_type": "must be a mapping of keys, not {input}",
    "invalid_key": "is unknown: keys are text",
    "union_tag_not_found": "{discriminator} is missing; accepted: {tags}",
    "union_tag_invalid": "{tag} is unknown; accepted: {tags}",
    "bool_type": "must be true or false, not {input}",
    "dict_type": "must be a mapping, not {input}",
    "literal_error": "{input} is unknown; accepted: {expected}",
    "string_pattern_mismatch": "{input} is not accepted; it must match {pattern}",
    "extra_forbidden": "is unknown; accepted: {keys}",
}


def _fault(
    declared: Mapping[str, Any], fault: ErrorDetails, principles: Principles, shape: type[Table]
) -> tuple[str, str]:
    """A pydantic error as `(key, what is wrong and what is accepted)`, in a publisher's words."""
    kind, location, context = fault["type"], fault["loc"], fault.get("ctx") or {}
    key = _key(declared, location, shape)
    if kind == "union_tag_invalid":
        key += f".{context['discriminator'].strip(chr(39))}"
    if kind not in _REWORDED:
        return key, fault["msg"].removeprefix("Value error, ")
    if kind == "int_type" and isinstance(fault["input"], str) and fault["input"].isdigit():
        return key, f"must be a whole number, not text: write {fault['input']} without quotes"
    if kind == "extra_forbidden" and key in shape.ELSEWHERE:
        return key, shape.ELSEWHERE[key]
    words = {
        "input": shown(fault["input"]),
        "discriminator": str(context.get("discriminator")).strip("'"),
        "tag": context.get("tag"),
        "tags": ", ".join(shape.KINDS),
        "expected": str(context.get("expected")).replace("'", "").replace(" or ", ", "),
        "pattern": context.get("pattern"),
        "keys": ", ".join(_part(declared, location, principles, shape).model_fields),
    }
    return key, _REWORDED[kind].format_map(words)


def _key(declared: Any, location: Location, shape: type[Table]) -> str:
    """`quasi_identifiers[age].domain` for a location in the mapping; union branches are left out."""
    key, at = "", declared
    branch = 2 if location[:1] == (shape.LISTED_UNDER,) else len(location)
    if location[:2] == ("sensitive", "of"):  # of a list of columns, which has no key
        location = (location[0], *location[2:])
    for step in (*location[:branch], *location[branch + 1 :]):
        if isinstance(step, int):
            at = at[step] if isinstance(at, Sequence) and step < len(at) else None
            key += f"[{_name(at) or step}]"
        else:
            at = at.get(step) if isinstance(at, Mapping) else None
            key += f".{step}" if key else step
    return key


def _part(
    declared: Mapping[str, Any], location: Location, principles: Principles, shape: type[Table]
) -> type[Declaration]:
    """The part of the contract that a location of one of its keys lies in."""
    if kinds := [shape.KINDS[str(step)] for step in location[:-1] if step in shape.KINDS]:
        return kinds[0]
    parts: dict[str | int, type[Declaration]] = {
        "source": kind_of_source(declared.get("source")),
        "sources": FileSource,
        "releases": Releases,
        "sensitive": Sensitive,
        "expect": Expect,
    }
    if named := principles.get(_name(declared.get("principle")) or ""):
        parts["principle"] = named
    return parts.get(location[0], shape) if len(location) > 1 else shape


def _declared_names(declared: Mapping[str, Any]) -> tuple[str | None, list[str], list[str], str | None]:
    """Identifier, quasi-identifiers, sensitive columns and row as far as a faulty contract names them."""
    attributes = declared.get("quasi_identifiers")
    names = [_name(attribute) for attribute in attributes] if isinstance(attributes, list | tuple) else []
    sensitive = declared.get("sensitive")
    columns = sensitive if isinstance(sensitive, list | tuple) else [sensitive]
    identifier, row = declared.get("identifier"), declared.get("row")
    if isinstance(identifier, list | tuple) and all(isinstance(name, str) for name in identifier):
        identifier = JoinedColumns(identifier)
    return (
        identifier if isinstance(identifier, str) else None,
        [name for name in names if name is not None],
        [name for column in columns if (name := _name(column)) is not None],
        row if isinstance(row, str) else None,
    )


def _name(part: Any) -> str | None:
    name = part.get("name") if isinstance(part, Mapping) else None
    return name if isinstance(name, str) else None
