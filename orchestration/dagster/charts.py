"""Charts as metadata: pictures that are part of the page."""

from __future__ import annotations

import base64

import dagster as dg

from republish.anonymize.plot import Chart, OverReleases
from republish.orchestration.drawing import as_svg
from republish.orchestration.over_releases import in_words


def picture(*charts: Chart) -> dg.MarkdownMetadataValue:
    """Charts as pictures in the page, so that they need no file; those in which nothing moves, in words."""
    return dg.MetadataValue.md("\n\n".join(map(_embedded, charts)))


def _embedded(chart: Chart) -> str:
    if isinstance(chart, OverReleases) and not chart.moves:
        return in_words(chart)
    encoded = base64.b64encode(as_svg(chart).encode()).decode()
    caption = f"{chart.name}\n\n" if isinstance(chart, OverReleases) else ""  # others have it as their entry
    return f"{caption}![{chart.name}](data:image/svg+xml;base64,{encoded})"
