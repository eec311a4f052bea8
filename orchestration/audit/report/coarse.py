"""What the page of a report says in place of an exact figure.

The page has no small counts of people, and no figure that is measured on their true values to more digits
than many people make together. Such a figure is a function of everybody's values that anybody can compute:
with all its digits, it fits only one way to give nine people their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

SMALL = 10
"""Counts of people from 1 up to this are not shown."""

STEPS = (0.01, 0.02, 0.05, 0.1)
"""To one of these steps, figures that are measured on true values are rounded."""


def without_small(count: int | None) -> int | str | None:
    """A count of people, or words in its place if it is small and not 0."""
    return f"fewer than {SMALL}" if count is not None and 0 < count < SMALL else count


def coarse(figure: float | None, people: int) -> float | None:
    """A figure that is measured on the true values of so many people, to a step that ten of them make.

    None of people who are too few for the largest step.
    """
    step = next((one for one in STEPS if one * people >= SMALL), None)
    return None if figure is None or step is None else round(round(figure / step) * step, 2)


def public_names(names: Sequence[str]) -> dict[str, str]:
    """What series are called outside: a series that is known by its path alone gets the path's last part."""
    short = [PurePath(name).name if PurePath(name).is_absolute() else name for name in names]
    return {
        name: called if short.count(called) == 1 else f"{called} ({number})"
        for number, (name, called) in enumerate(zip(names, short, strict=True), start=1)
    }
