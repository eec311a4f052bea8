"""(X, Y)-anonymity and (X, Y)-linkability of a published view, on its own and joined with earlier releases.

Everything is counted on partitions; the join is not executed.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, sections 3.1 and 5.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from republish.anonymize.contract import ViewContract
from republish.anonymize.sequential.linked import Linked
from republish.anonymize.sequential.matching import Coded, Earlier, read_labels
from republish.anonymize.sequential.parameters import Sequential


@dataclass(frozen=True)
class Linking:
    """How closely a view, joined with earlier releases, links X to Y."""

    safety: float
    """Anonymity: A_Y(X), the least number of values on Y that a value on X is linked to. Linkability: the
    least k - l over sensitive values and values on X, l their linkability; not below 0 if the requirement is
    satisfied."""
    needed: float
    """What is required of `safety`."""
    partitions: int
    """Distinct values of the view's columns of X."""
    broken: int
    """How many of them are part of a value on X that breaks the requirement."""

    @property
    def holds(self) -> bool:
        """Whether the requirement is satisfied."""
        return self.safety >= self.needed


def linking(
    coded: Mapping[str, Coded], earlier: Sequence[Earlier], contract: ViewContract[Sequential]
) -> Linking:
    """What a view links, as it is.

    Parameters
    ----------
    coded
        The view's columns, all fixed (`code_published`, or `code_view` of a view that is published as it is).
    earlier
        The releases it will be joined with; none for the view on its own.
    contract
        Has `identifier`, `columns` and `principle`.
    """
    linked = Linked(coded, earlier, contract)
    safeties = linked.safety(*linked.most_general)
    broken = int(np.count_nonzero(safeties < linked.needed))
    return Linking(float(safeties.min()), linked.needed, len(safeties), broken)


def code_published(view: pl.DataFrame, columns, where: str) -> dict[str, Coded]:
    """A published view's columns as codes: each label that occurs has one, and none is to be specialized.

    Parameters
    ----------
    view
        `column_0`, `column_1`, …, as published.
    columns
        Their declarations.
    where
        What messages call it.
    """
    coded = {}
    for position, column in enumerate(columns):
        values = view[f"column_{position}"]
        labels = values.cast(pl.String).unique().sort()
        codes = values.cast(pl.String).replace_strict(labels, range(len(labels)), return_dtype=pl.Int32)
        low, high = read_labels(labels, column, where)
        coded[column.name] = Coded(codes.to_numpy(), low, high, labels.to_list(), column, fixed=True)
    return coded
