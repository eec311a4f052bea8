"""Charts of shares, and of figures over releases, as SVG without a plotting library."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from republish.anonymize.errors import as_data
from republish.anonymize.plot import OverReleases, ShareChart, Steps

WIDTH, HEIGHT = 660, 286
LEFT, RIGHT, TOP, BOTTOM = 60, 640, 14, 236
"""Of the axes, in pixels."""
COLOURS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd",
    "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf",
)  # fmt: skip
OTHERS = "#d3d3d3"
PROMISED, CHANGED = "#c53030", "#4a5568"
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
LINE = 16
"""Between two names, in pixels."""
LETTER = 6.8
"""How wide one is, about, in pixels."""
SLANTED = 14
"""How much higher a chart is for the names of releases, which stand aslant."""
MOST_NAMES = 12
"""The names of releases on an axis."""


def as_svg(chart: ShareChart | OverReleases) -> str:
    """The chart as an SVG document. The same chart gives the same text."""
    drawn = _Shares(chart) if isinstance(chart, ShareChart) else _Releases(chart)
    size = f'width="{WIDTH}" height="{drawn.height}"'
    font = 'font-family="DejaVu Sans, Verdana, sans-serif" font-size="12"'
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {WIDTH} {drawn.height}" {font}>'
    white = f'<rect {size} fill="white"/>'
    return "\n".join((begin, white, *drawn.parts(), "</svg>"))


@dataclass(frozen=True)
class _Shares:
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
            yield f'<path d="M{_x(share)} {BOTTOM}v4M{LEFT} {_y(share)}h-4" stroke="black"/>'
            yield _text(_x(share), BOTTOM + 18, f"{share:.1f}", MIDDLE)
            yield _text(LEFT - 8, _y(share) + 4, f"{share:.1f}", END)
        yield from _frame(self.chart.y_label)
        yield _text((LEFT + RIGHT) / 2, HEIGHT - 10, self.chart.x_label, MIDDLE)

    def _colour(self, line: Steps) -> str:
        return OTHERS if line.name is None else COLOURS[self.chart.lines.index(line) % len(COLOURS)]

    def _lines(self) -> Iterator[str]:
        for line in reversed(self.chart.lines):  # the first ones are on top
            path = "".join(f"H{_x(x)}V{_y(y)}" for x, y in line.points)
            yield _line(f"M{LEFT} {BOTTOM}{path}", self._colour(line))

    def _names(self) -> Iterator[str]:
        named = [(line.name, self._colour(line)) for line in self.chart.lines if line.name is not None]
        named += [(self.chart.others, OTHERS)] if self.chart.others else []
        for at, (name, colour) in enumerate(reversed(named)):
            y = BOTTOM - 12 - at * LINE
            yield _line(f"M{RIGHT - 26} {y - 4}h22", colour)
            yield _text(RIGHT - 32, y, name, END)


class _Releases:
    """A chart of figures over releases: what was promised is dashed, and a change of parameters dotted."""

    def __init__(self, chart: OverReleases):
        self.chart = chart
        self.named = {**dict(zip(chart.lines, COLOURS, strict=False)), chart.promise: PROMISED}
        if not any(chart.promised):
            del self.named[chart.promise]
        self.top = TOP + 4 + LINE * len(self._legend())
        self.height = HEIGHT + SLANTED
        figures = [one for line in (*chart.lines.values(), chart.promised) for one in line if one is not None]
        self.ticks = _ticks(chart.top or max(figures, default=0) or 1.0)
        self.highest = chart.top or self.ticks[-1]

    def parts(self) -> Iterator[str]:
        """Axes, lines, their names, and what changed when."""
        for figure in self.ticks:
            yield f'<path d="M{LEFT} {self._y(figure)}h-4" stroke="black"/>'
            yield _text(LEFT - 8, self._y(figure) + 4, f"{figure:g}", END)
        yield from self._releases()
        yield from _frame(self.chart.y_label, self.top)
        for name, line in self.chart.lines.items():
            yield from self._line(line, self.named[name])
        yield from self._promised()
        yield from self._changes()
        for row, names in enumerate(self._legend()):
            yield from self._names(names, TOP + LINE * row)

    def _x(self, place: float) -> float:
        return _x((place + 0.5) / len(self.chart.releases))

    def _y(self, figure: float) -> float:
        return _y(min(figure / self.highest, 1.0), self.top)

    def _releases(self) -> Iterator[str]:
        step = -(-len(self.chart.releases) // MOST_NAMES)
        for place, name in list(enumerate(self.chart.releases))[::step]:
            x, y = self._x(place), BOTTOM + 16
            yield f'<path d="M{x} {BOTTOM}v4" stroke="black"/>'
            yield _text(x + 4, y, name, f'{END} transform="rotate(-30 {x + 4} {y})"')

    def _line(self, line: Sequence[float | None], colour: str) -> Iterator[str]:
        points = [(self._x(at), self._y(one)) for at, one in enumerate(line) if one is not None]
        if points:
            yield _line("M" + "L".join(f"{x} {y}" for x, y in points), colour)
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
            yield _line(path, PROMISED, 'stroke-dasharray="5 3"')

    def _changes(self) -> Iterator[str]:
        for row, (place, words) in enumerate(self.chart.changed.items()):
            x, y = self._x(place - 0.5), self.top + 10 + LINE * (row % 3)
            yield _line(f"M{x} {self.top}V{BOTTOM}", CHANGED, 'stroke-dasharray="1 3"')
            yield (
                _text(x - 4, y, words, END)
                if 2 * place > len(self.chart.releases)
                else _text(x + 4, y, words)
            )

    def _legend(self) -> list[list[str]]:
        """The names of lines, in as many rows as they need; none where the chart's own name says it."""
        if list(self.named) == [self.chart.name]:
            return []
        rows: list[list[str]] = [[]]
        for name in self.named:
            if rows[-1] and LEFT + _width([*rows[-1], name]) > RIGHT:
                rows.append([])
            rows[-1].append(name)
        return rows

    def _names(self, names: Sequence[str], y: float) -> Iterator[str]:
        for at, name in enumerate(names):
            x = LEFT + _width(names[:at])
            dashed = 'stroke-dasharray="5 3"' if self.named[name] == PROMISED else ""
            yield _line(f"M{x:g} {y - 4}h22", self.named[name], dashed)
            yield _text(round(x + 28, 1), y, name)


MIDDLE, END = 'text-anchor="middle"', 'text-anchor="end"'


def _x(share: float) -> float:
    return round(LEFT + share * (RIGHT - LEFT), 1)


def _y(share: float, top: float = TOP) -> float:
    return round(BOTTOM - share * (BOTTOM - top), 1)


def _ticks(top: float) -> list[float]:
    """Round numbers from 0 up to a highest figure or a little above it, at most six."""
    rough = top / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * digit for digit in (1, 2, 2.5, 5, 10) if power * digit >= rough * 0.999)
    return [round(step * at, 10) for at in range(math.ceil(top / step * 0.999) + 1)]


def _frame(y_label: str, top: float = TOP) -> Iterator[str]:
    yield f'<path d="M{LEFT} {top}V{BOTTOM}H{RIGHT}" fill="none" stroke="black"/>'
    middle = (top + BOTTOM) / 2
    yield _text(16, middle, y_label, f'{MIDDLE} transform="rotate(-90 16 {middle})"')


def _line(path: str, colour: str, how: str = "") -> str:
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{how and " " + how}/>'


def _width(names: Sequence[str]) -> float:
    """Of names in a row, each with a piece of its line, in pixels."""
    return sum(28 + LETTER * len(name) + 14 for name in names)


def _text(x: float, y: float, words: str, how: str = "") -> str:
    return f'<text x="{x}" y="{y}"{how and " " + how}>{escape(as_data(words))}</text>'
