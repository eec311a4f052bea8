"""The attributes of a contract: numbers, dates and categories; as quasi-identifiers, or columns of a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self, TypeVar

import polars as pl
from pydantic import Field, PrivateAttr, StrictInt, ValidationInfo, field_validator, model_validator

from republish.anonymize.contract.hierarchy import Paths, cells_of, read_hierarchy
from republish.anonymize.contract.hierarchy_rules import are_dates
from republish.anonymize.contract.scalars import (
    MISSING,
    ColumnOfPeople,
    DateDomain,
    Label,
    Number,
    NumberDomain,
    repeated,
)

Width = TypeVar("Width", bound=float)


class NumberAttribute(ColumnOfPeople):
    """A numeric quasi-identifier, published as an interval of numbers."""

    kind: Literal["number"]
    """`number`"""
    name: Label
    """The snapshot's column."""
    domain: NumberDomain
    """Lowest and highest value there can be. Two whole numbers make a whole-number attribute."""
    min_width: Number = 0
    """The narrowest interval that may be published: whole numbers, days or labels covered, or a length."""
    step: StrictInt = Field(1, exclude_if=lambda step: step == 1)
    """All values are multiples of it, as whole numbers: estimates place people there."""

    @property
    def discrete(self) -> bool:
        """Whether the values are whole numbers."""
        return all(isinstance(bound, int) for bound in self.domain)

    @property
    def dtype(self) -> pl.DataType:
        """The values' type in tables."""
        return pl.Int64() if self.discrete else pl.Float64()

    @field_validator("min_width")
    @classmethod
    def _check_min_width(cls, min_width: float, info: ValidationInfo) -> float:
        if "domain" not in info.data:
            return min_width
        low, high = info.data["domain"]
        discrete = isinstance(low, int) and isinstance(high, int)
        if discrete and not isinstance(min_width, int):
            raise ValueError(f"must be a whole number, as the domain's bounds are, not {min_width}")
        return _check_width(min_width, high - low + discrete)

    @field_validator("step")
    @classmethod
    def _check_step(cls, step: int, info: ValidationInfo) -> int:
        if step < 1:
            raise ValueError(f"must be at least 1, not {step}")
        if step == 1 or not {"domain", "min_width"} <= info.data.keys():
            return step
        low, high = info.data["domain"]
        min_width = info.data["min_width"]
        if any(isinstance(end, float) for end in (low, high)):
            raise ValueError("is for whole numbers, and the domain is one of fractions: leave step out")
        if low % step or min_width % step:
            raise ValueError(
                f"must divide the domain's lowest value ({low}) and min_width ({min_width}), and {step} does"
                " not: cells begin at values that there may be"
            )
        return step


class DateAttribute(ColumnOfPeople):
    """A date quasi-identifier, published as an interval of dates."""

    kind: Literal["date"]
    """`date`"""
    name: Label
    """The snapshot's column."""
    domain: DateDomain
    """Earliest and latest date there can be."""
    min_width: StrictInt = 0
    """The narrowest interval that may be published: whole numbers, days or labels covered, or a length."""

    discrete = property(lambda _: True)
    dtype = property(lambda _: pl.Date())

    @field_validator("min_width")
    @classmethod
    def _check_min_width(cls, min_width: int, info: ValidationInfo) -> int:
        if "domain" not in info.data:
            return min_width
        low, high = info.data["domain"]
        return _check_width(min_width, (high - low).days + 1)


class CategoryAttribute(ColumnOfPeople):
    """A categorical quasi-identifier, published as an interval of its ordered labels."""

    kind: Literal["category"]
    """`category`"""
    name: Label
    """The snapshot's column."""
    order: tuple[Label, ...] | None = None
    """The labels, in the order in which intervals are formed."""
    hierarchy: Annotated[tuple[tuple[Label, ...], ...] | None, Field(validate_default=True)] = None
    """One path `leaf, parent, …, root` per label, here or in a file, or a rule; the tree's leaves from left
    to right are the order."""
    min_width: StrictInt = 0
    """The narrowest interval that may be published: whole numbers, days or labels covered, or a length."""
    renamed: dict[Label, Label] = Field(default_factory=dict, exclude_if=lambda renamed: not renamed)
    """What the source calls a label by now: from the series' own name of it to the source's."""
    _of_grid: bool = PrivateAttr(default=False)

    discrete = property(lambda _: True)
    dtype = property(lambda _: pl.String())

    @property
    def cells(self) -> tuple[int, ...] | None:
        """The first code of each cell that intervals are made of, so that they end where groups of labels do.

        None where intervals end on the grid of `min_width`, as those of numbers do: without a hierarchy, or
        if its groups end there themselves, or in a series that was begun so (`on_grid`).
        """
        if self.hierarchy is None or self.min_width <= 1 or self._of_grid:
            return None
        cells = cells_of(self.hierarchy, self.min_width)
        return None if cells == grid_of_labels(len(self.hierarchy), self.min_width) else cells

    @property
    def ends_on_grid(self) -> bool:
        """Whether it is of a series whose intervals end on the grid, whatever its hierarchy (`on_grid`)."""
        return self._of_grid

    def on_grid(self) -> Self:
        """Itself, with intervals that end on the grid, as versions below 0.30 published them."""
        found = self.model_copy()
        found._of_grid = True  # noqa: SLF001 - of its own class
        return found

    @property
    def written(self) -> str:
        """What text of it is written as: a `date` where its labels are dates."""
        return "date" if are_dates(self.labels) else self.kind

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in the order of their codes, which begin with 0."""
        return self.in_source

    @property
    def in_source(self) -> tuple[str, ...]:
        """The labels that a snapshot may have."""
        return self.order or tuple(path[0] for path in self.hierarchy or ())

    @property
    def in_tables(self) -> tuple[str, ...]:
        """The labels that published tables may have: that of missing values, too, if it is published."""
        return (*self.in_source, *([MISSING] if self.publishes_missing else ()))

    @field_validator("order")
    @classmethod
    def _check_order(cls, order: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if order is not None and not order:
            raise ValueError("needs at least one label")
        if order is not None and (twice := repeated(order)):
            raise ValueError(f"lists {twice} more than once")
        return order

    @field_validator("hierarchy", mode="wrap")
    @classmethod
    def _read_hierarchy(cls, declared: Any, validate: Callable[[Any], Paths], info: ValidationInfo) -> Any:
        """A hierarchy named by its file is read by whoever may read files (the validation context)."""
        if "order" in info.data and (declared is None) == (info.data["order"] is None):
            raise ValueError("give either order (a list of labels) or hierarchy (a CSV file), one of the two")
        return None if declared is None else read_hierarchy(declared, validate, info)

    @field_validator("min_width")
    @classmethod
    def _check_min_width(cls, min_width: int, info: ValidationInfo) -> int:
        labels = info.data.get("order") or info.data.get("hierarchy")
        return _check_width(min_width, len(labels)) if labels else min_width

    @model_validator(mode="after")
    def _check_renamed(self) -> Self:
        if twice := repeated(list(self.renamed.values())):
            raise ValueError(f"renamed: gives {twice} to two labels: the source must call each differently")
        labels = {*self.in_source}
        if unknown := next((own for own in self.renamed if own not in labels), None):
            raise ValueError(f"renamed: names {unknown}, which is no label of {self.name}")
        if taken := next((now for now in self.renamed.values() if now in labels - {*self.renamed}), None):
            raise ValueError(f"renamed: {taken} is a label of {self.name} too: two labels can't become one")
        return self

    @model_validator(mode="after")
    def _check_no_such_label(self) -> Self:
        labels = {*(self.order or ()), *(label for path in self.hierarchy or () for label in path)}
        if self.publishes_missing and MISSING in labels:
            raise ValueError(
                f"{MISSING} is a label of {self.name}, and what missing: publish publishes in place of a"
                " missing one: call the label otherwise in the source, or choose missing: leave_out"
            )
        return self


QuasiIdentifier = Annotated[NumberAttribute | DateAttribute | CategoryAttribute, Field(discriminator="kind")]


class CategoryColumn(CategoryAttribute):
    """A categorical column of a view, published under labels of its hierarchy."""

    keep: bool = False
    """Whether it is published as it is."""

    @field_validator("min_width")
    @classmethod
    def _no_min_width(cls, min_width: int) -> int:
        return _refuse_min_width(min_width)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in the order of their codes; that of missing values comes last, if it is published."""
        return self.in_tables

    @property
    def paths(self) -> Paths:
        """One path `leaf, …, root` per label; without a hierarchy, the root is ANY."""
        paths = self.hierarchy or tuple((label, "ANY") for label in self.in_source)
        root, depth = paths[0][-1], len(paths[0])
        return (*paths, *([(MISSING,) * (depth - 1) + (root,)] if self.publishes_missing else ()))


class NumberColumn(NumberAttribute):
    """A numeric column of a view, published as intervals."""

    keep: bool = False
    """Whether it is published as it is."""

    @field_validator("min_width")
    @classmethod
    def _no_min_width(cls, min_width: float) -> float:
        return _refuse_min_width(min_width)

    @field_validator("step")
    @classmethod
    def _no_step(cls, step: int) -> int:
        if step > 1:
            raise ValueError(
                "is not for the columns of a view, whose rows are counted as they are: leave it out"
            )
        return step

    @field_validator("missing")
    @classmethod
    def _no_missing_number(cls, rule: str) -> str:
        if rule == "publish":
            raise ValueError(
                "can't be publish for a number of a view, whose intervals are of numbers alone: choose"
                " leave_out, or make the column a category of ranges in the source"
            )
        return rule


Column = Annotated[CategoryColumn | NumberColumn, Field(discriminator="kind")]


def grid_of_labels(labels: int, width: int) -> tuple[int, ...]:
    """The first code of each cell of the grid of `min_width`; the last cell takes what is left over."""
    return tuple(width * cell for cell in range(max(1, labels // width)))


def _refuse_min_width(min_width: Width) -> Width:
    if min_width:
        raise ValueError(
            "is not for the columns of a view: how wide intervals are follows from the requirement"
        )
    return min_width


def _check_width(min_width: Width, widest: float) -> Width:
    if not 0 <= min_width <= widest:
        raise ValueError(f"must be between 0 and the domain's width ({widest}), not {min_width}")
    return min_width
