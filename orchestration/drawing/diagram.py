"""A picture of things and what joins them: a tree, or a graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from republish.anonymize.plot import Diagram
from republish.orchestration.drawing.axes import COLOURS, LEFT, LINE, MIDDLE, OTHERS, RIGHT, label, stroke

ROW = 22
"""The height of a row of nodes, in pixels."""
MARGIN = 30


@dataclass(frozen=True)
class Nodes:
    """Nodes with their names, joined by lines."""

    chart: Diagram

    @property
    def height(self) -> int:
        """Of the picture, in pixels."""
        return 2 * MARGIN + ROW * self.chart.rows + (LINE if self.chart.words else 0)

    def parts(self) -> Iterator[str]:
        """Lines, nodes on top of them, and their names."""
        places = [
            (
                round(LEFT + node.x * (RIGHT - LEFT - 2 * LEFT), 1),
                round(MARGIN + node.y * ROW * self.chart.rows, 1),
            )
            for node in self.chart.nodes
        ]
        for join in self.chart.joins:
            (x, y), (to_x, to_y) = places[join.one], places[join.other]
            yield stroke(f"M{x} {y}L{to_x} {to_y}", OTHERS)
            if join.name:
                yield label((x + to_x) / 2, (y + to_y) / 2, join.name, f'{MIDDLE} font-size="10"')
        for node, (x, y) in zip(self.chart.nodes, places, strict=True):
            yield f'<circle cx="{x}" cy="{y}" r="5" fill="{COLOURS[0] if node.is_marked else OTHERS}"/>'
            yield label(x + 8, y + 4, node.name)
        if self.chart.words:
            yield label(LEFT, self.height - 8, self.chart.words, 'font-size="10"')
