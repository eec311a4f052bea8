"""A chart of shares over shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from republish.anonymize.plot import ShareChart, Steps
from republish.orchestration.drawing.axes import (
    BOTTOM,
    COLOURS,
    END,
    HEIGHT,
    LEFT,
    LINE,
    MIDDLE,
    OTHERS,
    RIGHT,
    TICKS,
    at_x,
    at_y,
    frame,
    label,
    stroke,
)


@dataclass(frozen=True)
class Shares:
    """A chart of shares over shares."""

    chart: ShareChart
    height: int = HEIGHT

    def parts(self) -> Iterator[str]:
        """Axes, lines and their names."""
        yield from self._axes()
        yield from self._lines()
        yield from self._names()

    def _axes(self) -> Iterator[str]:
        for share in TICKS:
            yield f'<path d="M{at_x(share)} {BOTTOM}v4M{LEFT} {at_y(share)}h-4" stroke="black"/>'
            yield label(at_x(share), BOTTOM + 18, f"{share:.1f}", MIDDLE)
            yield label(LEFT - 8, at_y(share) + 4, f"{share:.1f}", END)
        yield from frame(self.chart.y_label)
        yield label((LEFT + RIGHT) / 2, HEIGHT - 10, self.chart.x_label, MIDDLE)

    def _colour(self, line: Steps) -> str:
        return OTHERS if line.name is None else COLOURS[self.chart.lines.index(line) % len(COLOURS)]

    def _lines(self) -> Iterator[str]:
        for line in reversed(self.chart.lines):  # the first ones are on top
            path = "".join(f"H{at_x(x)}V{at_y(y)}" for x, y in line.points)
            yield stroke(f"M{LEFT} {BOTTOM}{path}", self._colour(line))

    def _names(self) -> Iterator[str]:
        named = [(line.name, self._colour(line)) for line in self.chart.lines if line.name is not None]
        named += [(self.chart.others, OTHERS)] if self.chart.others else []
        for at, (name, colour) in enumerate(reversed(named)):
            y = BOTTOM - 12 - at * LINE
            yield stroke(f"M{RIGHT - 26} {y - 4}h22", colour)
            yield label(RIGHT - 32, y, name, END)
