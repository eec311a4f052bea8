"""What columns that are missing are likely to be called in a source now, by what is in its other columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import polars as pl

from republish.anonymize.contract import Table
from republish.anonymize.errors import SnapshotError
from republish.orchestration.snapshots.validation import MEASURES, snapshot_faults

MOST = 60
"""How many pairs of a missing column and another one are compared. Where there are more, none is."""


def likely_names(
    entered: Callable[[Mapping[str, str]], pl.DataFrame], present: Collection[str], schema: Table
) -> dict[str, str]:
    """The only column that keeps the rules of a missing one, by the missing one's name.

    Parameters
    ----------
    entered
        The first rows of the source under our own column names. It is given what the source calls columns.
    present
        The names of all columns of the source.
    """
    declared, there = schema.source_columns(), {*present}
    missing = [name for name in declared if name not in there]
    others = [name for name in present if name not in declared]
    if not missing or not others or len(missing) * len(others) > MOST:
        return {}

    def keeps_rules(name: str, other: str) -> bool:
        try:
            return _keeps_rules(entered({name: other}), name, schema)
        except SnapshotError:  # it is written otherwise than the contract says of the missing one
            return False

    fits = {name: [one for one in others if keeps_rules(name, one)] for name in missing}
    only = {name: some[0] for name, some in fits.items() if len(some) == 1}
    taken = [*only.values()]
    return {name: one for name, one in only.items() if taken.count(one) == 1}


def _keeps_rules(entered: pl.DataFrame, name: str, schema: Table) -> bool:
    """Whether the values of a column break no rule of the contract."""
    counted = snapshot_faults(entered, schema).filter(column=name)
    return counted.height > 0 and not counted.select(pl.sum_horizontal(pl.col(MEASURES)).sum()).item()
