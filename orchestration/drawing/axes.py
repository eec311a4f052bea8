"""What all pictures share: sizes, colours, axes, lines and words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from republish.anonymize.errors import as_data

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
MIDDLE, END = 'text-anchor="middle"', 'text-anchor="end"'


def at_x(share: float) -> float:
    """Where a share of the width is, in pixels."""
    return round(LEFT + share * (RIGHT - LEFT), 1)


def at_y(share: float, top: float = TOP) -> float:
    """Where a share of the height is, in pixels."""
    return round(BOTTOM - share * (BOTTOM - top), 1)


def round_numbers(top: float) -> list[float]:
    """Round numbers from 0 up to a highest figure or a little above it, at most six."""
    rough = top / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * digit for digit in (1, 2, 2.5, 5, 10) if power * digit >= rough * 0.999)
    return [round(step * at, 10) for at in range(math.ceil(top / step * 0.999) + 1)]


def frame(y_label: str, top: float = TOP) -> Iterator[str]:
    """Both axes, and what the upright one is of."""
    yield f'<path d="M{LEFT} {top}V{BOTTOM}H{RIGHT}" fill="none" stroke="black"/>'
    middle = (top + BOTTOM) / 2
    yield label(16, middle, y_label, f'{MIDDLE} transform="rotate(-90 16 {middle})"')


def stroke(path: str, colour: str, how: str = "") -> str:
    """A line."""
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{how and " " + how}/>'


def width_of(names: Sequence[str]) -> float:
    """Of names in a row, each with a piece of its line, in pixels."""
    return sum(28 + LETTER * len(name) + 14 for name in names)


def label(x: float, y: float, words: str, how: str = "") -> str:
    """Words beside a place."""
    return f'<text x="{x}" y="{y}"{how and " " + how}>{escape(as_data(words))}</text>'
