"""A chart as data: what it is called, and how it is drawn on axes that somebody else provides."""

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
