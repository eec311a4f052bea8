"""A chart of figures over releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from republish.anonymize.plot import OverReleases
from republish.orchestration.drawing.axes import (
    BOTTOM,
    CHANGED,
    COLOURS,
    END,
    HEIGHT,
    LEFT,
    LINE,
    PROMISED,
    RIGHT,
    TOP,
    at_x,
    at_y,
    frame,
    label,
    round_numbers,
    stroke,
    width_of,
)

SLANTED = 14
"""How much higher a chart is for the names of releases, which stand aslant."""
MOST_NAMES = 12
"""The names of releases on an axis."""


class Releases:
    """A chart of figures over releases: what was promised is dashed, and a change of parameters dotted."""

    def __init__(self, chart: OverReleases):
        self.chart = chart
        self.named = {**dict(zip(chart.lines, COLOURS, strict=False)), chart.promise: PROMISED}
        if not any(chart.promised):
            del self.named[chart.promise]
        self.top = TOP + 4 + LINE * len(self._legend())
        self.height = HEIGHT + SLANTED
        figures = [one for line in (*chart.lines.values(), chart.promised) for one in line if one is not None]
        self.ticks = round_numbers(chart.top or max(figures, default=0) or 1.0)
        self.highest = chart.top or self.ticks[-1]

    def parts(self) -> Iterator[str]:
        """Axes, lines, their names, and what changed when."""
        for figure in self.ticks:
            yield f'<path d="M{LEFT} {self._y(figure)}h-4" stroke="black"/>'
            yield label(LEFT - 8, self._y(figure) + 4, f"{figure:g}", END)
        yield from self._releases()
        yield from frame(self.chart.y_label, self.top)
        for name, line in self.chart.lines.items():
            yield from self._line(line, self.named[name])
        yield from self._promised()
        yield from self._changes()
        for row, names in enumerate(self._legend()):
            yield from self._names(names, TOP + LINE * row)

    def _x(self, place: float) -> float:
        return at_x((place + 0.5) / len(self.chart.releases))

    def _y(self, figure: float) -> float:
        return at_y(min(figure / self.highest, 1.0), self.top)

    def _releases(self) -> Iterator[str]:
        step = -(-len(self.chart.releases) // MOST_NAMES)
        for place, name in list(enumerate(self.chart.releases))[::step]:
            x, y = self._x(place), BOTTOM + 16
            yield f'<path d="M{x} {BOTTOM}v4" stroke="black"/>'
            yield label(x + 4, y, name, f'{END} transform="rotate(-30 {x + 4} {y})"')

    def _line(self, line: Sequence[float | None], colour: str) -> Iterator[str]:
        points = [(self._x(at), self._y(one)) for at, one in enumerate(line) if one is not None]
        if points:
            yield stroke("M" + "L".join(f"{x} {y}" for x, y in points), colour)
        for x, y in points:
            yield f'<circle cx="{x}" cy="{y}" r="2.5" fill="{colour}"/>'

    def _promised(self) -> Iterator[str]:
        """A level at each release that promised one, up to half the way to the next one."""
        path = "".join(
            f"M{self._x(at - 0.5)} {self._y(level)}H{self._x(at + 0.5)}"
            for at, level in enumerate(self.chart.promised)
            if level is not None
        )
        if path:
            yield stroke(path, PROMISED, 'stroke-dasharray="5 3"')

    def _changes(self) -> Iterator[str]:
        for row, (place, words) in enumerate(self.chart.changed.items()):
            x, y = self._x(place - 0.5), self.top + 10 + LINE * (row % 3)
            yield stroke(f"M{x} {self.top}V{BOTTOM}", CHANGED, 'stroke-dasharray="1 3"')
            yield (
                label(x - 4, y, words, END)
                if 2 * place > len(self.chart.releases)
                else label(x + 4, y, words)
            )

    def _legend(self) -> list[list[str]]:
        """The names of lines, in as many rows as they need; none where the chart's own name says it."""
        if list(self.named) == [self.chart.name]:
            return []
        rows: list[list[str]] = [[]]
        for name in self.named:
            if rows[-1] and LEFT + width_of([*rows[-1], name]) > RIGHT:
                rows.append([])
            rows[-1].append(name)
        return rows

    def _names(self, names: Sequence[str], y: float) -> Iterator[str]:
        for at, name in enumerate(names):
            x = LEFT + width_of(names[:at])
            dashed = 'stroke-dasharray="5 3"' if self.named[name] == PROMISED else ""
            yield stroke(f"M{x:g} {y - 4}h22", self.named[name], dashed)
            yield label(round(x + 28, 1), y, name)
