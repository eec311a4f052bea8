"""Releases of others, about the same people, that a release may be joined with."""

from __future__ import annotations

from pydantic import StrictStr, field_validator

from republish.anonymize.contract.scalars import Declaration, Label, repeated


class PreviousRelease(Declaration):
    """A table about the same people that was released before."""

    path: StrictStr
    """A .parquet or .csv file, or the folder of a release that republish published; relative to the
    contract."""
    columns: tuple[Label, ...]
    """What the release published of people. A column with the name of one of the view's is the same
    column."""
    record: Label | None = None
    """A name for the release's records, by which `y` may count them."""

    @field_validator("columns")
    @classmethod
    def _check_columns(cls, columns: tuple[str, ...]) -> tuple[str, ...]:
        if not columns:
            raise ValueError("needs at least one column")
        if twice := repeated(columns):
            raise ValueError(f"lists {twice} more than once")
        return columns
