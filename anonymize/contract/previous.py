"""Releases of others, about the same people, that a release may be joined with."""

from __future__ import annotations

from typing import Self

from pydantic import Field, StrictStr, field_validator, model_validator

from republish.anonymize.contract.scalars import Label, repeated
from republish.anonymize.contract.source import Dialect


class PreviousRelease(Dialect):
    """A table about the same people that was released before."""

    path: StrictStr
    """A .parquet or .csv file, or the folder of a release that republish published; relative to the
    contract."""
    columns: tuple[Label, ...]
    """What the release published of people. A column with the name of one of the view's is the same
    column."""
    record: Label | None = None
    """A name for the release's records, by which `y` may count them."""
    names: dict[Label, StrictStr] = Field(default_factory=dict, exclude_if=lambda names: not names)
    """What columns are called in the file, where it is not as in `columns`."""

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for name in self.names:
            if name not in self.columns:
                raise ValueError(f"names: {name} is none of columns: add it there, or take it out")
        return self

    @field_validator("columns")
    @classmethod
    def _check_columns(cls, columns: tuple[str, ...]) -> tuple[str, ...]:
        if not columns:
            raise ValueError("needs at least one column")
        if twice := repeated(columns):
            raise ValueError(f"lists {twice} more than once")
        return columns
