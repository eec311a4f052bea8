"""Plots as metadata: pictures that are part of the page."""

from __future__ import annotations

import base64
import io

import dagster as dg

from anonymize.plot import Plot
from orchestration.drawing import draw


def picture(plot: Plot) -> dg.MarkdownMetadataValue:
    """A plot as a picture in the page, so that it needs no file."""
    stream = io.BytesIO()
    draw(plot, stream, "png")
    encoded = base64.b64encode(stream.getvalue()).decode()
    return dg.MetadataValue.md(f"![{plot.name}](data:image/png;base64,{encoded})")
