"""A chart as data: what it is called, and what is drawn on it by whoever shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
    """A chart of shares over shares, drawn without a plotting library.

    To import one would take longer than all that is done with the data of a small release.
    """

    name: str
    x_label: str
    y_label: str
    lines: tuple[Steps, ...]
    others: str = ""
    """What the lines without a name are called together, if there are any."""


@dataclass(frozen=True)
class OverReleases:
    """A chart of figures over the releases of a series, drawn without a plotting library, as above."""

    name: str
    y_label: str
    releases: tuple[str, ...]
    lines: Mapping[str, tuple[float | None, ...]]
    """A figure for each release, by what the line is called; None where a release has none."""
    promised: tuple[float | None, ...] = ()
    """What each release promised of them; empty where nothing is."""
    promise: str = ""
    """What that is called."""
    changed: Mapping[int, str] = field(default_factory=dict)
    """What changed with a release, by its place: a parameter of the contract."""
    top: float | None = None
    """Where the axis ends; None for a little above all figures."""

    @property
    def moves(self) -> bool:
        """Whether any line does: the others would be straight."""
        return any(len({figure for figure in line if figure is not None}) > 1 for line in self.lines.values())
