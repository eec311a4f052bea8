"""The sensitive attribute of a contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import polars as pl
from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    SerializerFunctionWrapHandler,
    StrictInt,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from republish.anonymize.contract.bins import bin_names, check_edges
from republish.anonymize.contract.hierarchy import Paths, labels_at, lines_of, read_hierarchy
from republish.anonymize.contract.scalars import MISSING, ColumnOfPeople, Label, Number, repeated
from republish.anonymize.spelling import describe_twins, twins

PART = "\ue000"
"""What stands between a value that may be known and the number of a part of it; in no published table."""


class Sensitive(ColumnOfPeople):
    """The attribute nobody may learn about a person."""

    name: Label
    """The snapshot's column."""
    kind: Literal["number"] | None = Field(None, exclude_if=lambda kind: kind is None)
    """`number` where the snapshot has numbers, of which the bin is published. It needs `bins`."""
    bins: tuple[Number, ...] = Field((), exclude_if=lambda edges: not edges)
    """The edges of the bins of a number, which go up. A bin has its lower edge, and not its upper one."""
    hierarchy: Paths | None = Field(None, exclude_if=lambda paths: paths is None)
    """Groups of values, groups of these, and so on: a path `value, group, …, root` for each, or a rule."""
    level: StrictInt = Field(0, exclude_if=lambda level: not level)
    """Which level of the hierarchy is published in place of the snapshot's values, 0 for these themselves."""
    values: tuple[Any, ...] | None = Field(None, validate_default=True)
    """The domain, or a file of it; else, all text and whole numbers. They follow from bins and hierarchy."""
    renamed: dict[Label, Label] = Field(default_factory=dict)
    """What the source calls a value by now: from the series' own name of it to the source's."""
    not_sensitive: tuple[Any, ...] = Field((), exclude_if=lambda named: not named)
    """The values that may be known of a person: `none`, say. Nothing is promised about them."""
    semantics: Literal["persistent", "transient"] = "persistent"
    """Whether a person's value stays (a chronic disease) or comes and goes (this quarter's diagnosis)."""

    @property
    def columns(self) -> tuple[Sensitive, ...]:
        """The columns it consists of: this one."""
        return (self,)

    def with_columns(self, columns: Sequence[Sensitive]) -> Sensitive:
        """The same attribute of other columns, as many as it has."""
        return columns[0]

    @property
    def is_several(self) -> bool:
        """True if it is the combination of several columns' values."""
        return False

    @property
    def in_source(self) -> tuple[Any, ...]:
        """The values of the domain that a snapshot may have: all but the label of missing ones."""
        values = self.values or ()
        return values[:-1] if self.publishes_missing else values

    @property
    def labels(self) -> dict[str, str]:
        """The labels published in place of the snapshot's values; empty where these are published."""
        return labels_at(self.hierarchy, self.level) if self.hierarchy and self.level else {}

    @property
    def dtype(self) -> str:
        """The type of the declared values, in words; either one if none are declared."""
        if self.values is None:
            return "String" if self.publishes_missing else "String or Int64"
        return "Int64" if isinstance(self.values[0], int) else "String"

    @field_validator("bins")
    @classmethod
    def _check_bins(cls, edges: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        if info.data.get("kind") is None:
            raise ValueError("is for numbers: write kind: number beside it, or list values")
        check_edges(edges)
        return edges

    @field_validator("hierarchy", mode="wrap")
    @classmethod
    def _read_hierarchy(cls, declared: Any, validate: Callable[[Any], Paths], info: ValidationInfo) -> Any:
        if declared is not None and info.data.get("bins"):
            raise ValueError("is for text, and not for numbers in bins: leave one of the two out")
        return None if declared is None else read_hierarchy(declared, validate, info)

    @field_validator("level")
    @classmethod
    def _check_level(cls, level: int, info: ValidationInfo) -> int:
        paths = info.data.get("hierarchy")
        if paths is None and level and "hierarchy" in info.data:
            raise ValueError("is a level of hierarchy: name the file with it, or leave level out")
        if paths is not None:
            labels_at(paths, level)
        return level

    @field_validator("values", mode="before")
    @classmethod
    def _derived(cls, declared: Any, info: ValidationInfo) -> Any:
        """What is published: the names of the bins, the labels of the level, or the values of a file."""
        if isinstance(declared, str):
            declared = _values_in(declared, info)
        bins, paths, level = (info.data.get(key) for key in ("bins", "hierarchy", "level"))
        if bins:
            derived = bin_names(bins)
        elif paths is None or level is None:
            return declared
        else:
            derived = tuple(dict.fromkeys(labels_at(paths, level).values()))
        if declared is not None and tuple(declared) not in (derived, (*derived, MISSING)):
            raise ValueError(f"follow from {'bins' if bins else 'hierarchy'}: leave values out")
        return derived

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.kind is not None and not self.bins:
            raise ValueError("kind: number needs bins, the edges of the intervals that are published")
        if self.bins and (self.renamed or self.not_sensitive):
            raise ValueError("renamed and not_sensitive are for values, and not for bins: leave them out")
        return self

    @field_validator("values")
    @classmethod
    def _check_values(cls, values: tuple[Any, ...] | None, info: ValidationInfo) -> tuple[Any, ...] | None:
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
        return _with_missing(values) if info.data.get("missing") == "publish" else values

    @field_validator("renamed")
    @classmethod
    def _check_renamed(cls, renamed: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        if twice := repeated(list(renamed.values())):
            raise ValueError(f"gives {twice} to two values: the source must call each one differently")
        values = info.data.get("values")
        if renamed and info.data.get("level"):
            own, source = next(iter(renamed.items()))
            raise ValueError(
                f"is for values that are published, and of the hierarchy a higher level is: give {source} a"
                f" line of its own there, with the labels above {own}"
            )
        if values is not None and (unknown := set(renamed) - set(values)):
            raise ValueError(f"names {min(unknown)}, which is not listed under sensitive.values")
        return renamed

    @field_validator("not_sensitive")
    @classmethod
    def _check_not_sensitive(cls, named: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
        values, renamed = info.data.get("values"), info.data.get("renamed", {})
        if {type(value) for value in named} not in (set(), {str}, {int}):
            raise ValueError("must be all text or all whole numbers")
        if twice := repeated(named):
            raise ValueError(f"lists {twice} more than once")
        if former := [own for own, source in renamed.items() if source in named and source not in renamed]:
            raise ValueError(
                f"lists the source's name of {former[0]}: write {former[0]}, the series' own name"
            )
        if values is not None and (unknown := [value for value in named if value not in values]):
            raise ValueError(f"names {unknown[0]}, which is not listed under sensitive.values")
        if values is not None and len(named) == len(values):
            raise ValueError("lists every value: leave at least one that nobody may learn")
        return named

    def published(self, values: pl.Series) -> pl.Series:
        """Values as they are published: parts of one that may be known, text with a `PART` sign, are one."""
        if not self.not_sensitive or values.dtype != pl.String:
            return values
        whole = values.str.split(PART).list.first()
        return whole.cast(pl.Int64) if isinstance(self.not_sensitive[0], int) else whole

    def may_be_known(self, values: pl.Series) -> pl.Series:
        """Boolean[N]: which values, or parts of values, may be known."""
        named = pl.Series(self.not_sensitive, dtype=None if self.not_sensitive else values.dtype)
        return self.published(values).is_in(named.implode())


def _values_in(name: str, info: ValidationInfo) -> tuple[str, ...]:
    """The values in a file, which are text: the first entry of each line."""
    values = tuple(line[0] for line in lines_of(name, info))
    if not values:
        raise ValueError(f"{name}: has no values; write one in each line")
    if (column := info.data.get("name")) is not None and values[0].lower() == column.lower():
        # Counterfeits would have it, and every reader would know that nobody does.
        raise ValueError(f"{name}, line 1: {values[0]} is the column's name, and no value: leave it out")
    return values


def _with_missing(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Declared values with the label of missing ones last: in a contract that was read, it is there."""
    if isinstance(values[0], int):
        raise ValueError(  # noqa: TRY004 - pydantic's way
            f"are whole numbers, and missing: publish makes {MISSING} one of them, which is text: write them"
            " in quotes, or choose missing: leave_out"
        )
    listed = values[:-1] if values[-1] == MISSING else values
    if MISSING in listed or not listed:
        raise ValueError(f"lists {MISSING}, which missing: publish adds to them: leave it out")
    return (*listed, MISSING)


class SensitiveColumns(Sensitive):
    """Several columns of which nobody may learn a person's values: one attribute of combinations.

    A combination is text, as `contract.combined` makes it. Declared is what each column is.
    """

    of: tuple[Sensitive, ...]
    """The columns, two or more."""

    @property
    def columns(self) -> tuple[Sensitive, ...]:
        """The columns it consists of."""
        return self.of

    def with_columns(self, columns: Sequence[Sensitive]) -> Sensitive:
        """The same attribute of other columns, as many as it has."""
        return self.model_copy(update={"of": tuple(columns)})

    @property
    def is_several(self) -> bool:
        """True: it is the combination of several columns' values."""
        return True

    @model_validator(mode="before")
    @classmethod
    def _from_columns(cls, declared: Any) -> Any:
        if not isinstance(declared, list | tuple):
            return declared
        said = [one if isinstance(one, dict) else {} for one in declared]
        transient = any(one.get("semantics") == "transient" for one in said)
        return {
            "of": declared,
            "name": ", ".join(str(one.get("name") or "?") for one in said) or "?",
            "semantics": "transient" if transient else "persistent",
        }

    @field_validator("of")
    @classmethod
    def _check_of(cls, columns: tuple[Sensitive, ...]) -> tuple[Sensitive, ...]:
        if len(columns) < 2:
            raise ValueError("must be one column, {name: …}, or a list of two and more")
        for one in columns:
            if one.not_sensitive:
                raise ValueError(
                    f"not_sensitive of {one.name} is refused beside other sensitive columns: what goes with"
                    " a value that may be known would have no candidates. Leave it out, or publish one column"
                )
        return columns

    @model_serializer(mode="wrap")
    def _as_declared(self, dump: SerializerFunctionWrapHandler) -> Any:
        return dump(self)["of"]


def with_level(sensitive: Sensitive, name: str, level: int) -> Sensitive:
    """The attribute with another level of a column's hierarchy published.

    Raises
    ------
    pydantic.ValidationError
        If that is none of the column's levels.
    """
    return sensitive.with_columns(
        [
            Sensitive.model_validate(one.model_dump(exclude={"values"}) | {"level": level})
            if one.name == name
            else one
            for one in sensitive.columns
        ]
    )


def one_or_several(
    declared: Any, handler: ModelWrapValidatorHandler[Sensitive], info: ValidationInfo
) -> Sensitive:
    """One sensitive column, or the list of several, as an attribute."""
    if isinstance(declared, list | tuple):
        return SensitiveColumns.model_validate(declared, context=info.context)
    return handler(declared)
