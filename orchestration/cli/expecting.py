"""The table of expected errors in `republish validate`: what counts from a release would be worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import floor, log10

import numpy as np
import polars as pl

from republish.anonymize.errors import as_data
from republish.orchestration.chain.expected import FEWEST

Say = Callable[[str], None]
MOST = 20
"""So many labels of a column are shown, and so many of its values: the others are in one line."""
CANT_TELL = "can't tell"
"""What is said of an interval that is wider than half of all people."""


def say_expected(expected: pl.DataFrame | None, release: str, counted: str, say: Say) -> None:
    """Say how far off counts from a release would be.

    Parameters
    ----------
    expected
        What `expected_errors` found.
    counted
        What is counted (`counted_in`).
    """
    if expected is None:
        say(f"  {release}: its rows are people under labels: readers count these exactly")
        return
    say(
        f"  {release}: what readers would estimate of each sensitive value, and of labels of {FEWEST:,}"
        f" {counted} and more:"
    )
    rows = [("", "", counted, "95 % interval", "off by"), *_rows(expected)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        name, value, *figures = (f"{entry:{width}}" for entry, width in zip(row, widths, strict=True))
        numbers = (f"{figure.strip():>{len(figure)}}" for figure in figures)
        say("    " + "  ".join((name, value, *numbers)).rstrip())


def _rows(expected: pl.DataFrame) -> Iterator[tuple[str, ...]]:
    """A line for each label or value, and one for those of a column that are not shown."""
    everybody = max(expected.group_by("column").agg(pl.col("people").sum())["people"], default=0)
    for (name,), values in expected.group_by("column", maintain_order=True):
        column = as_data(str(name))
        for one in values.head(MOST).iter_rows(named=True):
            people, half, off = one["people"], one["half_width"], abs(one["estimate"] - one["people"])
            if 2 * half > everybody / 2:
                interval = CANT_TELL
            elif max(half, off) < 0.5:
                interval = "exact"
            else:
                interval = f"± {_rounded(half)} ({_share(half / people)})"
            yield column, as_data(one["value"]), _rounded(people), interval, _share(off / people)
        if values.height > MOST:
            more = values[MOST:]
            half, off = (
                float(np.median(one / more["people"]))
                for one in (more["half_width"], (more["estimate"] - more["people"]).abs())
            )
            most = f"{_rounded(more['people'][0])} or fewer"
            yield column, f"{more.height:,} more (median)", most, f"± {_share(half)}", _share(off)


def _rounded(count: float) -> str:
    """A count with two digits: 1,200 of 1,234, and 8 of 8.4."""
    whole = round(count)
    return f"{round(whole, 1 - floor(log10(whole))) if whole >= 100 else whole:,}"


def _share(part: float) -> str:
    """A part in percent: 3 %, or 0.4 %."""
    digits = 0 if part >= 0.0095 or part < 0.0005 else 1
    return f"{100 * part:.{digits}f} %"
