"""A chart of shares over shares as SVG, without a plotting library."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from republish.anonymize.errors import as_data
from republish.anonymize.plot import ShareChart, Steps

WIDTH, HEIGHT = 660, 286
LEFT, RIGHT, TOP, BOTTOM = 60, 640, 14, 236
"""Of the axes, in pixels."""
COLOURS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd",
    "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf",
)  # fmt: skip
OTHERS = "#d3d3d3"
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
LINE = 16
"""Between two names, in pixels."""


def as_svg(chart: ShareChart) -> str:
    """The chart as an SVG document. The same chart gives the same text."""
    size = f'width="{WIDTH}" height="{HEIGHT}"'
    font = 'font-family="DejaVu Sans, Verdana, sans-serif" font-size="12"'
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {WIDTH} {HEIGHT}" {font}>'
    white = f'<rect {size} fill="white"/>'
    return "\n".join((begin, white, *_axes(chart), *_lines(chart), *_names(chart), "</svg>"))


def _x(share: float) -> float:
    return round(LEFT + share * (RIGHT - LEFT), 1)


def _y(share: float) -> float:
    return round(BOTTOM - share * (BOTTOM - TOP), 1)


def _axes(chart: ShareChart) -> Iterator[str]:
    for share in TICKS:
        yield f'<path d="M{_x(share)} {BOTTOM}v4M{LEFT} {_y(share)}h-4" stroke="black"/>'
        yield _text(_x(share), BOTTOM + 18, f"{share:.1f}", 'text-anchor="middle"')
        yield _text(LEFT - 8, _y(share) + 4, f"{share:.1f}", 'text-anchor="end"')
    yield f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="black"/>'
    yield _text((LEFT + RIGHT) / 2, HEIGHT - 10, chart.x_label, 'text-anchor="middle"')
    middle = (TOP + BOTTOM) / 2
    yield _text(16, middle, chart.y_label, f'text-anchor="middle" transform="rotate(-90 16 {middle})"')


def _colour(chart: ShareChart, line: Steps) -> str:
    return OTHERS if line.name is None else COLOURS[chart.lines.index(line) % len(COLOURS)]


def _lines(chart: ShareChart) -> Iterator[str]:
    for line in reversed(chart.lines):  # the first ones are on top
        path = "".join(f"H{_x(x)}V{_y(y)}" for x, y in line.points)
        colour = _colour(chart, line)
        yield f'<path d="M{LEFT} {BOTTOM}{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>'


def _names(chart: ShareChart) -> Iterator[str]:
    named = [(line.name, _colour(chart, line)) for line in chart.lines if line.name is not None]
    named += [(chart.others, OTHERS)] if chart.others else []
    for at, (name, colour) in enumerate(reversed(named)):
        y = BOTTOM - 12 - at * LINE
        yield f'<path d="M{RIGHT - 26} {y - 4}h22" stroke="{colour}" stroke-width="1.6"/>'
        yield _text(RIGHT - 32, y, name, 'text-anchor="end"')


def _text(x: float, y: float, words: str, how: str) -> str:
    return f'<text x="{x}" y="{y}" {how}>{escape(as_data(words))}</text>'
