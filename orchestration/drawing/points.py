"""Charts of numbers over numbers: lines with points that have names, and bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from republish.anonymize.plot import Bars, Lines
from republish.orchestration.drawing.axes import (
    BOTTOM,
    COLOURS,
    END,
    HEIGHT,
    LEFT,
    LINE,
    MIDDLE,
    RIGHT,
    TOP,
    at_x,
    at_y,
    frame,
    label,
    round_numbers,
    stroke,
)


@dataclass(frozen=True)
class LinesOfPoints:
    """Lines with a name each, and their points with names."""

    chart: Lines
    height: int = HEIGHT

    def parts(self) -> Iterator[str]:
        """The names of lines in rows of their own, and below them axes, lines, points and their names."""
        points = [point for line in self.chart.lines.values() for point in line]
        wide = round_numbers(max((point.x for point in points), default=0) or 1.0)
        high = round_numbers(max((point.y for point in points), default=0) or 1.0)
        top = TOP + LINE * len(self.chart.lines)
        for number in wide:
            yield label(_across(number / wide[-1]), BOTTOM + 18, f"{number:g}", MIDDLE)
        yield from _upwards(high, top)
        yield from frame(self.chart.y_label, top)
        yield label((LEFT + RIGHT) / 2, HEIGHT - 10, self.chart.x_label, MIDDLE)
        for number, (name, line) in enumerate(self.chart.lines.items()):
            colour = COLOURS[number % len(COLOURS)]
            places = [(_across(point.x / wide[-1]), at_y(point.y / high[-1], top), point) for point in line]
            if places:
                yield stroke("M" + "L".join(f"{x} {y}" for x, y, _ in places), colour)
            for x, y, point in places:
                yield f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>'
                weight = ' font-weight="bold"' if point.is_marked else ""
                yield label(x + 5, y - 4, point.name, f'font-size="10"{weight}')
            yield stroke(f"M{LEFT} {TOP + LINE * number}h22", colour)
            yield label(LEFT + 28, TOP + 4 + LINE * number, name)


@dataclass(frozen=True)
class BarsOfIntervals:
    """A bar for each interval, as wide as the interval is."""

    chart: Bars
    height: int = HEIGHT

    def parts(self) -> Iterator[str]:
        """Axes and bars."""
        low, high = self.chart.bars[0].low, self.chart.bars[-1].high
        top = round_numbers(max(bar.height for bar in self.chart.bars) or 1.0)
        for share in (0, 0.25, 0.5, 0.75, 1):
            yield label(at_x(share), BOTTOM + 18, f"{low + share * (high - low):g}", MIDDLE)
        yield from _upwards(top)
        yield from frame(self.chart.y_label)
        for bar in self.chart.bars:
            left, right = (at_x((end - low) / (high - low)) for end in (bar.low, bar.high))
            y = at_y(bar.height / top[-1])
            size = f'x="{left}" y="{y}" width="{round(right - left, 1)}" height="{round(BOTTOM - y, 1)}"'
            yield f'<rect {size} fill="{COLOURS[0]}" stroke="white"/>'


def _across(share: float) -> float:
    """Where a number is on the axis, which leaves room for the name of the last point."""
    return at_x(0.93 * share)


def _upwards(numbers: Sequence[float], top: float = TOP) -> Iterator[str]:
    """The numbers along the upright axis."""
    for number in numbers:
        yield label(LEFT - 8, at_y(number / numbers[-1], top) + 4, f"{number:g}", END)
