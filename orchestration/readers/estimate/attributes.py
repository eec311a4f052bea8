"""Published quasi-identifiers as codes from 0 on, and codes as published values again."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.contract.scalars import MISSING, date_domain, number_domain
from republish.anonymize.learning.spread import Domain
from republish.orchestration.readers.datapackage.words import CELLS, GRID

FRACTIONS = 1_000_000
"""A fraction is one of so many equal parts of its domain."""
OFF = 2
"""Of so many of these parts, rounding moves the end of a cell."""


@dataclass(frozen=True)
class Attribute:
    """A quasi-identifier as a data package declares it."""

    domain: Domain
    publishes_missing: bool
    labels: pl.Series | None = None
    """The labels of a category, in their order; None of dates and numbers."""
    is_date: bool = False
    first: float = 0
    """The lowest value; of dates, in days since 1970-01-01."""
    unit: float | None = None
    """How much a code is of a fraction; None of whole numbers."""
    step: int = 1
    """Whole numbers are multiples of it, from the lowest one on."""

    @classmethod
    def of(cls, declared: Mapping[str, Any]) -> Attribute:
        """Read what a package says of it.

        Raises
        ------
        ArithmeticError, LookupError, TypeError, ValueError
            If no package says so.
        """
        missing, width = declared.get("missing") == "publish", declared.get("min_width")
        if width is not None and not 0 < width < math.inf:
            raise ValueError("min_width is no width")

        def domain(codes: int, *, unit: float = 1, tolerance: int = 0, is_ordered: bool = True) -> Domain:
            cell = None if width is None else width / unit
            return Domain(codes, is_ordered, cell, tolerance, declared.get("ends") == GRID)

        if declared["kind"] == "category":
            labels = pl.Series(declared["labels"], dtype=pl.String)
            if labels.is_empty() or labels.n_unique() + labels.null_count() < len(labels):
                raise ValueError("labels are none, or not different")
            if declared.get("ends") == CELLS:
                cells = Domain(len(labels), False, ends_at_cells=True, lines=_lines(declared[CELLS], labels))
                return cls(cells, missing, labels)
            return cls(domain(len(labels), is_ordered=False), missing, labels)
        if declared["kind"] == "date":
            begin, end = ((one - dt.date(1970, 1, 1)).days for one in date_domain(declared["domain"]))
            return cls(domain(end - begin + 1), missing, is_date=True, first=begin)
        first, last = number_domain(declared["domain"])
        if isinstance(first, int) and isinstance(last, int):
            return cls(domain(last - first + 1), missing, first=first, step=int(declared.get("step", 1)))
        unit = (last - first) / FRACTIONS or 1e-9
        return cls(domain(FRACTIONS + 1, unit=unit, tolerance=OFF), missing, first=first, unit=unit)

    def takes(self, dtype: pl.DataType) -> bool:
        """Whether a column of such a type can have its values."""
        if self.labels is not None:
            return dtype == pl.String
        if self.is_date:
            return dtype == pl.Date
        return dtype.is_integer() or (self.unit is not None and dtype.is_float())

    def codes(self, values: pl.Series) -> pl.Series:
        """The codes of published values, Int64: null where one is missing, -1 where it is none of its own."""
        if self.labels is not None:
            found = values.cast(pl.Enum(self.labels), strict=False).to_physical().cast(pl.Int64)
            is_missing = (
                values.is_null() | (values == MISSING) if self.publishes_missing else values.is_null()
            )
            return pl.select(pl.when(is_missing | found.is_not_null()).then(found).otherwise(-1)).to_series()
        if self.unit is None:
            return values.to_physical().cast(pl.Int64) - int(self.first)
        # numpy divides; polars multiplies by a rounded 1 / unit.
        part = np.floor((values.cast(pl.Float64).fill_null(0).to_numpy() - self.first) / self.unit)
        is_near = (part >= 0) & (part <= FRACTIONS)  # NaN is nowhere
        found = pl.Series(np.where(is_near, part, -1).astype(np.int64))
        return pl.select(pl.when(values.is_not_null()).then(found)).to_series()

    def values(self, codes: Ints, exact: tuple[Ints, Floats] | None = None) -> pl.Series:
        """What codes stand for; -1 is a missing value.

        Parameters
        ----------
        codes
            int64[N]
        exact
            The codes of fractions that are known exactly, in order, and what they are.
        """
        is_there = pl.Series(codes >= 0)
        if self.labels is not None:
            place = pl.select(pl.when(is_there).then(pl.Series(codes))).to_series()
            return self.labels.gather(place).fill_null(MISSING)
        if self.unit is not None:
            number = np.round(codes * self.unit + self.first, math.ceil(-math.log10(self.unit)))
            if exact is not None and len(exact[0]):
                at = np.minimum(np.searchsorted(exact[0], codes), len(exact[0]) - 1)
                number = np.where(exact[0][at] == codes, exact[1][at], number)
            found = pl.Series(number)
        else:
            found = pl.Series(codes // self.step * self.step + int(self.first), dtype=pl.Int64)
            found = found.cast(pl.Int32).cast(pl.Date) if self.is_date else found
        return pl.select(pl.when(is_there).then(found)).to_series()


def _lines(cells: Sequence[str], labels: pl.Series) -> tuple[int, ...]:
    """The codes at which cells begin, whose first labels are given, and the number of labels.

    Raises ValueError unless cells follow one another, from the first label on.
    """
    codes = dict(zip(labels, range(len(labels)), strict=True))
    lines = [codes.get(label, -1) for label in cells] + [len(labels)]
    if lines[0] or any(after <= before for before, after in pairwise(lines)):
        raise ValueError("cells are none of the labels, or not in their order")
    return tuple(lines)
