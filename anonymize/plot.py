"""Charts as data: what is drawn by whoever shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Steps:
    """A line of steps upward: at each x it reaches a new y. Both are shares, from 0 to 1."""

    points: tuple[tuple[float, float], ...]
    """Ascending."""
    name: str | None
    """None of a line that is one of the others."""


@dataclass(frozen=True)
class ShareChart:
    """A chart of shares over shares."""

    name: str
    x_label: str
    y_label: str
    lines: tuple[Steps, ...]
    others: str = ""
    """What the lines without a name are called together, if there are any."""


@dataclass(frozen=True)
class OverReleases:
    """A chart of figures over the releases of a series."""

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


@dataclass(frozen=True)
class Point:
    """A point with a name."""

    x: float
    y: float
    name: str
    is_marked: bool = False
    """Whether it stands out among the others."""


@dataclass(frozen=True)
class Lines:
    """A chart of lines through points with names; both axes begin at 0."""

    name: str
    x_label: str
    y_label: str
    lines: Mapping[str, tuple[Point, ...]]
    """By what each line is called."""


@dataclass(frozen=True)
class Bar:
    """An interval, and how high its bar is."""

    low: float
    high: float
    height: float


@dataclass(frozen=True)
class Bars:
    """A chart of intervals that follow each other, a bar for each; at least one."""

    name: str
    y_label: str
    bars: tuple[Bar, ...]
    """Ascending."""


@dataclass(frozen=True)
class Join:
    """A line between two nodes, by their places in the list of nodes."""

    one: int
    other: int
    name: str = ""


@dataclass(frozen=True)
class Diagram:
    """A tree or a graph: nodes at places from 0 to 1 across and down, and what joins them."""

    name: str
    nodes: tuple[Point, ...]
    joins: tuple[Join, ...]
    rows: int
    """How many rows of nodes are below each other: the height."""
    words: str = ""
    """A line below it."""


Chart = ShareChart | OverReleases | Lines | Bars | Diagram
