"""A chart as data: what it is called, and what is drawn on it by whoever shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Plot:
    """One chart. Whoever shows it makes the figure, so nothing here needs a plotting library."""

    name: str
    """Its title, and what it is found by."""
    draw: Callable[[Any], None]
    """Draws on matplotlib axes."""
    height: float = 2.6
    """In inches; all are six inches wide."""


@dataclass(frozen=True)
class Steps:
    """A line of steps upward: at each x it reaches a new y. Both are shares, from 0 to 1."""

    points: tuple[tuple[float, float], ...]
    """Ascending."""
    name: str | None
    """None of a line that is one of the others."""


@dataclass(frozen=True)
class ShareChart:
    """A chart of shares over shares. It is drawn without a plotting library, which takes longer to import
    than a small release takes otherwise.
    """

    name: str
    x_label: str
    y_label: str
    lines: tuple[Steps, ...]
    others: str = ""
    """What the lines without a name are called together, if there are any."""
