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
    before, now = _alike(current.clear() if previous is None else previous, current, contract)
    both = before.join(now, on="person", how="full", coalesce=True, suffix="_now")
    was, stays = pl.col("attributes").is_not_null(), pl.col("attributes_now").is_not_null()
    changed = pl.col("value").ne_missing(pl.col("value_now"))
    moved = pl.col("attributes").ne_missing(pl.col("attributes_now"))
    change = (
        pl.when(~was).then(pl.lit("inserted"))
        .when(~stays).then(pl.lit("deleted"))
        .when(changed).then(pl.lit("changed"))
        .otherwise(pl.lit("carried"))
    )  # fmt: skip
    return both.sort("person").select(
        pl.col("person").alias(contract.identifier),
        change.alias("change"),
        (was & stays & moved).alias("moved"),
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


def _alike(before: pl.DataFrame, now: pl.DataFrame, contract: Contract) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both snapshots as `person`, `attributes` (a struct), `value`, in types that can be compared."""
    as_text = {name for name in contract.columns if before.schema[name] != now.schema[name]}
    column = {
        name: pl.col(name).cast(pl.String) if name in as_text else pl.col(name) for name in contract.columns
    }
    return tuple(
        snapshot.select(
            column[contract.identifier].alias("person"),
            pl.struct(column[qi.name] for qi in contract.quasi_identifiers).alias("attributes"),
            column[contract.sensitive.name].alias("value"),
        )
        for snapshot in (before, now)
    )
