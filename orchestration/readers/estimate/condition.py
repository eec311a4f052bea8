"""A researcher's condition: a boolean expression over the published columns, and nothing else."""

from __future__ import annotations

import difflib
import itertools
import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import duckdb

from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.errors import QueryError
from republish.orchestration.readers.datapackage.words import sensitive_columns
from republish.orchestration.readers.estimate.statements import column_names, quoted, text

CLASSES = {
    *("BETWEEN", "CASE", "CAST", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION"),
    "OPERATOR",
    "TYPE",
}
"""The kinds of expressions that a condition may be made of: no subquery, no parameter, no window."""
FUNCTIONS = {
    *("+", "-", "*", "/", "//", "%", "~~", "!~~", "~~*", "!~~*"),
    *(
        "abs",
        "ceil",
        "contains",
        "date_diff",
        "date_part",
        "date_trunc",
        "day",
        "ends_with",
        "floor",
        "length",
    ),
    *(
        "lower",
        "month",
        "quarter",
        "regexp_matches",
        "round",
        "starts_with",
        "to_days",
        "to_months",
        "to_years",
    ),
    *("trunc", "upper", "year"),
}
"""The functions that a condition may call: of one row, the same every time, and none of them reads a file."""
OF_NUMBERS = {"+", "-", "*", "/", "//", "%", "abs", "ceil", "floor", "round", "trunc"}
"""Functions that take no text."""
OF_TEXT = {"~~", "!~~", "~~*", "!~~*"} | {"contains", "ends_with", "length", "lower", "regexp_matches"}
OF_TEXT |= {"starts_with", "upper"}
"""Functions that take nothing else."""
MOST_SHOWN = 20
"""The most values of a column that a message lists."""
MOST_TRIED = 100
"""The most numbers of bins, or combinations of them, that a condition is tried with."""
NEGATED = {"COMPARE_NOTEQUAL", "COMPARE_NOT_IN", "COMPARE_DISTINCT_FROM", "OPERATOR_NOT", "CASE_EXPR"}
"""Expressions that may be true of a missing label because it is none of those that they name."""
ROWS = "SELECT * FROM estimate_people WHERE "
IS_MISSING = {"OPERATOR_IS_NULL": "=", "OPERATOR_IS_NOT_NULL": "<>"}
"""What is asked of a missing value, and how a label is compared with that of missing ones for it."""


@dataclass(frozen=True)
class Column:
    """A published column that can be asked for."""

    name: str
    """As the contract calls it, or as `column_names` says."""
    values: frozenset[str] | None = None
    """Its labels or values, where they are text."""
    kind: str | None = None
    """For text that is numbers throughout: the type to compare it as. CSV files have no other numbers."""
    is_in_bins: bool = False
    """Whether its values are bins of a number."""
    domain: tuple[str, str] | None = None
    """The lowest and the highest number or date, as SQL has them; None of labels."""

    @property
    def written(self) -> str:
        """The column as SQL writes it: a number, where it is one."""
        if self.kind and self.is_labelled:
            return f"TRY_CAST({quoted(self.name)} AS {self.kind})"
        return f"{quoted(self.name)}::{self.kind}" if self.kind else quoted(self.name)

    @property
    def is_labelled(self) -> bool:
        """Whether a missing value is a label of its own."""
        return self.values is not None and MISSING in self.values

    @property
    def number(self) -> str:
        """The column as it is compared with numbers: of a bin, one that is drawn from it."""
        return f"estimate_drawn({quoted(self.name)})" if self.is_in_bins else self.written


@dataclass(frozen=True)
class Condition:
    """A condition as DuckDB understands it: nothing but a boolean expression is left in it."""

    text: str
    """The condition that is estimated. A number that is drawn from a bin is compared for it."""
    certain: str | None = None
    """True of a row if every number of its bin meets the condition. None if no bin is compared."""
    possible: str | None = None
    """True of a row if some number of its bin meets the condition. None if no bin is compared."""
    columns: frozenset[str] = frozenset()
    """The names of the columns that it asks for."""
    finds_missing: frozenset[str] = frozenset()
    """Those of which it may also find missing labels, and does not say so."""


def columns_of(
    package: Mapping[str, Any], published: Mapping[str, Collection[str]] = MappingProxyType({})
) -> dict[str, Column]:
    """The columns of a release that can be asked for, by their names in small letters.

    Parameters
    ----------
    package
        The content of its `datapackage.json`.
    published
        By name of a sensitive column, its values in all releases that are asked: for one whose values are not
        declared.
    """
    own = package["republish"]
    found, names = [Column("release")], column_names(package)
    for name, one in zip(names, own["attributes"], strict=False):
        labels = one.get("labels")
        also = [MISSING] if one.get("missing") == "publish" else []
        ends = [text(end) if isinstance(end, str) else str(end) for end in one.get("domain", ())]
        domain = (ends[0], ends[1]) if ends else None
        found.append(Column(name, frozenset([*labels, *also]) if labels else None, domain=domain))
    sensitive = sensitive_columns(own)
    for name, one in zip(names[-len(sensitive) :], sensitive, strict=True):
        values = one.get("values") or sorted(published.get(one["name"], ()))
        if values and all(isinstance(value, str) for value in values):
            found.append(Column(name, frozenset(values), _number(values), is_in_bins=bool(one.get("bins"))))
        else:
            found.append(Column(name))
    return {column.name.lower(): column for column in found}


def checked_condition(where: str, columns: Mapping[str, Column]) -> Condition:
    """The condition, parsed and written anew.

    Raises
    ------
    QueryError
        Saying what in it can't be asked for, and what can.
    """
    wrong = f"can't be read as one condition, as in {_example(columns)}"
    condition, plain = _expression(where, f"--where {where}", columns, wrong)
    met: set[Column] = set()

    def drawn(column: Column) -> str:
        met.add(column)
        return column.number

    trees = [_with_numbers(condition, columns, drawn)]
    if binned := [column for column in met if column.is_in_bins]:
        numbers = _numbers_to_try(
            [number for part in _parts(condition) for number in _numbers(part)], len(binned)
        )
        tried = [
            _with_numbers(condition, columns, partial(_nearest, dict(zip(binned, some, strict=True))))
            for some in itertools.product(numbers, repeat=len(binned))
        ]
        trees += [_conjunction(word, tried) for word in ("AND", "OR")]
    written, *ends = [_written(plain, tree) for tree in trees]
    certain, possible = ends or (None, None)
    asked = _asked_for(condition, columns)
    return Condition(written, certain, possible, asked, _finding_missing(condition, columns))


def _finding_missing(condition: Any, columns: Mapping[str, Column]) -> frozenset[str]:
    """The names of columns whose missing labels a condition may find without a word of them."""
    negated = [part for part in _parts(condition) if part["type"] in NEGATED or _is_unlike(part)]
    said = {
        column.name
        for part in _parts(condition)
        if part["type"] in IS_MISSING or MISSING in _texts(_sides(part))
        for one in _sides(part)
        if (column := _column(one, columns))
    }
    labelled = {column.name for column in columns.values() if column.is_labelled and not column.kind}
    return frozenset(labelled & _asked_for(negated, columns) - said)


def _is_unlike(part: Mapping[str, Any]) -> bool:
    return str(part.get("function_name", "")).startswith("!~~")


def _expression(text: str, asked: str, columns: Mapping[str, Column], wrong: str) -> tuple[Any, Any]:
    """An expression of a release's columns, parsed, and a statement in which it can stand.

    Raises QueryError on what was `asked`: that it is `wrong`, or what in it can't be asked for.
    """
    parsed, plain = _parsed(ROWS + _about_missing(text)), _parsed(ROWS + "true")
    expression, _ = _taken(parsed), _taken(plain)
    if expression is None or _without_places(parsed) != _without_places(plain):
        raise QueryError(f"{asked}: {wrong}")
    for part in _parts(expression):
        _check(part, asked, columns)
    return expression, plain


def _about_missing(where: str) -> str:
    """A condition in which `IS MISSING`, which is no SQL, is `IS NULL`; what is in quotes stays as it is."""
    parts = re.split(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")""", where)
    parts[::2] = [re.sub(r"(?i)\bis(\s+not)?\s+missing\b", r"IS\1 NULL", part) for part in parts[::2]]
    return "".join(parts)


def _conjunction(word: str, conditions: Sequence[Any]) -> Any:
    """Several parsed conditions as one: that all of them are met, by AND, or any, by OR."""
    joined = _taken(_parsed(f"{ROWS}true {word} true"))
    joined["children"] = conditions
    return joined


def _written(plain: Any, condition: Any) -> str:
    """The SQL of a parsed condition; `plain` is a statement in which it can stand."""
    plain["statements"][0]["node"]["where_clause"] = condition
    with duckdb.connect() as connection:
        text = _one(connection, "SELECT json_deserialize_sql($sql::JSON)", json.dumps(plain))
    return text.partition(" WHERE ")[2]


def _nearest(numbers: Mapping[Column, str], column: Column) -> str:
    """The number of a column's bin that is nearest to one that is tried, as SQL."""
    if column not in numbers:
        return column.number
    return f"estimate_nearest({quoted(column.name)}, {numbers[column]})"


def _numbers_to_try(compared: Collection[float], columns: int) -> list[str]:
    """The numbers, as SQL, for which a condition on a bin is tried: it may change from one to the next.

    These are the numbers that the condition compares, the next ones on either side of each, and both
    infinities for the ends of the bin. If there are too many combinations of several columns, only the ends
    are tried.
    """
    near = {math.nextafter(one, end) for one in compared for end in (-math.inf, one, math.inf)}
    if (len(near) + 2) ** columns > MOST_TRIED:
        near = set()
    return [f"'{number!r}'::DOUBLE" for number in (-math.inf, *sorted(near), math.inf)]


def _numbers(part: Mapping[str, Any]) -> list[float]:
    """The number that an expression is, if it is a constant one."""
    literal = part.get("literal") or {}
    return [float(literal["text"])] if literal.get("kind") in ("INTEGER", "NUMERIC") else []


def checked_column(option: str, name: str, columns: Mapping[str, Column]) -> Column:
    """The column that an option names.

    Raises QueryError if there is no such column.
    """
    column = columns.get(name.lower())
    if column is None:
        raise QueryError(f"{option} {name}: there is no such column; there are {_names(columns)}")
    return column


@dataclass(frozen=True)
class Part:
    """What people are counted by: a column, or an expression of some."""

    name: str
    """As it was asked for."""
    written: str
    """The same as SQL."""
    is_in_bins: bool = False
    """Whether it is a column of bins."""
    columns: frozenset[str] = frozenset()
    """The names of the columns in it."""


def checked_part(asked: str, columns: Mapping[str, Column]) -> Part:
    """What people are to be counted by: the name of a column, or an expression as in a condition.

    Raises QueryError, which says what in it can't be asked for.
    """
    if asked.lower() in columns or asked.isidentifier():
        named = checked_column("--by", asked, columns)
        return Part(named.name, named.written, named.is_in_bins, frozenset([named.name]))
    wrong = f"is no column and no expression, as age // 10 is one; there are {_names(columns)}"
    expression, plain = _expression(asked, f"--by {asked}", columns, wrong)
    for part in _parts(expression):
        if (column := _column(part, columns)) and column.is_in_bins:
            raise QueryError(f"--by {asked}: {column.name} is published in bins; count by it as it is")
    written = _written(plain, _with_numbers(expression, columns, lambda column: column.written))
    return Part(asked, written, columns=_asked_for(expression, columns))


def _number(values: Collection[str]) -> str | None:
    """The type of numbers that texts are, if all of them are."""
    kinds = {"BIGINT": r"-?\d{1,18}", "DOUBLE": r"-?\d{1,18}(\.\d{1,18})?"}
    known = {*values} - {MISSING}
    fits = (kind for kind, form in kinds.items() if all(re.fullmatch(form, one, re.ASCII) for one in known))
    return next(fits, None) if known else None


def _with_numbers(
    node: Any, columns: Mapping[str, Column], number_of: Callable[[Column], str], *, is_number: bool = False
) -> Any:
    """A condition in which text that is numbers is compared, and reckoned with, as numbers.

    Beside a text it stays text: `code = '07'`, `code LIKE '4%'`.
    """
    if isinstance(node, list):
        return [_with_numbers(one, columns, number_of, is_number=is_number) for one in node]
    if not isinstance(node, dict):
        return node
    node = _about_labels(node, columns)
    if "class" in node:
        if is_number and (column := _column(node, columns)) and column.number != quoted(column.name):
            return _taken(_parsed(ROWS + number_of(column)))
        compares = node["class"] in ("COMPARISON", "BETWEEN") or node["type"] in (
            "COMPARE_IN",
            "COMPARE_NOT_IN",
        )
        is_number = compares or node.get("function_name") in OF_NUMBERS
        is_number = is_number and not any(_texts(_sides(node)))
    return {key: _with_numbers(one, columns, number_of, is_number=is_number) for key, one in node.items()}


def _about_labels(node: dict[str, Any], columns: Mapping[str, Column]) -> dict[str, Any]:
    """An expression in which a label that is missing is missing for IS NULL and COALESCE, as numbers are."""
    kind = node.get("type")
    if kind not in {*IS_MISSING, "OPERATOR_COALESCE"}:
        return node
    named = [_column(one, columns) for one in node["children"]]
    if kind == "OPERATOR_COALESCE":
        gaps = (one is not None and one.is_labelled and not one.kind for one in named)
        nulls = [
            _null_if_missing(one) if gap else one for one, gap in zip(node["children"], gaps, strict=True)
        ]
        return {**node, "children": nulls}
    if named[0] is None or not named[0].is_labelled:
        return node
    parsed: dict[str, Any] = _taken(
        _parsed(f"{ROWS}{quoted(named[0].name)} {IS_MISSING[kind]} {text(MISSING)}")
    )
    return parsed


def _null_if_missing(node: Mapping[str, Any]) -> Any:
    return _taken(_parsed(f"{ROWS}nullif({quoted(node['column_names'][0])}, {text(MISSING)})"))


def _sides(part: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The expressions that one is made of, without theirs."""
    named = (part.get(side) for side in ("left", "right", "input", "lower", "upper"))
    arguments = (one["expression"] for one in part.get("arguments", ()))
    return [*(one for one in named if one), *part.get("children", ()), *arguments]


def _parsed(sql: str) -> Any:
    return json.loads(_serialized(sql))


@cache
def _serialized(sql: str) -> str:
    """The parsed statement as JSON: a condition on bins has the same few columns many times."""
    with duckdb.connect() as connection:
        return _one(connection, "SELECT json_serialize_sql($sql)", sql)


def _one(connection: duckdb.DuckDBPyConnection, statement: str, sql: str) -> str:
    """The text that a statement about another statement answers with."""
    ((text,),) = connection.execute(statement, {"sql": sql}).fetchall()
    return str(text)


def _taken(parsed: Any) -> Any:
    """The condition, taken out of what was parsed; None if that is no SELECT with a condition."""
    if parsed.get("error") or len(parsed["statements"]) != 1:
        return None
    return parsed["statements"][0]["node"].pop("where_clause", None)


def _without_places(parsed: Any) -> Any:
    if isinstance(parsed, list):
        return [_without_places(part) for part in parsed]
    if isinstance(parsed, dict):
        return {
            key: _without_places(part) for key, part in parsed.items() if not key.startswith("query_location")
        }
    return parsed


def _parts(parsed: Any) -> Iterator[dict[str, Any]]:
    """Every expression in a condition, itself included."""
    if isinstance(parsed, list):
        for part in parsed:
            yield from _parts(part)
    elif isinstance(parsed, dict):
        if "class" in parsed:
            yield parsed
        for part in parsed.values():
            yield from _parts(part)


def _check(part: Mapping[str, Any], asked: str, columns: Mapping[str, Column]) -> None:
    kind = part["class"]
    if kind not in CLASSES:
        raise QueryError(
            f"{asked}: a {kind.lower().replace('_', ' ')} can't be asked for; conditions compare"
            f" columns with values, as in {_example(columns)}"
        )
    if kind == "COLUMN_REF" and _column(part, columns) is None:
        name = ".".join(part["column_names"])
        is_label = any(name in column.values for column in columns.values() if column.values)
        quotes = f" For the label, write '{name}' in single quotes" if is_label else ""
        raise QueryError(
            f"{asked}: there is no column {name}; there are {_names(columns)}.{quotes}".rstrip(".")
        )
    if kind == "FUNCTION" and part["function_name"].lower() not in FUNCTIONS:
        known = ", ".join(sorted(name for name in FUNCTIONS if name.isidentifier()))
        raise QueryError(f"{asked}: there is no function {part['function_name']}; there are {known}")
    if kind == "FUNCTION" and part["function_name"].lower() in OF_TEXT:
        _check_is_text(part, asked, columns)
    _check_labels(part, asked, columns)


def _check_is_text(part: Mapping[str, Any], asked: str, columns: Mapping[str, Column]) -> None:
    """Numbers and dates are not compared with a pattern: a beginning of numbers is a range of them."""
    sides = _sides(part)
    for column in filter(None, (_column(one, columns) for one in sides)):
        if column.domain is None:
            continue
        low, high = column.domain
        begins = next((one.removesuffix("%") for one in _texts(sides)), "")
        if high.isdigit() and begins.isdigit() and len(begins) <= len(high):
            low, high = begins.ljust(len(high), "0"), begins.ljust(len(high), "9")
        kind = "date" if low.startswith("'") else "number"
        between = f"{column.name} BETWEEN {low} AND {high}"
        raise QueryError(f"{asked}: {column.name} is a {kind}: ask for {between}, say")


def _check_labels(part: Mapping[str, Any], asked: str, columns: Mapping[str, Column]) -> None:
    """A label that a column does not have is a slip of the pen, and not a count of 0."""
    if part["type"] not in ("COMPARE_EQUAL", "COMPARE_NOTEQUAL", "COMPARE_IN", "COMPARE_NOT_IN"):
        return
    sides = _sides(part)
    named = [column for one in sides if (column := _column(one, columns))]
    for column in named:
        there = column.values
        is_text = there is not None and not column.kind and not column.is_in_bins
        if is_text and (unquoted := _unquoted(sides, there or ())):
            raise QueryError(f"{asked}: {column.name} is text: write '{unquoted}' in single quotes")
        if there is not None and (unknown := [text for text in _texts(sides) if text not in there]):
            known = _values(column, unknown[0])
            raise QueryError(f"{asked}: {column.name} has no value {unknown[0]}. {known}")


def _unquoted(sides: Sequence[Mapping[str, Any]], there: Collection[str]) -> str | None:
    """A number, true or false beside a column whose text is none; None if there is none."""
    for one in sides:
        literal = one.get("literal") or {}
        kind, written = literal.get("kind"), str(literal.get("text", "")).lower()
        if kind in ("INTEGER", "NUMERIC") or (kind == "BOOLEAN" and not {*there} <= {"true", "false"}):
            return written
    return None


def _values(column: Column, unknown: str) -> str:
    """The values of a column; of many, the first ones and those that are written nearly alike."""
    known = sorted(column.values or ())
    shown, more = known[:MOST_SHOWN], len(known) - MOST_SHOWN
    alike = difflib.get_close_matches(unknown, known, 3, 0.6)
    meant = f"Did you mean {' or '.join(alike)}? " if alike else ""
    return f"{meant}It has {', '.join(shown)}" + (f" and {more} more" if more > 0 else "")


def _column(part: Mapping[str, Any], columns: Mapping[str, Column]) -> Column | None:
    """The column that an expression is, if it is one."""
    if part["class"] != "COLUMN_REF" or len(part["column_names"]) != 1:
        return None
    return columns.get(part["column_names"][0].lower())


def _asked_for(expression: Any, columns: Mapping[str, Column]) -> frozenset[str]:
    """The names of the columns in an expression."""
    return frozenset(column.name for part in _parts(expression) if (column := _column(part, columns)))


def _texts(sides: list[Mapping[str, Any]]) -> Iterator[str]:
    """The constants of text among expressions."""
    for one in sides:
        literal = one.get("literal") or {}
        if one["class"] == "CONSTANT" and literal.get("kind") == "STRING":
            yield literal["text"]


def _names(columns: Mapping[str, Column]) -> str:
    return ", ".join(column.name for column in columns.values())


def _example(columns: Mapping[str, Column]) -> str:
    labelled = (f"{column.name} = '{min(column.values)}'" for column in columns.values() if column.values)
    return next(labelled, "age BETWEEN 30 AND 40 AND sex = 'F'")
