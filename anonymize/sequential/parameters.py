"""The parameters of a view in a contract: what a join with earlier releases may link.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, sections 3.1 and 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, StrictStr, ValidationInfo, field_validator, model_validator

from republish.anonymize.contract import (
    CategoryColumn,
    NumberColumn,
    Parameters,
    PreviousRelease,
    ViewContract,
)
from republish.anonymize.contract.scalars import Label, repeated, shown
from republish.anonymize.promise import Join
from republish.anonymize.sequential.taxonomy import category_taxonomy

MOST_INCONSISTENT_PAIRS = 64
"""One bit of a word stands for each."""
ONE_REQUIREMENT = (
    "is a list of requirements, and a contract has one. It may cover several: name the columns of all of them"
    " in x and in y, and under linkability give k as a mapping of values to confidences for each column of y"
)
"""Why it covers them: Corollary 3.1, and each column of Y is looked at by itself."""


class Sequential(Parameters):
    """(X, Y)-privacy of the join of a view with every earlier release of the same people."""

    name: Literal["sequential"]
    """`sequential`"""
    requirement: Literal["anonymity", "linkability"]
    """`anonymity`: each value on X is linked to at least k values on Y. `linkability`: no value on X implies
    a value of a column of Y with a confidence above k."""
    x: tuple[Label, ...]
    """X: the view's columns among these are generalized. A common column counts in each of its versions."""
    y: tuple[Label, ...]
    """Y: columns that are published as they are, the identifier (for people) or a previous release's
    `record`."""
    k: Any
    """For anonymity a whole number, at least 2. For linkability a confidence, above 0 and at most 1; or one
    for each sensitive value of the column of Y; or such a mapping for each column of Y."""
    information: StrictStr = "distortion"
    """What specialization is to gain: `class:<column>`, `distortion` or `discernibility`."""
    previous: tuple[PreviousRelease, ...] = ()
    """Releases of other products. The earlier releases of the series itself need not be named."""
    inconsistent: dict[StrictStr, tuple[tuple[Label, Label], ...]] = Field(default_factory=dict)
    """Pairs that no person can have: by the name of a common column, or `column of the view:column of a
    previous release`; the view's label first. What is below an inconsistent label is inconsistent too."""

    @field_validator("x", "y")
    @classmethod
    def _check_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not names:
            raise ValueError("needs at least one column")
        if twice := repeated(names):
            raise ValueError(f"lists {twice} more than once")
        return names

    @field_validator("k", mode="before")
    @classmethod
    def _check_k(cls, k: Any, info: ValidationInfo) -> Any:
        requirement = info.data.get("requirement")
        if requirement == "anonymity":
            if type(k) is not int:
                raise ValueError(f"must be a whole number, not {shown(k)}")
            if k < 2:
                raise ValueError(f"k ({k}) must be at least 2: any value on X is linked to one on Y")
        elif requirement == "linkability":
            return _limits(k)
        return k

    @field_validator("requirement", "x", "y", "k", mode="before")
    @classmethod
    def _is_one_requirement(cls, declared: Any, info: ValidationInfo) -> Any:
        listed = declared if isinstance(declared, list) else ()
        if any(info.field_name in ("requirement", "k") or isinstance(one, list | dict) for one in listed):
            raise ValueError(ONE_REQUIREMENT)
        return declared

    @field_validator("information")
    @classmethod
    def _check_information(cls, information: str) -> str:
        if information not in ("distortion", "discernibility") and not information.startswith("class:"):
            raise ValueError(
                f"{information} is unknown; accepted: class:<column>, distortion, discernibility"
            )
        return information

    @field_validator("inconsistent")
    @classmethod
    def _check_inconsistent(cls, pairs: dict[str, Any]) -> dict[str, Any]:
        if (number := sum(map(len, pairs.values()))) > MOST_INCONSISTENT_PAIRS:
            raise ValueError(
                f"has {number} pairs, and {MOST_INCONSISTENT_PAIRS} are possible: name nodes higher up"
            )
        return pairs

    @model_validator(mode="after")
    def _are_disjoint(self) -> Sequential:
        if both := [name for name in self.x if name in self.y]:
            raise ValueError(f"x and y overlap in {', '.join(both)}: name each column in one of the two")
        return self

    @property
    def limits(self) -> dict[str, float | Mapping[str, float]] | None:
        """The confidences with which a column of Y may be inferred: one, or one for each sensitive value."""
        if self.requirement == "anonymity":
            return None
        if isinstance(self.k, Mapping) and any(isinstance(limit, Mapping) for limit in self.k.values()):
            return {name: self.k.get(name, {}) for name in self.y}
        return dict.fromkeys(self.y, self.k)

    @property
    def class_column(self) -> str | None:
        """The column that the view is released to predict, if it is."""
        return self.information.removeprefix("class:") if self.information.startswith("class:") else None


def _limits(k: Any, depth: int = 0) -> Any:
    if isinstance(k, Mapping) and k and depth < 2:
        return {str(name): _limits(limit, depth + 1) for name, limit in k.items()}
    if type(k) not in (int, float):
        raise ValueError(f"must be a confidence, 0 < k <= 1, or a mapping of values to such, not {shown(k)}")
    if not 0 < k <= 1:
        raise ValueError(f"k ({k}) must be above 0 and at most 1: it is a confidence")
    return float(k)


def faults(contract: ViewContract[Sequential]) -> list[tuple[str, str]]:
    """Find what is wrong between parts that are each right: `(key, what is wrong and the way out)`."""
    wanted: Sequential = contract.principle
    columns = {column.name: column for column in contract.columns}
    found: list[tuple[str, str]] = []
    if twice := repeated([column.name for column in contract.columns]):
        found.append(("columns", f"lists {twice} more than once"))
    if contract.identifier in columns:
        found.append(("columns", f"{contract.identifier} is the identifier, which is never published"))
    records = [release.record for release in wanted.previous if release.record]
    there = {*columns, *(name for release in wanted.previous for name in release.columns)}
    if twice := repeated([contract.identifier, *records]):
        found.append(("principle.previous", f"{twice} names the records of more than one table"))
    if taken := sorted(there & {contract.identifier, *records}):
        found.append(
            ("principle.previous", f"{', '.join(taken)} names a column, and the records of a table as well")
        )
    countable = there | {contract.identifier, *records}
    found += [
        (
            f"principle.{key}",
            (
                f"{name} is a column neither of the view nor of a previous release:"
                f" accepted are {', '.join(sorted(possible))}"
            ),
        )
        for key, names, possible in (("x", wanted.x, there), ("y", wanted.y, countable))
        for name in names
        if name not in possible
    ]
    found += [
        (f"columns[{name}]", "is not in x, so it is published as it is: say keep: true, or add it to x")
        for name, column in columns.items()
        if name not in wanted.x and not column.keep
    ]
    found += _faults_of_trees(contract)
    if found:
        return found  # what follows reads the trees
    found += _fault_of_class(wanted, columns)
    found += _faults_of_y(wanted, columns, {contract.identifier, *records})
    found += _faults_of_pairs(wanted, columns)
    found += _faults_of_shared_columns(wanted, columns)
    return found


def _faults_of_trees(contract: ViewContract[Sequential]) -> list[tuple[str, str]]:
    found = []
    for column in contract.columns:
        if not isinstance(column, CategoryColumn):
            continue
        try:
            category_taxonomy(column.paths)
        except ValueError as error:
            found.append((f"columns[{column.name}].hierarchy", str(error)))
    return found


def _fault_of_class(wanted: Sequential, columns: Mapping[str, Any]) -> list[tuple[str, str]]:
    name = wanted.class_column
    if name is None or (name in columns and columns[name].keep):
        return []
    return [
        (
            "principle.information",
            f"{name} must be a column of the view that is published as it is (keep: true)",
        )
    ]


def _faults_of_y(wanted: Sequential, columns: Mapping[str, Any], records: set[str]) -> list[tuple[str, str]]:
    if wanted.requirement == "anonymity":
        return []
    found = [
        ("principle.y", f"{name} are records, whose values nobody infers: linkability is about columns")
        for name in wanted.y
        if name in records
    ]
    if isinstance(wanted.k, Mapping):
        by_column = [name for name, limit in wanted.k.items() if isinstance(limit, Mapping)]
        if 0 < len(by_column) < len(wanted.k) or (not by_column and len(wanted.y) > 1):
            found.append(
                (
                    "principle.k",
                    "y has more than one column: give a mapping of values to confidences for each",
                )
            )
        found += [
            ("principle.k", f"{name} is not in y: accepted are {', '.join(wanted.y)}")
            for name in by_column
            if name not in wanted.y
        ]
        named = {name: wanted.k[name] for name in by_column} or dict.fromkeys(wanted.y, wanted.k)
        found += [
            ("principle.k", f"{value} is no value of {name}: accepted are {_accepted(columns[name])}")
            for name, values in named.items()
            if name in columns
            for value in values
            if not _is_value(value, columns[name])
        ]
    return found


def _faults_of_shared_columns(wanted: Sequential, columns: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Columns by which earlier releases join with each other and not with the view.

    Section 7 wants all releases with a common attribute to be consistent. The join looks at pairs of the view
    and an earlier release alone, and would miss what such a column links.
    """
    named = [name for release in wanted.previous for name in release.columns if name not in columns]
    return [
        (
            "principle.previous",
            (
                f"{name} is a column of {named.count(name)} previous releases and not of the view: anyone may"
                " join these with each other by it, and the view is joined with each alone. Add it to the"
                " view's columns, or join these releases into one"
            ),
        )
        for name in dict.fromkeys(named)
        if named.count(name) > 1
    ]


def advice(contract: ViewContract[Sequential]) -> list[str]:
    """Say what section 3.3 advises and a contract doesn't do: join attributes are neither in X nor in Y."""
    wanted: Sequential = contract.principle
    ours = [column.name for column in contract.columns]
    pairs = [split_pair(key) for key in wanted.inconsistent]
    return [
        f"{name} joins the view with {' and '.join(by)}, and is not in x: nothing is promised against anybody"
        f" who knows a person's {name} beside {', '.join(wanted.x)}. Add it to x"
        for name in ours
        if name not in (*wanted.x, *wanted.y)
        and (
            by := [
                release.path
                for release in wanted.previous
                if name in release.columns
                or any(own == name and theirs in release.columns for own, theirs in pairs)
            ]
        )
    ]


def _is_value(value: str, column: CategoryColumn | NumberColumn) -> bool:
    """Whether a column can have a value, written as the view's values are written."""
    if isinstance(column, CategoryColumn):
        return value in column.labels
    lowest, highest = column.domain
    kind = int if column.discrete else float
    try:
        return str(kind(value)) == value and lowest <= kind(value) <= highest
    except ValueError:
        return False


def _accepted(column: CategoryColumn | NumberColumn) -> str:
    if isinstance(column, CategoryColumn):
        return ", ".join(column.labels)
    lowest, highest = column.domain
    return f"{'whole ' if column.discrete else ''}numbers from {lowest} to {highest}, without leading zeros"


def _faults_of_pairs(wanted: Sequential, columns: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    for key, pairs in wanted.inconsistent.items():
        ours, theirs = split_pair(key)
        where = f"principle.inconsistent[{key}]"
        if not isinstance(columns.get(ours), CategoryColumn):
            found.append((where, f"{ours} is no category column of the view"))
            continue
        if not any(theirs in release.columns for release in wanted.previous) and theirs not in columns:
            found.append((where, f"{theirs} is a column of no previous release"))
        if isinstance(columns.get(theirs), NumberColumn):
            found.append((where, f"{theirs} is no category column of the view"))
        for at, name in enumerate((ours, theirs)):
            if isinstance(column := columns.get(name), CategoryColumn):
                nodes = category_taxonomy(column.paths).labels
                found += [
                    (where, f"{pair[at]} is no label of the hierarchy of {name}")
                    for pair in pairs
                    if pair[at] not in nodes
                ]
    return found


def split_pair(key: str) -> tuple[str, str]:
    """The view's column and the previous release's one that a key of `inconsistent` names."""
    ours, _, theirs = key.partition(":")
    return ours, theirs or ours


def join_of(wanted: Sequential) -> Join:
    """The join that a view's promise is about."""
    return Join(
        x=wanted.x,
        y=wanted.y,
        limits=wanted.limits,
        previous=tuple(previous.columns for previous in wanted.previous),
        records=tuple(previous.record for previous in wanted.previous),
        inconsistent=tuple(
            (*split_pair(key), *pair) for key, pairs in wanted.inconsistent.items() for pair in pairs
        ),
    )


def limit_of(wanted: Sequential, column: str, values: Sequence[str]) -> dict[str, float]:
    """The confidence with which each sensitive value of a column of Y may be inferred."""
    limit = (wanted.limits or {})[column]
    if isinstance(limit, Mapping):
        return {value: limit[value] for value in values if value in limit}
    return dict.fromkeys(values, limit)
