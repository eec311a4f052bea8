"""Charts that are data, drawn."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from republish.anonymize.plot import Plot

WIDTH = 6
"""Of every picture, in inches."""


def draw(plot: Plot, file: Path | IO[bytes], kind: str) -> None:
    """Write a chart as a picture: `png` or `svg`. The same chart gives the same bytes."""
    import matplotlib as mpl  # noqa: PLC0415 - only where a chart is drawn
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "republish"}):
        figure = Figure(figsize=(WIDTH, plot.height), layout="constrained")
        axes = figure.subplots()
        plot.draw(axes)
        axes.spines[["top", "right"]].set_visible(False)
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {}
        figure.savefig(file, format=kind, dpi=110, metadata=metadata)
