"""The sensitive attribute of a contract."""

from __future__ import annotations

from typing import Any, Literal

import polars as pl
from pydantic import Field, ValidationInfo, field_validator

from anonymize.contract.scalars import Label, WordedColumn, repeated
from anonymize.spelling import describe_twins, twins


class Sensitive(WordedColumn):
    """The attribute nobody may learn about a person."""

    name: Label
    """The snapshot's column."""
    values: tuple[Any, ...] | None = None
    """The domain. Without it, any text or whole number is a value."""
    renamed: dict[Label, Label] = Field(default_factory=dict)
    """What the source calls a value by now: from the series' own name of it to the source's."""
    semantics: Literal["persistent", "transient"] = "persistent"
    """Whether a person's value stays (a chronic disease) or comes and goes (this quarter's diagnosis)."""

    @property
    def dtype(self) -> str:
        """The type of the declared values, in words; either one if none are declared."""
        if self.values is None:
            return "String or Int64"
        return "Int64" if isinstance(self.values[0], int) else "String"

    @field_validator("values")
    @classmethod
    def _check_values(cls, values: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        if values is None:
            return None
        if {type(value) for value in values} not in ({str}, {int}):
            raise ValueError("must be all text or all whole numbers, and at least one value")
        if "" in values:
            raise ValueError(
                "lists empty text, which is no value: a snapshot's empty fields are missing values"
            )
        if twice := repeated(values):
            raise ValueError(f"lists {twice} more than once")
        if isinstance(values[0], int) and any(abs(value) >= 2**63 for value in values):
            raise ValueError("must be whole numbers of at most 64 bits")
        if same := twins(pl.Series(values)):
            raise ValueError(f"lists twins: {describe_twins(same[0], values)}; list one of them")
        return values

    @field_validator("renamed")
    @classmethod
    def _check_renamed(cls, renamed: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        if twice := repeated(list(renamed.values())):
            raise ValueError(f"gives {twice} to two values: the source must call each one differently")
        values = info.data.get("values")
        if values is not None and (unknown := set(renamed) - set(values)):
            raise ValueError(f"names {min(unknown)}, which is not listed under sensitive.values")
        return renamed
