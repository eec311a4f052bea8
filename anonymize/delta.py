"""What happened between two snapshots: T(n-1), T(n) -> carried, inserted, deleted, changed."""

from __future__ import annotations

import polars as pl

from anonymize.contract import Contract

CHANGES = ("carried", "changed", "deleted", "inserted")
"""What can become of a person between two snapshots."""


def delta(previous: pl.DataFrame | None, current: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """One row for every person of either snapshot, saying what became of them.

    Parameters
    ----------
    previous
        T(n-1), or None before the first release: then everybody is inserted.
    current
        T(n). Both have the contract's columns; identifiers are unique. A column whose type is not the
        same in both is compared as text: the number 7 and the text "7" are one person.
    contract
        Its identifier, quasi-identifiers and sensitive attribute.

    Returns
    -------
    polars.DataFrame
        The identifier; `change`: in both snapshots with the same sensitive value (`carried`) or another
        (`changed`), only in the last (`deleted`), only in this (`inserted`); `moved` (bool): in both, with
        another quasi-identifier. Sorted by identifier.
    """
    before, now = _alike(current.clear() if previous is None else previous, current, contract.columns)
    both = before.join(now, on=contract.identifier, how="full", coalesce=True, suffix=" now")
    differs = {name: pl.col(name).ne_missing(pl.col(f"{name} now")) for name in contract.columns[1:]}
    change = (
        pl.when(pl.col("is before").is_null()).then(pl.lit("inserted"))
        .when(pl.col("is now").is_null()).then(pl.lit("deleted"))
        .when(differs[contract.sensitive.name]).then(pl.lit("changed"))
        .otherwise(pl.lit("carried"))
    )  # fmt: skip
    moved = pl.any_horizontal(differs[qi.name] for qi in contract.quasi_identifiers)
    stayed = pl.col("is before").is_not_null() & pl.col("is now").is_not_null()
    return both.select(contract.identifier, change.alias("change"), (stayed & moved).alias("moved")).sort(
        contract.identifier
    )


def delta_figures(changes: pl.DataFrame) -> dict[str, int]:
    """How many people were carried, changed, deleted and inserted, and how many `moved`.

    Parameters
    ----------
    changes
        What `delta` returned.
    """
    counts = {change: int((changes["change"] == change).sum()) for change in CHANGES}
    return counts | {"moved": int(changes["moved"].sum())}


def _alike(before: pl.DataFrame, now: pl.DataFrame, columns: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The columns of both snapshots in types that can be compared, and a mark of where a row is from."""
    other = [name for name in columns if before.schema[name] != now.schema[name]]
    return tuple(
        snapshot.select(pl.col(columns).exclude(other), pl.col(other).cast(pl.String))
        .select(columns)
        .with_columns(pl.lit(value=True).alias(mark))
        for snapshot, mark in ((before, "is before"), (now, "is now"))
    )
