"""Charts as metadata: pictures that are part of the page."""

from __future__ import annotations

import base64
import io

import dagster as dg

from republish.anonymize.plot import Plot, ShareChart
from republish.orchestration.drawing import draw
from republish.orchestration.share_chart import as_svg


def picture(chart: Plot | ShareChart) -> dg.MarkdownMetadataValue:
    """A chart as a picture in the page, so that it needs no file."""
    if isinstance(chart, ShareChart):
        kind, drawn = "svg+xml", as_svg(chart).encode()
    else:
        stream = io.BytesIO()
        draw(chart, stream, "png")
        kind, drawn = "png", stream.getvalue()
    encoded = base64.b64encode(drawn).decode()
    return dg.MetadataValue.md(f"![{chart.name}](data:image/{kind};base64,{encoded})")
