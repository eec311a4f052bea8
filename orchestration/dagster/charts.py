"""Plots as metadata: pictures that are part of the page."""

from __future__ import annotations

import base64
import io

import dagster as dg

from anonymize.plot import Plot

WIDTH = 6
"""Of every picture, in inches."""


def picture(plot: Plot) -> dg.MarkdownMetadataValue:
    """A plot as a picture in the page, so that it needs no file."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - only where a chart is drawn

    figure = Figure(figsize=(WIDTH, plot.height), layout="constrained")
    axes = figure.subplots()
    plot.draw(axes)
    axes.spines[["top", "right"]].set_visible(False)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=110)
    encoded = base64.b64encode(stream.getvalue()).decode()
    return dg.MetadataValue.md(f"![{plot.name}](data:image/png;base64,{encoded})")
