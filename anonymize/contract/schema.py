"""The columns of a table of people and their roles; and those of a view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, SerializeAsAny, WrapValidator, field_validator

from republish.anonymize.columns import IDENTIFIER, ROW_NAME, VALUE, qi_column, value_column, view_column
from republish.anonymize.contract.attributes import (
    CategoryAttribute,
    CategoryColumn,
    Column,
    DateAttribute,
    NumberAttribute,
    NumberColumn,
    QuasiIdentifier,
)
from republish.anonymize.contract.earlier import PROMISES
from republish.anonymize.contract.identifier import Identifier, columns_of_identifier
from republish.anonymize.contract.scalars import Declaration, Label, repeated
from republish.anonymize.contract.sensitive import Sensitive, one_or_several


class Table(Declaration):
    """A table of people. What is read of them beside the identifier is for each shape of contract to say."""

    LISTED_UNDER: ClassVar[str]
    """The contract's key that lists the attributes."""
    ROLE: ClassVar[str]
    """What an attribute is, in words."""
    KINDS: ClassVar[Mapping[str, type[Declaration]]]
    """The class of the attributes of each kind."""
    ELSEWHERE: ClassVar[Mapping[str, str]] = {}
    """Keys that somebody may look for here, and how a contract of this shape says the same."""

    if TYPE_CHECKING:  # a field or a constant of each shape

        @property
        def sensitive(self) -> Sensitive | None:
            """What nobody may learn about a person, if one column is."""

    identifier: Identifier
    """The column that identifies a person, or a list of columns that do together; never published."""

    def attributes(self) -> Iterator[tuple[str, QuasiIdentifier | Column]]:
        """Each attribute with our name of its column."""
        raise NotImplementedError

    def sensitive_columns(self) -> Iterator[tuple[str, Sensitive]]:
        """Each sensitive column with our name of it: `("value", …)`, or of several `("value_0", …)`, …."""
        columns = () if self.sensitive is None else self.sensitive.columns
        for position, column in enumerate(columns):
            yield VALUE if len(columns) == 1 else value_column(position), column

    def all_columns(self) -> Iterator[tuple[str, QuasiIdentifier | Column | Sensitive]]:
        """Each attribute and each sensitive column, with our name of it."""
        yield from self.attributes()
        yield from self.sensitive_columns()

    def source_columns(self) -> list[str]:
        """The publisher's names of the columns that a source is to have: those of the identifier first."""
        others = (name for column, name in self.column_names().items() if column != IDENTIFIER)
        return list(dict.fromkeys([*columns_of_identifier(self.identifier), *others]))

    def column_names(self) -> dict[str, str]:
        """Our name of each of the snapshot's columns, and the publisher's: identifier first."""
        return {IDENTIFIER: self.identifier, **{column: one.name for column, one in self.attributes()}}


class Schema(Table):
    """The columns of a table of people and their roles. An attacker is given this much of a contract."""

    LISTED_UNDER = "quasi_identifiers"
    ROLE = "quasi-identifier"
    KINDS: ClassVar = {"number": NumberAttribute, "date": DateAttribute, "category": CategoryAttribute}
    ELSEWHERE: ClassVar = {
        "household": (
            "is no key: whoever knows that members share a value would look for one that is possible for"
            " all of them. Write rows: several, the household as identifier and the person as row, with"
            " m-invariance and its values_per_person: members are never in one group, and those who share a"
            " value share its m candidates. Everybody sees how many values a household has, and nobody may"
            " move to another one"
        ),
        **{f"principle.{name}": way_out for name, way_out in PROMISES.items()},
    }

    quasi_identifiers: tuple[QuasiIdentifier, ...]
    """What others may know about a person."""
    sensitive: Annotated[SerializeAsAny[Sensitive], WrapValidator(one_or_several)]
    """What nobody may learn about a person: a column, or several."""
    rows: Literal["one", "several"] = Field("one", exclude_if=lambda rows: rows == "one")
    """Whether a person has `one` row in a snapshot, or may have `several`: visits, claims, marks."""
    row: Label | None = Field(None, exclude_if=lambda row: row is None)
    """Of several rows, the column that tells a row from all others; never published. Without it, a row in
    which any column changes is another one."""

    @field_validator("quasi_identifiers", mode="before")
    @classmethod
    def _check_quasi_identifiers(cls, declared: Any) -> Any:
        return _at_least_one(declared)

    def attributes(self) -> Iterator[tuple[str, QuasiIdentifier]]:
        """Each quasi-identifier with our name of its column: `("qi_0", …)`, …."""
        return ((qi_column(position), qi) for position, qi in enumerate(self.quasi_identifiers))

    def column_names(self) -> dict[str, str]:
        """Our name of each of the snapshot's columns, and the publisher's: identifier first, value last."""
        row = {} if self.row is None else {ROW_NAME: self.row}
        values = {column: one.name for column, one in self.sensitive_columns()}
        return {IDENTIFIER: self.identifier, **row, **super().column_names(), **values}


class View(Table):
    """The columns of a view: some are published under labels of their hierarchy, others as they are."""

    LISTED_UNDER = "columns"
    ROLE = "column"
    KINDS: ClassVar = {"number": NumberColumn, "category": CategoryColumn}
    ELSEWHERE: ClassVar = {
        "sensitive": (
            "is not for a view: principle.k says what nobody may learn, as in {HIV: 0.7}, and a value that it"
            " does not name may be known"
        ),
        "rows": "is not for a view, in which a person has one row",
        "row": "is not for a view, in which a person has one row",
    }
    sensitive: ClassVar[None] = None
    """What is sensitive in a view follows from what it may be joined with."""

    columns: tuple[Column, ...]
    """What the view publishes, in order."""

    @field_validator("columns", mode="before")
    @classmethod
    def _check_columns(cls, declared: Any) -> Any:
        return _at_least_one(declared)

    def attributes(self) -> Iterator[tuple[str, Column]]:
        """Each column with our name of it: `("column_0", …)`, …."""
        return ((view_column(position), column) for position, column in enumerate(self.columns))


def _at_least_one(declared: Any) -> Any:
    if not isinstance(declared, list | tuple) or not declared:
        raise ValueError("must be a list of at least one column, {name: …, kind: …}")
    return declared


def role_fault(
    identifier: str | None, quasi_identifiers: Sequence[str], sensitive: Sequence[str], row: str | None = None
) -> str | None:
    """The fault between columns that are each right, or None.

    A part of an identifier, a site say, may be a quasi-identifier as well.
    """
    named = [name for name in (identifier, row, *quasi_identifiers, *sensitive) if name is not None]
    parts = () if identifier is None else columns_of_identifier(identifier)
    if secret := next((name for name in parts if name in (*sensitive, row) and name != identifier), None):
        return f"the column {secret} is a part of the identifier: it can't be sensitive, or row, too"
    if twice := repeated(named):
        return f"the column {twice} has more than one role: identifier, row, quasi-identifier or sensitive"
    return None
