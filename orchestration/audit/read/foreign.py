"""Releases made by anything else: one row per person, intervals written in whatever way.

A short mapping file says which column is what. What it reads becomes the tables of a generalization, in
the file's own row order.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError, model_validator

from republish.anonymize.columns import entries
from republish.anonymize.contract import CategoryAttribute, Contract, DateAttribute, Product, QuasiIdentifier
from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.errors import ContractError, PublishedFolderError
from republish.anonymize.people.codes import code_domain, code_dtype, decode
from republish.anonymize.promise import KAnonymity, LDiversity, Promise
from republish.orchestration.contracts.contract_file import read_hierarchy_file
from republish.orchestration.contracts.yaml_text import read_yaml

Bounds = tuple[float, float]
ReadValue = Callable[[str], Bounds | None]


class Promised(BaseModel):
    """What another tool says of each of its tables."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    k: Annotated[StrictInt, Field(ge=1)] | None = None
    """k-anonymity: so many rows have the same quasi-identifiers."""
    l: Annotated[StrictInt, Field(ge=1)] | None = None
    """l-diversity: such rows have so many different sensitive values."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.k is None and self.l is None:
            raise ValueError("say k, l or both, as in {k: 5, l: 2}")
        return self

    @property
    def promise(self) -> Promise:
        """The same as parts of a promise."""
        parts = (self.k and KAnonymity(self.k), self.l and LDiversity(self.l))
        return Promise(*(part for part in parts if part))


class Mapping(BaseModel):
    """Which published column is what."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quasi_identifiers: dict[StrictStr, StrictStr | tuple[StrictStr, StrictStr]]
    """Per quasi-identifier of the contract: its published column, or its two (low, high)."""
    sensitive: StrictStr
    """The published column of the sensitive attribute."""
    group: StrictStr | None = None
    """A column that numbers the groups. Without it, rows with the same quasi-identifiers are a group."""
    hierarchies: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    """Per quasi-identifier: a CSV of paths `leaf;parent;…;root` that published labels are nodes of."""
    suppressed: tuple[StrictStr, ...] = ("*", "?", "")
    """What is published where a value is suppressed: anything is possible."""
    promise: Promised | None = None
    """What the tables promise, in place of the contract's principle."""
    separator: StrictStr = ","
    """Between the columns of a CSV file."""


@dataclass(frozen=True)
class Foreign:
    """A mapping, and the hierarchies it names."""

    mapping: Mapping
    hierarchies: dict[str, list[list[str]]]

    @property
    def promise(self) -> Promise | None:
        """What the tables promise, if the mapping says it."""
        return None if self.mapping.promise is None else self.mapping.promise.promise


def states_promise(path: Path) -> bool:
    """Whether a mapping file says what is promised, so that the contract need not.

    Raises
    ------
    ContractError
        If the file can't be read.
    """
    stated = read_yaml(path)
    return isinstance(stated, dict) and "promise" in stated


def load_mapping(path: Path, contract: Product) -> Foreign:
    """Read a mapping file.

    Raises
    ------
    ContractError
        Naming the file, every wrong key and what is accepted.
    """
    if not isinstance(contract, Contract):
        fault = "is for tables of groups, and the contract is of a view: leave --mapping out"
        raise ContractError(str(path), [("", fault)])
    if contract.sensitive.is_several:
        fault = "says which column is the sensitive one, and the contract has several: audit each by itself"
        raise ContractError(str(path), [("sensitive", fault)])
    try:
        mapping = Mapping.model_validate(read_yaml(path))
    except ValidationError as error:
        faults = [(".".join(str(step) for step in fault["loc"]), fault["msg"]) for fault in error.errors()]
        raise ContractError(str(path), faults) from None
    names = {qi.name for qi in contract.quasi_identifiers}
    faults = [
        (f"quasi_identifiers.{name}", "is missing: say which published column it is")
        for name in sorted(names - set(mapping.quasi_identifiers))
    ]
    faults += [
        (f"quasi_identifiers.{name}", f"is no quasi-identifier of the contract ({', '.join(sorted(names))})")
        for name in sorted((set(mapping.quasi_identifiers) | set(mapping.hierarchies)) - names)
    ]
    if faults:
        raise ContractError(str(path), faults)
    hierarchies = {}
    for qi in contract.quasi_identifiers:
        if (file := mapping.hierarchies.get(qi.name)) is not None:
            try:
                hierarchies[qi.name] = _paths(path.parent, file, qi)
            except ValueError as error:
                faults.append((f"hierarchies.{qi.name}", str(error)))
    if faults:
        raise ContractError(str(path), faults)
    return Foreign(mapping, hierarchies)


def convert(rows: pl.DataFrame, foreign: Foreign, contract: Contract, where: str) -> dict[str, pl.DataFrame]:
    """The tables of a generalization, from another tool's rows.

    Parameters
    ----------
    rows
        One row per person, in file order.
    foreign
        Which column is what.
    contract
        The attributes behind the columns.
    where
        The file, for errors.

    Returns
    -------
    dict
        `microdata`: `group_id`, `<qi>_low`, `<qi>_high` …, the sensitive column, and columns that the
        mapping doesn't name, as they are.

    Raises
    ------
    PublishedFolderError
        If a column is missing, or something in it can't be read as an interval.
    """
    if publishing := [qi.name for qi in contract.quasi_identifiers if qi.publishes_missing]:
        raise PublishedFolderError(
            f"{where}: missing: publish, of {', '.join(publishing)}, is for releases of republish, because"
            " each tool writes missing values in its own way: write missing: leave_out, and leave these rows"
            " out"
        )
    mapping = foreign.mapping
    named = [mapping.sensitive, *([mapping.group] if mapping.group else [])]
    for column in mapping.quasi_identifiers.values():
        named += [column] if isinstance(column, str) else column
    if missing := [column for column in named if column not in rows.columns]:
        raise PublishedFolderError(
            f"{where}: has no column {missing[0]} (it has {', '.join(rows.columns)}); correct the mapping"
        )
    bounds = [
        bound.alias(f"{qi.name}_{end}")
        for qi in contract.quasi_identifiers
        for end, bound in zip(("low", "high"), _bounds(rows, qi, foreign, where), strict=True)
    ]
    intervals = pl.DataFrame(bounds)
    numbering = entries(rows, mapping.group) if mapping.group else intervals.to_struct("group")
    sensitive = entries(rows, mapping.sensitive)
    if contract.sensitive.values and isinstance(contract.sensitive.values[0], int):
        numbers = sensitive.cast(pl.Int64, strict=False)
        if unread := numbers.null_count() - sensitive.null_count():
            raise PublishedFolderError(
                f"{where}: {unread} values of column {mapping.sensitive} are no whole numbers, as"
                f" {contract.sensitive.name} has in the contract: correct the contract, or the mapping"
            )
        sensitive = numbers
    else:
        sensitive = sensitive.cast(pl.String)
        if contract.sensitive.publishes_missing:
            sensitive = sensitive.fill_null(MISSING)
    group_id = numbering.rank("dense").cast(pl.Int64).alias("group_id")
    microdata = pl.DataFrame([group_id, *bounds, sensitive.alias(contract.sensitive.name)])
    others = [column for column in rows.columns if column not in named and column not in microdata.columns]
    return {"microdata": microdata.with_columns(rows[column] for column in others)}


def _bounds(
    rows: pl.DataFrame, qi: QuasiIdentifier, foreign: Foreign, where: str
) -> tuple[pl.Series, pl.Series]:
    """An attribute's published intervals, low and high, in its own type."""
    source = foreign.mapping.quasi_identifiers[qi.name]
    columns = (source, source) if isinstance(source, str) else source
    read = [_codes(entries(rows, column), qi, foreign, f"{where}: column {column}") for column in columns]
    table = pl.DataFrame({"low": read[0]["low"], "high": read[1]["high"]})
    if (backwards := table.select((pl.col("low") > pl.col("high")).sum()).item()) > 0:
        raise PublishedFolderError(f"{where}: {backwards} intervals of {qi.name} end before they begin")
    own = table.select(decode(pl.col("low"), qi).alias("low"), decode(pl.col("high"), qi).alias("high"))
    return own["low"], own["high"]


def _codes(published: pl.Series, qi: QuasiIdentifier, foreign: Foreign, where: str) -> pl.DataFrame:
    """`low`, `high` codes of each row; every different text is read once."""
    text = published.cast(pl.String).fill_null("").str.strip_chars()
    distinct = text.unique().to_list()
    parse = interval_reader(qi, foreign.hierarchies.get(qi.name), foreign.mapping.suppressed)
    parsed = {written: parse(written) for written in distinct}
    read = {written: bounds for written, bounds in parsed.items() if bounds is not None}
    if unread := sorted(parsed.keys() - read.keys()):
        raise PublishedFolderError(
            f"{where}: can't read {unread[0]!r} as an interval of {qi.name}"
            f" ({len(unread)} such texts). Accepted: {_accepted(qi)}"
        )
    dtype = code_dtype(qi)
    return pl.DataFrame(
        {
            end: text.replace_strict(
                distinct, [float(read[written][n]) for written in distinct], return_dtype=pl.Float64
            ).cast(dtype)
            for n, end in enumerate(("low", "high"))
        }
    )


def _accepted(qi: QuasiIdentifier) -> str:
    if isinstance(qi, CategoryAttribute):
        return "a label, {a, b}, [a, b], 12***, a node of the hierarchy, * for anything"
    if isinstance(qi, DateAttribute):
        return "2024-01-31, 2024-01, 2024, 202*, 2024-01-**, [2024-01-01, 2024-03-31], * for anything"
    masked = "2500*, " if qi.discrete else ""
    return f"21, [21, 23], (20, 23], 21-23, {masked}>=65, * for anything"


def interval_reader(
    qi: QuasiIdentifier, hierarchy: list[list[str]] | None = None, suppressed: tuple[str, ...] = ("*",)
) -> Callable[[str], Bounds | None]:
    """A function from a published text to the codes it stands for, both ends included; None if unread.

    Parameters
    ----------
    qi
        The attribute.
    hierarchy
        Paths `leaf, parent, …, root`; the contract's own hierarchy is known anyhow.
    suppressed
        Texts that stand for anything.
    """
    value = _value_reader(qi)
    nodes = _nodes(qi, hierarchy, value)

    def read(written: str) -> Bounds | None:
        if written in nodes:
            return nodes[written]
        if written in suppressed:
            return code_domain(qi)
        for reader in (_single, _set, _bracketed, _compared, _masked, _dashed):
            bounds = reader(written, qi, value)
            if bounds is not None:
                return bounds
        return None

    return read


def _value_reader(qi: QuasiIdentifier) -> Callable[[str], Bounds | None]:
    """From one value's text to its codes: two that differ for a date given to the month or year."""
    if isinstance(qi, CategoryAttribute):
        code = {label: number for number, label in enumerate(qi.labels)}
        return lambda text: (code[text], code[text]) if text in code else None
    return _date if isinstance(qi, DateAttribute) else _number


def _number(text: str) -> Bounds | None:
    if not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text):
        return None
    # Beyond 2^53 not every whole number is one of its own; no domain of a contract reaches so far.
    return (float(text), float(text)) if abs(float(text)) < 2**53 else None


def _date(text: str) -> Bounds | None:
    parts = re.fullmatch(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?", text)
    if parts is None:
        return None
    year, month, day = (int(part or 0) for part in parts.groups())
    try:
        first = dt.date(year, month or 1, day or 1)
        if parts[3]:
            after = first + dt.timedelta(1)
        elif parts[2]:
            after = dt.date(year + (month == 12), month % 12 + 1, 1)
        else:
            after = dt.date(year + 1, 1, 1)
    except (ValueError, OverflowError):
        return None
    epoch = dt.date(1970, 1, 1)
    return (first - epoch).days, (after - epoch).days - 1


def _single(written: str, _qi: QuasiIdentifier, value: ReadValue) -> Bounds | None:
    return value(written)


def _set(written: str, _qi: QuasiIdentifier, value: ReadValue) -> Bounds | None:
    """{a, b, c}: the interval around its members, which covers at least what was meant."""
    if not (written.startswith("{") and written.endswith("}")):
        return None
    read = [value(part.strip()) for part in written[1:-1].split(",")]
    members = [one for one in read if one is not None]
    if len(members) < len(read):
        return None
    return min(low for low, _ in members), max(high for _, high in members)


def _bracketed(written: str, qi: QuasiIdentifier, value: ReadValue) -> Bounds | None:
    """[21, 23], (20, 23], [21; 24[ and the like: round or turned-around brackets leave the end out."""
    parts = re.fullmatch(r"([\[\](])\s*(.+?)\s*(?:[,;]|\.\.|\bto\b)\s*(.+?)\s*([\])\[])", written)
    if parts is None:
        parts = re.fullmatch(r"([\[\](])\s*(\S+?)\s*[-\u2013]\s*(\S+?)\s*([\])\[])", written)
    if parts is None:
        return None
    opening, low, high, closing = parts.groups()
    lowest, highest = code_domain(qi)
    is_open = low in ("-inf", "-∞", "*"), high in ("inf", "+inf", "∞", "*")
    first = (lowest, lowest) if is_open[0] else value(low)
    last = (highest, highest) if is_open[1] else value(high)
    if first is None or last is None:
        return None
    begin = first[0] if opening == "[" or is_open[0] else _above(first[1], qi)
    end = last[1] if closing == "]" or is_open[1] else _below(last[0], qi)
    return _whole(begin, end, qi)


def _compared(written: str, qi: QuasiIdentifier, value: ReadValue) -> Bounds | None:
    """<20, <=20, >65, >=65, 65+."""
    lowest, highest = code_domain(qi)
    if written.endswith("+") and (bounds := value(written[:-1].strip())):
        return bounds[0], highest
    parts = re.fullmatch(r"(<=|>=|<|>|\u2264|\u2265)\s*(.+)", written)
    bounds = value(parts[2]) if parts else None
    if parts is None or bounds is None:
        return None
    low, high = bounds
    return {
        "<": (lowest, _below(low, qi)),
        "<=": (lowest, high),
        "\u2264": (lowest, high),
        ">": (_above(high, qi), highest),
        ">=": (low, highest),
        "\u2265": (low, highest),
    }[parts[1]]


def _masked(written: str, qi: QuasiIdentifier, _value: ReadValue) -> Bounds | None:
    """2500*, 202*, 12***: every digit is possible; of labels, those with the prefix and the same length.

    Of numbers with decimals nobody says which digits the stars are.
    """
    parts = re.fullmatch(r"([^*]+?)(\*+)", written)
    if parts is None:
        return None
    prefix, stars = parts.groups()
    if isinstance(qi, CategoryAttribute):
        meant = [
            n
            for n, label in enumerate(qi.labels)
            if label.startswith(prefix) and (len(stars) == 1 or len(label) == len(written))
        ]
        return (min(meant), max(meant)) if meant else None
    if isinstance(qi, DateAttribute):
        return _masked_date(prefix.replace("/", "-"), len(written))
    if not qi.discrete or not re.fullmatch(r"[0-9]+", prefix):
        return None
    return float(prefix + "0" * len(stars)), float(prefix + "9" * len(stars))


def _masked_date(prefix: str, length: int) -> Bounds | None:
    """202*, 2024-0*, 2024-01-**: the dates, months or years of this length that begin so."""
    if length not in (4, 7, 10) or not re.fullmatch(
        r"[0-9]{1,4}|[0-9]{4}-([0-9]{0,2}|[0-9]{2}-[0-9]?)", prefix
    ):
        return None
    years = prefix[:4].ljust(4, "0"), prefix[:4].ljust(4, "9")
    months = [month for month in range(1, 13) if f"{month:02}".startswith(prefix[5:7])]
    ends = [_date(f"{year}-{month:02}") for year in years for month in months]
    days = [
        day
        for first, last in filter(None, ends)
        for day in range(int(first), int(last) + 1)
        if f"{dt.date(1970, 1, 1) + dt.timedelta(day)}".startswith(prefix)
    ]
    return (min(days), max(days)) if days else None


def _dashed(written: str, _qi: QuasiIdentifier, value: ReadValue) -> Bounds | None:
    """21-23, 21 to 23, 21..23, 2024-01-01 - 2024-03-31."""
    for parts in re.finditer(r"\s*(?:-|\u2013|\.\.+|~|:|\bto\b)\s*", written):
        low, high = value(written[: parts.start()]), value(written[parts.end() :])
        if low is not None and high is not None:
            return low[0], high[1]
    return None


def _above(code: float, qi: QuasiIdentifier) -> float:
    if not qi.discrete:
        return math.nextafter(code, math.inf)
    return math.floor(code) + 1


def _below(code: float, qi: QuasiIdentifier) -> float:
    if not qi.discrete:
        return math.nextafter(code, -math.inf)
    return math.ceil(code) - 1


def _whole(low: float, high: float, qi: QuasiIdentifier) -> Bounds:
    """Of whole-number attributes, the whole numbers inside."""
    return (math.ceil(low), math.floor(high)) if qi.discrete else (low, high)


def _nodes(qi: QuasiIdentifier, hierarchy: list[list[str]] | None, value: ReadValue) -> dict[str, Bounds]:
    """The interval under every node of the hierarchies."""
    own = getattr(qi, "hierarchy", None) or ()
    nodes: dict[str, Bounds] = {}
    for path in [*own, *(hierarchy or ())]:
        leaf = value(path[0])
        assert leaf is not None, "a hierarchy of values of the attribute"
        for node in path[1:]:
            low, high = nodes.get(node, leaf)
            nodes[node] = min(low, leaf[0]), max(high, leaf[1])
    return nodes


def _paths(folder: Path, file: str, qi: QuasiIdentifier) -> list[list[str]]:
    """The paths of a hierarchy whose leaves are all values of the attribute."""
    value = _value_reader(qi)
    paths = [[label.strip() for label in path] for path in read_hierarchy_file(folder, file)]
    for line, path in enumerate(paths, start=1):
        if value(path[0]) is None:
            raise ValueError(
                f"{file}, line {line}: {path[0]!r} is no value of {qi.name}: correct it, take the line out,"
                " or add the value to the contract"
            )
    return paths
