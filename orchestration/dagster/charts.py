"""Charts as metadata: pictures that are part of the page."""

from __future__ import annotations

import base64
import io

import dagster as dg

from republish.anonymize.plot import OverReleases, Plot, ShareChart
from republish.orchestration.drawing import draw
from republish.orchestration.over_releases import in_words
from republish.orchestration.svg import as_svg


def picture(*charts: Plot | ShareChart | OverReleases) -> dg.MarkdownMetadataValue:
    """Charts as pictures in the page, so that they need no file; those in which nothing moves, in words."""
    return dg.MetadataValue.md("\n\n".join(map(_embedded, charts)))


def _embedded(chart: Plot | ShareChart | OverReleases) -> str:
    if isinstance(chart, OverReleases) and not chart.moves:
        return in_words(chart)
    if isinstance(chart, Plot):
        stream = io.BytesIO()
        draw(chart, stream, "png")
        kind, drawn = "png", stream.getvalue()
    else:
        kind, drawn = "svg+xml", as_svg(chart).encode()
    encoded = base64.b64encode(drawn).decode()
    caption = f"{chart.name}\n\n" if isinstance(chart, OverReleases) else ""  # others have it as their entry
    return f"{caption}![{chart.name}](data:image/{kind};base64,{encoded})"
