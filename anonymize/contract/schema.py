"""The columns of a table of people, and what each is: identifier, quasi-identifier or sensitive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import field_validator

from anonymize.columns import IDENTIFIER, VALUE, qi_column
from anonymize.contract.attributes import QuasiIdentifier
from anonymize.contract.scalars import Declaration, Label, repeated
from anonymize.contract.sensitive import Sensitive


class Schema(Declaration):
    """The columns of a table of people and their roles. An attacker is given this much of a contract."""

    identifier: Label
    """The column that tells people apart; never published."""
    quasi_identifiers: tuple[QuasiIdentifier, ...]
    """What others may know about a person."""
    sensitive: Sensitive
    """What nobody may learn about a person."""

    @field_validator("quasi_identifiers", mode="before")
    @classmethod
    def _check_quasi_identifiers(cls, declared: Any) -> Any:
        if not isinstance(declared, list | tuple) or not declared:
            raise ValueError("must be a list of at least one column, {name: …, kind: …}")
        return declared

    def attributes(self) -> Iterator[tuple[str, QuasiIdentifier]]:
        """Each quasi-identifier with our name of its column: `("qi_0", …)`, …."""
        return ((qi_column(position), qi) for position, qi in enumerate(self.quasi_identifiers))

    def column_names(self) -> dict[str, str]:
        """Our name of each of the snapshot's columns, and the publisher's: identifier first, value last."""
        attributes = {column: qi.name for column, qi in self.attributes()}
        return {IDENTIFIER: self.identifier, **attributes, VALUE: self.sensitive.name}


def role_fault(identifier: str | None, quasi_identifiers: Sequence[str], sensitive: str | None) -> str | None:
    """What is wrong between columns that are each right, or None."""
    named = [name for name in (identifier, *quasi_identifiers, sensitive) if name is not None]
    if twice := repeated(named):
        return f"the column {twice} has more than one role: identifier, quasi-identifier or sensitive"
    return None
