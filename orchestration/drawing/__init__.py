"""Charts that are data, drawn as SVG. To import a plotting library would take longer than a release."""

from __future__ import annotations

from republish.anonymize.plot import Bars, Chart, Diagram, Lines, OverReleases, ShareChart
from republish.orchestration.drawing.axes import WIDTH
from republish.orchestration.drawing.diagram import Nodes
from republish.orchestration.drawing.points import BarsOfIntervals, LinesOfPoints
from republish.orchestration.drawing.releases import Releases
from republish.orchestration.drawing.shares import Shares

__all__ = ["as_svg"]


def as_svg(chart: Chart) -> str:
    """The chart as an SVG document. The same chart gives the same text."""
    drawn = _drawn(chart)
    size = f'width="{WIDTH}" height="{drawn.height}"'
    font = 'font-family="DejaVu Sans, Verdana, sans-serif" font-size="12"'
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {WIDTH} {drawn.height}" {font}>'
    white = f'<rect {size} fill="white"/>'
    return "\n".join((begin, white, *drawn.parts(), "</svg>"))


def _drawn(chart: Chart) -> Shares | Releases | LinesOfPoints | BarsOfIntervals | Nodes:
    match chart:
        case ShareChart():
            return Shares(chart)
        case OverReleases():
            return Releases(chart)
        case Lines():
            return LinesOfPoints(chart)
        case Bars():
            return BarsOfIntervals(chart)
        case Diagram():
            return Nodes(chart)
