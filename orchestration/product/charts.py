"""Figures as metadata: pictures that are part of the page."""

from __future__ import annotations

import base64
import io

import dagster as dg


def axes(height: float = 2.6):
    """A figure with one pair of axes, and these."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - only where a chart is drawn

    figure = Figure(figsize=(6, height), layout="constrained")
    return figure, figure.subplots()


def picture(figure, name: str) -> dg.MarkdownMetadataValue:
    """A figure as a picture in the page, so that it needs no file."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=110)
    return dg.MetadataValue.md(
        f"![{name}](data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()})"
    )
