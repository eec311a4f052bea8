"""What the codes of a statistics program mean: value labels, and the reasons why a value is missing.

A code is another value if its label is another one. So the labels of the contract's columns are kept beside
each snapshot, and those of the next one are compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import polars as pl

from republish.anonymize.columns import entries
from republish.anonymize.contract import CategoryAttribute, FileSource, NumberAttribute, Table
from republish.anonymize.contract.sensitive import Sensitive
from republish.anonymize.errors import SnapshotError, as_data
from republish.anonymize.spelling import normal_form

Labels = Mapping[str, Mapping[str, str]]
"""By column and code, both as text."""
Changed = Mapping[str, Sequence[str]]
"""By column, a sentence on each code that means something else than before."""
NONE_CHANGED: Changed = MappingProxyType({})
NO_LABELS: Labels = MappingProxyType({})
LABELS_STATED, NO_ANSWERS = "labels", "no_answers"
"""In what is said of a snapshot, if its codes have labels, or its missing values reasons."""
NEARLY_ALL = 0.95
"""Where so large a share of a column's values have labels, they are codes."""
NAMED, LISTED = 5, 30
"""So many codes of a column are named in a message, and in a draft."""


@dataclass(frozen=True)
class Codes:
    """How the codes of a snapshot are read, and what is found out of them while its files are read."""

    columns: frozenset[str] | None = None
    """The columns whose labels are wanted; None for all."""
    in_place: frozenset[str] = frozenset()
    """Columns in which the label takes the place of the code."""
    listed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By column, the reasons that are labels of their own, because the contract lists them: `(refused)`."""
    numbers: frozenset[str] = frozenset()
    """Columns of numbers, in which the number of a year is one."""
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    """What was found: by column and code."""
    no_answers: dict[str, dict[str, int]] = field(default_factory=dict)
    """What was found: by column and reason, how many rows have it."""

    @classmethod
    def of(cls, schema: Table, source: FileSource) -> Codes:
        """How a contract has the codes of its source read."""
        columns = [one for _, one in schema.all_columns()]
        named = [
            one
            for one in columns
            if isinstance(one, CategoryAttribute | Sensitive) and not getattr(one, "bins", ())
        ]
        listed = {one.name: frozenset(filter(_is_reason, one.in_source)) for one in named}
        return cls(
            frozenset(one.name for one in columns),
            frozenset(one.name for one in named if source.labels),
            {name: reasons for name, reasons in listed.items() if reasons},
            frozenset(one.name for one in columns if getattr(one, "kind", None) == "number"),
        )

    def read(
        self, table: pl.DataFrame, labels: Labels, reasons: Mapping[str, pl.Series], where: str
    ) -> pl.DataFrame:
        """A table with labels, or the codes that they belong to, as the contract has them.

        Parameters
        ----------
        table
            As the program has it, with null for each value that is missing.
        labels
            Of its columns.
        reasons
            By column, the codes of missing values: text, null where a value is there or no code is.

        Raises
        ------
        SnapshotError
            If two codes in place of which labels are read have one label, or two files differ in a label.
        """
        wanted = [name for name in table.columns if self.columns is None or name in self.columns]
        read = []
        for name in wanted:
            own = dict(labels.get(name, {}))
            if own and name not in self.in_place:
                self._note(name, own, where)
            why = _in_words(reasons[name], own) if name in reasons else None
            if why is not None:
                counted = self.no_answers.setdefault(name, {})
                for reason, rows in why.drop_nulls().value_counts(sort=True).iter_rows():
                    counted[reason] = counted.get(reason, 0) + rows
            column = entries(table, name)
            if name in self.in_place and own:
                column = _named(column, own, f"{where}: {name}")
            if name in self.listed and why is not None:
                kept = why.set(~why.is_in(list(self.listed[name])).fill_null(value=False), None)
                column = as_codes(column).zip_with(kept.is_null(), kept)
            read.append(column.alias(name))
        return table.with_columns(read)

    def in_words(self, table: pl.DataFrame, where: str) -> pl.DataFrame:
        """A table with labels in place of the codes of columns in which nearly all values have one."""
        return table.with_columns(
            _named(entries(table, name), own, f"{where}: {name}").alias(name)
            for name, own in self.labels.items()
            if name in table.columns and are_labelled(entries(table, name), own)
        )

    def stated(self) -> dict[str, Any]:
        """What is kept of it, beside the snapshot."""
        found = {LABELS_STATED: self.labels, NO_ANSWERS: self.no_answers}
        return {key: said for key, said in found.items() if said}

    def _note(self, name: str, own: Mapping[str, str], where: str) -> None:
        noted = self.labels.setdefault(name, {})
        if differ := relabelled({name: noted}, {name: own}):
            raise SnapshotError(f"{where}: another file of the folder has other labels: {differ[name][0]}")
        noted.update(own)


def _is_reason(label: Any) -> bool:
    return isinstance(label, str) and label.startswith("(") and label.endswith(")")


def as_codes(column: pl.Series) -> pl.Series:
    """Codes as text: 1 for 1.0."""
    if not column.dtype.is_float():
        return column.cast(pl.String)
    whole = column.cast(pl.Int64, strict=False)
    return pl.select(
        pl.when(column == whole).then(whole.cast(pl.String)).otherwise(column.cast(pl.String))
    ).to_series()


def are_labelled(column: pl.Series, labels: Mapping[str, str]) -> bool:
    """Whether a column consists of codes: nearly all of its values have a label."""
    codes = as_codes(column.drop_nulls())
    return len(codes) > 0 and int(codes.is_in(list(labels)).sum()) >= NEARLY_ALL * len(codes)


def labels_of(given: Mapping[str, Mapping[Any, str]]) -> dict[str, dict[str, str]]:
    """The labels that pyreadstat has read, by code as text: a letter for a tagged missing value."""
    return {
        name: {_code(code): label.strip() for code, label in labels.items() if label.strip()}
        for name, labels in given.items()
    }


def _code(code: Any) -> str:
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code).rstrip()


def _in_words(codes: pl.Series, labels: Mapping[str, str]) -> pl.Series:
    """The reasons of missing values: the label of a code, or the code itself, in brackets."""
    words = {code: f"({labels.get(code, code).strip('()')})" for code in codes.drop_nulls().unique()}
    return codes.replace(words)


def _named(column: pl.Series, labels: Mapping[str, str], where: str) -> pl.Series:
    """A column with labels in place of codes; what has no label stays a code."""
    codes = as_codes(column)
    there = {code: labels[code] for code in codes.drop_nulls().unique().sort() if code in labels}
    codes_of: dict[str, list[str]] = {}
    for code, label in there.items():
        codes_of.setdefault(label, []).append(code)
    if twice := next((label for label, codes in codes_of.items() if len(codes) > 1), None):
        raise SnapshotError(
            f"{where}: {' and '.join(codes_of[twice])} both have the label {twice}: give each code a label of"
            " its own, or leave out source.labels, and publish codes"
        )
    return codes.replace(there)


def relabelled(before: Labels, now: Labels) -> dict[str, list[str]]:
    """The codes that mean something else than before, a sentence each, by column.

    A code whose label differs by spaces and capital letters alone means the same. Where a code has no label
    in one of both, nothing is known of it, unless its label is that of another code by now.
    """
    found = {}
    for name in before.keys() & now.keys():
        was, is_now = ({code: _plain(label) for code, label in one[name].items()} for one in (before, now))
        said = [
            f"{code} was {before[name][code]} and is {now[name][code]}"
            for code, label in was.items()
            if is_now.get(code, label) != label
        ]
        for label in sorted(set(was.values()) & set(is_now.values())):
            former, later = (
                [code for code, one in labels.items() if one == label] for labels in (was, is_now)
            )
            if not set(former) & set(later) and not any(code in is_now for code in former):
                said.append(f"{before[name][former[0]]} was {former[0]} and is {later[0]}")
        if said:
            found[name] = said
    return dict(sorted(found.items()))


def _plain(label: str) -> str:
    return str(pl.select(normal_form(pl.lit(label))).item())


def describe_relabelled(found: Changed) -> list[str]:
    """A sentence for each column, on the first few codes of it that mean something else."""
    return [
        f"{as_data(name)}: {', '.join(map(as_data, said[:NAMED]))}"
        + (f" and {len(said) - NAMED:,} more" if len(said) > NAMED else "")
        for name, said in found.items()
    ]


def describe_reasons(stated: Mapping[str, Any]) -> Iterator[str]:
    """A sentence on each column of which values are missing for a reason; of what is said of a snapshot."""
    for name, reasons in stated.get(NO_ANSWERS, {}).items():
        counted = ", ".join(f"{rows:,} {as_data(reason)}" for reason, rows in reasons.items())
        yield f"{as_data(name)}: missing for a reason: {counted}"


def together(stated: Iterable[Labels]) -> dict[str, dict[str, str]]:
    """The labels that codes had last, of those of several snapshots in their order."""
    found: dict[str, dict[str, str]] = {}
    for labels in stated:
        for name, own in labels.items():
            found[name] = {**found.get(name, {}), **own}
    return found


def labels_declared(labels: Labels, schema: Table) -> dict[str, dict[str, str]]:
    """The labels of codes that a contract declares, by column: no others are published."""
    found: dict[str, dict[str, str]] = {}
    for _, one in schema.all_columns():
        own = labels.get(one.name, {})
        if isinstance(one, NumberAttribute):
            low, high = one.domain
            codes: Collection[Any] = [code for code in own if _is_between(code, low, high)]
        else:
            codes = (one.labels if isinstance(one, CategoryAttribute) else getattr(one, "values", None)) or ()
        said = {str(code): own[str(code)] for code in codes if str(code) in own}
        found |= {one.name: said} if said else {}
    return found


def _is_between(code: str, low: float, high: float) -> bool:
    try:
        return low <= float(code) <= high
    except ValueError:
        return False


def categories(labels: Mapping[str, str], kind: str) -> list[dict[str, Any]] | None:
    """Labels as a Table Schema lists those of a column; None if there are none, or its values are dates."""
    read: Callable[[str], Any] | None = {"string": str, "integer": int, "number": float}.get(kind)
    if read is None or not labels:
        return None
    return [{"value": read(code), "label": label} for code, label in labels.items()]


def explained(labels: Mapping[str, str], reasons: Mapping[str, int], codes: Collection[str]) -> Iterator[str]:
    """Comments of a draft on a column: what its codes mean, and the reasons of missing values.

    `codes` are those that are drafted, of a category or sensitive column.
    """
    known = {code: labels[code] for code in (codes or labels) if code in labels}
    if known:
        yield "labels: " + ", ".join(f"{code} {label}" for code, label in [*known.items()][:LISTED])
    if reasons:
        counted = ", ".join(f"{rows:,} {reason}" for reason, rows in reasons.items())
        yield f"reasons for no value: {counted}; one that is listed as a label of its own is one"
