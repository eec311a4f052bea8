"""What everybody was promised, and the judgement on it: one for all attacks.

People keep what they were promised when they were published first, so each bound that was ever promised is
judged by itself, on the people to whom it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import polars as pl

from republish.anonymize.attack.finding import Count
from republish.anonymize.columns import least_of, most_of

B = TypeVar("B")
"""What is promised: a number, or numbers by columns."""
Bounds = Sequence[B | None]
"""The promise of each release to the people it published first, in order; None where there was none."""


def judged(
    rows: pl.DataFrame,
    bounds: Bounds[float],
    worst: Literal["min", "max"],
    excused: Callable[[pl.DataFrame], int] | None = None,
) -> list[Count]:
    """Count the people of whom a promise is broken, once for each bound.

    Parameters
    ----------
    rows
        `bound` (what its people were promised), `found`, `is_broken`; `people`, where a row is about another
        number than one; and `is_open`, where nobody can tell of some whether they break it.
    bounds
        The promise of each release so far. The last one has a count, even if it is of nobody.
    worst
        Whether the smallest or the largest figure found is the worst.
    excused
        Of how many rows, among those that break it, nobody can tell. They count as undecided instead of
        broken, the largest first.
    """
    number = pl.col("people") if "people" in rows.columns else pl.lit(1)
    is_open = pl.col("is_open") if "is_open" in rows.columns else pl.lit(value=False)
    rows = rows.with_columns(number.cast(pl.Int64).alias("people"), is_open.alias("is_open"))
    counts, left = [], excused(rows.filter("is_broken")) if excused else 0
    for since, bound in vintages(bounds):
        own = rows.filter(pl.col("bound") == bound)
        if own.is_empty() and bound != bounds[-1]:
            continue
        broken = own.filter("is_broken")["people"].sort(descending=True)
        spared = int(broken.head(left).sum())
        undecided = spared + int(own.filter("is_open")["people"].sum())
        found = least_of(own["found"]) if worst == "min" else most_of(own["found"])
        counts.append(
            Count(int(own["people"].sum()), int(broken.sum()) - spared, found, bound, undecided, since)
        )
        left = max(0, left - len(broken))
    return counts


def promised(bounds: Bounds[float]) -> pl.Expr:
    """Look up what was promised in the release of each row's column `promised`; null where it was not."""
    return pl.col("promised").replace_strict(
        range(1, len(bounds) + 1), list(bounds), default=None, return_dtype=pl.Float64
    )


def vintages(bounds: Bounds[B]) -> list[tuple[int, B]]:
    """Each bound that was ever promised, and the first release that promised it, from 1.

    Examples
    --------
    >>> vintages([4, 4, 5, 4])
    [(1, 4), (3, 5)]
    """
    known = [bound for bound in bounds if bound is not None]
    each = [bound for at, bound in enumerate(known) if bound not in known[:at]]
    return [(bounds.index(bound) + 1, bound) for bound in each]
