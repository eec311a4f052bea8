"""The sensitive values there are, and where each one is among them."""

from __future__ import annotations

import numpy as np
import polars as pl

from anonymize.contract import Sensitive
from anonymize.errors import SnapshotError


def known_values(column: pl.Series, sensitive: Sensitive, buckets: pl.DataFrame) -> pl.Series:
    """All sensitive values there are, sorted: declared or seen, and those of remembered signatures.

    Parameters
    ----------
    column
        The sensitive values of T(n).
    sensitive
        The attribute, with its declared values if there are any.
    buckets
        As in `Memory`.

    Raises
    ------
    SnapshotError
        If the column has another type than the declared values or those of the releases before.
    """
    remembered = buckets["signature"].explode().alias("value")
    declared = pl.Series("value", sensitive.values or column.unique())
    for former, where in ((remembered, "in the releases before"), (declared, "under sensitive.values")):
        if former.dtype != column.dtype:
            raise SnapshotError(
                f"the column {sensitive.name} holds {column.dtype}, and {former.dtype} {where}: give it"
                " that type in the source, or begin a new series"
            )
    return pl.concat([declared, remembered]).drop_nulls().unique().sort()


def positions(column: pl.Series, values: pl.Series) -> np.ndarray:
    """int64[N]: where in `values` each entry of a column of sensitive values is.

    Raises
    ------
    SnapshotError
        If an entry is null or not among the values.
    """
    known = values.to_frame("value").with_row_index("position")
    position = column.to_frame("value").join(known, on="value", how="left", maintain_order="left")["position"]
    if unknown := position.null_count():
        raise SnapshotError(
            f"{unknown} people have a sensitive value that is null or not listed under sensitive.values:"
            " correct the snapshot, or list it"
        )
    return position.cast(pl.Int64).to_numpy()
