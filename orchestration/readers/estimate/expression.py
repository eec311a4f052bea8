"""A part of a researcher's question: one SQL expression over the columns that people have."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.errors import QueryError
from republish.orchestration.readers.estimate.names import quoted

CLASSES = {
    *("BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT"),
    *("FUNCTION", "OPERATOR", "TYPE"),
}
"""The kinds of expressions that a question may be made of: no subquery, no parameter, no window."""
COMPARISONS = {
    *("COMPARE_EQUAL", "COMPARE_NOTEQUAL", "COMPARE_IN", "COMPARE_NOT_IN"),
    *("COMPARE_DISTINCT_FROM", "COMPARE_NOT_DISTINCT_FROM"),
}
"""Comparisons with a label that a column must have."""
NEGATED = {"COMPARE_NOTEQUAL", "COMPARE_NOT_IN", "COMPARE_DISTINCT_FROM", "OPERATOR_NOT", "CASE_EXPR"}
"""Expressions that may be true of a missing label because it is none of those that they name."""
OF_NULL = {"OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "OPERATOR_COALESCE"}
"""Expressions that do not find a missing label, though one may think so."""
MOST_SHOWN = 20
"""The most values of a column that a message lists."""


@dataclass(frozen=True)
class Expression:
    """An expression that DuckDB read by itself: in brackets, it can be nothing else in a statement."""

    option: str
    """The option that has it on the command line."""
    asked: str
    sql: str
    """The same, with a column that stands by itself in quotes."""
    name: str
    """What it is called in an answer: a column as copies call it, or as it was asked."""
    columns: frozenset[str]
    """The columns that it mentions."""
    functions: frozenset[str]
    """The functions that it calls, by their names in small letters."""
    compared: tuple[tuple[str, str], ...]
    """Each column with a text that it is compared with."""
    finds_missing: frozenset[str]
    """The columns whose missing labels it may find, or not find, without a word of them."""

    @classmethod
    def of(
        cls, option: str, asked: str, columns: Sequence[str], labels: Mapping[str, Sequence[str]]
    ) -> Expression:
        """Read an expression on `columns`; `labels` are those of columns of text.

        Raises
        ------
        QueryError
            If it is not one expression, or has in it what can't be asked for.
        """
        named = f"{option} {asked}"
        names = {name.lower(): name for name in columns}
        # A column by itself needs no quotes, whatever it is called.
        sql = quoted(names[asked.lower()]) if option == "--by" and asked.lower() in names else asked
        tree = _parsed(named, sql)
        parts = [*_parts(tree)]

        def column(part: Mapping[str, Any]) -> str | None:
            written: list[str] = part["column_names"] if part["class"] == "COLUMN_REF" else []
            return names.get(written[0].lower()) if len(written) == 1 else None

        for part in parts:
            kind = part["class"]
            if kind not in CLASSES:
                kind = kind.lower().replace("_", " ")
                raise QueryError(f"{named}: a {kind} can't be asked for, only columns and functions of them")
            if kind == "COLUMN_REF" and column(part) is None:
                name = ".".join(part["column_names"])
                is_label = any(name in one for one in labels.values())
                quotes = f". For the label, write '{name}' in single quotes" if is_label else ""
                raise QueryError(
                    f"{named}: there is no column {name}; there are {', '.join(columns)}{quotes}"
                )
        asks = {found for part in parts if (found := column(part))}
        compared = [
            (found, text)
            for part in parts
            if part["type"] in COMPARISONS
            for one in _sides(part)
            if (found := column(one))
            for text in _texts(_sides(part))
        ]
        unsaid = {
            found
            for part in parts
            if part["type"] in NEGATED | OF_NULL or str(part.get("function_name", "")).startswith("!~~")
            for one in _parts(part)
            if (found := column(one)) and (found, MISSING) not in compared
        }
        functions = {part["function_name"].lower() for part in parts if part["class"] == "FUNCTION"}
        name = column(tree) or asked
        return cls(
            option,
            asked,
            sql,
            name,
            frozenset(asks),
            frozenset(functions),
            tuple(compared),
            frozenset(unsaid),
        )

    @property
    def named(self) -> str:
        """The expression after its option, as a message begins with it."""
        return f"{self.option} {self.asked}"

    @property
    def written(self) -> str:
        """The expression as it stands in a statement: a comment in it ends with its line."""
        return f"({self.sql}\n)"

    @property
    def is_count(self) -> bool:
        """Whether it is how many people there are."""
        return "".join(self.asked.split()).lower() in ("count(*)", "count()")

    def refuse_other_labels(self, labels: Mapping[str, Sequence[str]]) -> None:
        """Raise QueryError if a column is compared with a text that is none of its labels.

        It is a slip of the pen, and not a count of 0. `labels` has no columns of which none are known.
        """
        for name, text in self.compared:
            if (known := labels.get(name)) is None or text in known:
                continue
            alike = difflib.get_close_matches(text, known, 3, 0.6)
            meant = f"Did you mean {' or '.join(alike)}? " if alike else ""
            shown, more = ", ".join(known[:MOST_SHOWN]), len(known) - MOST_SHOWN
            there = f"It has {shown}" + (f" and {more} more" if more > 0 else "")
            raise QueryError(f"{self.named}: {name} has no value {text}. {meant}{there}")


def _parsed(named: str, asked: str) -> Any:
    """The tree of an expression that DuckDB reads by itself, and that is the whole of what it reads."""
    trees = []
    with duckdb.connect() as connection:
        for sql in (f"SELECT {asked}\n", "SELECT true"):
            ((text,),) = connection.execute("SELECT json_serialize_sql($sql)", {"sql": sql}).fetchall()
            trees.append(json.loads(text))
    found, plain = trees
    if found["error"]:
        said = found["error_message"].splitlines()[0]
        raise QueryError(f"{named}: can't be read as one expression of SQL: {said}")
    expressions = [tree["statements"][0]["node"].pop("select_list", []) for tree in trees]
    is_one = len(expressions[0]) == 1 and not expressions[0][0]["alias"] and not asked.rstrip().endswith(";")
    if not is_one or _without_places(found) != _without_places(plain):
        raise QueryError(f"{named}: must be one expression of SQL and no more, as age >= 30 is one")
    return expressions[0][0]


def _without_places(parsed: Any) -> Any:
    if isinstance(parsed, list):
        return [_without_places(part) for part in parsed]
    if isinstance(parsed, dict):
        return {
            key: _without_places(part) for key, part in parsed.items() if not key.startswith("query_location")
        }
    return parsed


def _parts(parsed: Any) -> Iterator[dict[str, Any]]:
    """Every expression in one, itself included."""
    if isinstance(parsed, list):
        for part in parsed:
            yield from _parts(part)
    elif isinstance(parsed, dict):
        if "class" in parsed:
            yield parsed
        for part in parsed.values():
            yield from _parts(part)


def _sides(part: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The expressions that a comparison is made of, without theirs."""
    return [*(part[side] for side in ("left", "right") if side in part), *part.get("children", ())]


def _texts(sides: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The constants of text among expressions."""
    for one in sides:
        literal = one.get("literal") or {}
        if one["class"] == "CONSTANT" and literal.get("kind") == "STRING":
            yield literal["text"]
