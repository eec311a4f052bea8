"""The sensitive values there are: which may be used, and where each one is among them."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from republish.anonymize.arrays import Ints
from republish.anonymize.contract import Sensitive
from republish.anonymize.contract.combined import values_of
from republish.anonymize.errors import SnapshotError
from republish.anonymize.spelling import describe_twins, of_several, twins


def by_own_names(values: pl.Expr, renamed: Mapping[str, str]) -> pl.Expr:
    """Values as text, under the series' own names where the source has others by now (`renamed`)."""
    return values.cast(pl.String).replace({now: own for own, now in renamed.items()})


def refuse_unfit(column: pl.Series, sensitive: Sensitive, remembered: pl.Series) -> None:
    """Refuse sensitive values that no release can work with.

    `remembered` are the values that the releases before published.

    Raises
    ------
    SnapshotError
        If the column has another type than the declared values or those of the releases before, if some
        people's value is null or not declared, or if a value that was not published before is another one
        in another spelling.
    """
    before = values_of(remembered, sensitive)
    for one, its, former in zip(sensitive.columns, values_of(column, sensitive), before, strict=True):
        _refuse_unfit(its, one, former if len(former) else its.clear())


def _refuse_unfit(column: pl.Series, sensitive: Sensitive, remembered: pl.Series) -> None:
    """Refuse unfit values of one column."""
    formers = [(remembered, "in the releases before")]
    if sensitive.values is not None:
        formers.append((pl.Series(sensitive.values), "under sensitive.values"))
    for former, where in formers:
        if former.dtype != column.dtype:
            raise SnapshotError(
                f"the column {sensitive.name} holds {column.dtype}, and {former.dtype} {where}: give it"
                " that type in the source, or begin a new series"
            )
    if missing := column.null_count():
        raise SnapshotError(f"{missing} people have no {sensitive.name}: correct the snapshot")
    if sensitive.values is not None:
        declared = pl.Series(sensitive.values)
        if unknown := int((~column.is_in(declared.implode())).sum()):
            raise SnapshotError(
                f"{unknown} people have a {sensitive.name} that is not listed under sensitive.values: correct"
                " the snapshot, or list it"
            )
    there = pl.concat([column.unique().alias("value"), remembered.unique().alias("value")])
    published = set(remembered)
    if same := [group for group in twins(there) if not published.issuperset(group)]:
        message = describe_twins(same[0], {*published, *(sensitive.values or ()), *of_several(column)})
        way_out = "correct the source"
        if not published.isdisjoint(same[0]):
            message += ", and the releases before have one of them"
            way_out += ", or say which one is the other's new name (sensitive.renamed)"
        raise SnapshotError(f"{sensitive.name}: {message}: {way_out}")


def known_values(column: pl.Series, sensitive: Sensitive, remembered: pl.Series) -> pl.Series:
    """All sensitive values there are, sorted: declared or seen, and those of the releases before.

    Raises
    ------
    SnapshotError
        As `refuse_unfit` does.
    """
    refuse_unfit(column, sensitive, remembered)
    declared = pl.Series("value", sensitive.values or column.unique(), dtype=column.dtype)
    return pl.concat([declared, remembered.alias("value")]).drop_nulls().unique().sort()


def positions(column: pl.Series, values: pl.Series) -> Ints:
    """int64[N]: where in `values` (distinct) each entry of a column is; every entry must be among them."""
    known = values.to_frame("value").with_row_index("position")
    position = column.to_frame("value").join(known, on="value", how="left", maintain_order="left")["position"]
    return position.cast(pl.Int64).to_numpy()
