"""The JSON schema of contracts, by which editors complete and check them: every key with what it says."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import ModelSchema

from republish.anonymize.contract import Product
from republish.anonymize.contract.hierarchy_rules import FORMS, PERIODS
from republish.anonymize.principles import PRINCIPLES

OURS = __name__.partition(".")[0] + "."
DRAFT = "https://json-schema.org/draft/2020-12/schema"
TEXTS = {"type": "array", "items": {"type": "string"}}
NUMBERS = {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1}
RULE = {
    "type": "object",
    "description": f"A rule: {'; '.join(FORMS)}",
    "properties": {
        "prefix": NUMBERS,
        "labels": {"anyOf": [{"type": "string"}, TEXTS]},
        "steps": NUMBERS,
        **{period: {"type": "null"} for period in PERIODS},
        "domain": {"type": "array", "minItems": 2, "maxItems": 2},
    },
    "additionalProperties": False,
}
"""A hierarchy by a rule."""


@cache
def keys_of(declared: type) -> dict[str, str]:
    """What each key of a class of ours says of itself: the text below its declaration.

    It is read from the source. If pydantic did it (`use_attribute_docstrings`), every command would begin a
    tenth of a second later.
    """
    found: dict[str, str] = {}
    for one in reversed(declared.__mro__):
        if one.__module__.startswith(OURS):
            (tree,) = ast.parse(inspect.getsource(one)).body
            assert isinstance(tree, ast.ClassDef)
            for key, below in itertools.pairwise(tree.body):
                match key, below:
                    case ast.AnnAssign(ast.Name(name)), ast.Expr(ast.Constant(str(said))):
                        found[name] = inspect.cleandoc(said)
    return found


class _Described(GenerateJsonSchema):
    """Schemas in which every key says what it says of itself."""

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        found, declared = super().model_schema(schema), cast(type[BaseModel], schema["cls"])
        for name, said in keys_of(declared).items():
            if (field := declared.model_fields.get(name)) is not None:
                found["properties"][field.alias or name]["description"] = said
        return found


def schema_text() -> str:
    """The schema as the file that an editor reads."""
    return json.dumps(contract_schema(), indent=1, ensure_ascii=False) + "\n"


def contract_schema() -> dict[str, Any]:
    """The schema of both shapes of contracts, each with the principles that have it.

    It is of what a contract may say. Rules between keys are for `republish validate`.
    """
    parts: dict[str, Any] = {}
    shapes = []
    for shape in dict.fromkeys(principle.contract for principle in PRINCIPLES.values()):
        schema = shape.model_json_schema(schema_generator=_Described)
        parts |= schema.pop("$defs", {})
        principles = []
        for principle in PRINCIPLES.values():
            if principle.contract is shape:
                declared = principle.parameters.model_json_schema(schema_generator=_Described)
                parts |= declared.pop("$defs", {})
                parts[principle.parameters.__name__] = declared
                principles.append({"$ref": f"#/$defs/{principle.parameters.__name__}"})
        schema["properties"]["principle"] = {
            "anyOf": principles,
            "description": keys_of(Product)["principle"],
        }
        shapes.append(schema)
    for schema in (*shapes, *parts.values()):
        _as_it_is_read(schema, parts)
    return {
        "$schema": DRAFT,
        "title": "A contract of republish",
        "anyOf": shapes,
        "$defs": {name: part for name, part in parts.items() if name not in UNUSED},
    }


UNUSED = ("Parameters",)


def _as_it_is_read(schema: dict[str, Any], parts: dict[str, Any]) -> None:
    """Add the other forms in which some keys may be written."""
    schema.pop("discriminator", None)
    for name, key in schema.get("properties", {}).items():
        if name in OTHER_FORMS:
            OTHER_FORMS[name](key, parts)
        for part in _below(key):
            part.pop("discriminator", None)


def _below(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for one in schema.values():
            yield from _below(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from _below(one)


def _also(*forms: dict[str, Any]) -> Callable[[dict[str, Any], Any], None]:
    """Add forms beside the one that the class itself has."""

    def add(key: dict[str, Any], _parts: Any) -> None:
        told: dict[str, Any] = {word: key.pop(word) for word in ("description", "default") if word in key}
        own = key.pop("anyOf", None) or [dict(key)]
        key.clear()
        key |= {"anyOf": [*own, *forms], **told}

    return add


def _list_as_well(key: dict[str, Any], parts: Any) -> None:
    """Add the list of several."""
    if "$ref" in key:
        _also({"type": "array", "items": {"$ref": key["$ref"]}})(key, parts)


def _by_release(key: dict[str, Any], parts: Any) -> None:
    """Of each release a list of names, too."""
    _also(TEXTS)(key["additionalProperties"], parts)


def _changes(key: dict[str, Any], parts: dict[str, Any]) -> None:
    """Some of the keys of `source`, none of which has to be there."""
    key["additionalProperties"] = {
        word: one for word, one in parts["FileSource"].items() if word not in ("required", "title")
    }


OTHER_FORMS: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {
    "hierarchy": _also({"type": "string"}, RULE),
    "values": _also({"type": "string"}),
    "sensitive": _list_as_well,
    "accept": _by_release,
    "sources": _changes,
}
"""Keys that may be written in other forms than that of their class, which these functions add."""
