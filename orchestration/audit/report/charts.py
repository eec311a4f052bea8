"""The audit's plots, as SVG to be put into a page."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from republish.anonymize.promise import Part, Promise
from republish.anonymize.promise.part import Chart
from republish.anonymize.text import Text
from republish.orchestration.audit.findings import AttackedSeries
from republish.orchestration.languages.language import Language

BLUE, RED, GREY = "#2b6cb0", "#c53030", "#718096"
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "republish",
    "font.size": 9,
    "axes.spines.top": False,
}
STYLE |= {"axes.spines.right": False}
COLOURS, MARKERS = (BLUE, "#63a4dd", GREY), ("o", "s", "^")
MOST_TICKS = 12


@dataclass(frozen=True)
class Drawn:
    """A chart of a series."""

    caption: str
    svg: str
    is_promised: bool
    """Whether what it shows is promised. A line of what is promised is drawn in no other chart."""
    is_internal: bool = False
    """Whether it is left out of what is handed out."""


def of_series(
    series: AttackedSeries, promise: Promise, kinds: Sequence[type[Part]], language: Language
) -> list[Drawn]:
    """The charts of a series: those of each kind of part, and of what is guessed.

    Parameters
    ----------
    series
        What was found.
    promise
        What the contract promises.
    kinds
        The kinds of parts that the releases are attacked for.
    language
        What captions, axes and curves are called in.
    """
    drawn = []
    for chart, part in ((chart, promise.part(kind)) for kind in kinds for chart in kind.charts):
        if chart.only_promised and part is None:
            continue
        draw = _bars if chart.bars else _curves
        if svg := draw(series, chart, _levels(series, chart, part), language):
            drawn.append(Drawn(language.say(chart.caption), svg, part is not None, chart.is_internal))
    if any(release.guesses for release in series.releases):
        caption = Text(
            "The share of people whose value is guessed right, with learning from the groups and without."
        )
        drawn.append(Drawn(language.say(caption), guesses_over_time(series, language), is_promised=False))
    return drawn


def _levels(series: AttackedSeries, chart: Chart, part: Part | None) -> list[float]:
    """What the releases promised of what a chart shows, each figure once; of none, what the contract does."""
    if chart.level is None or part is None:
        return []
    promised = [own for promise in series.promised if (own := promise.part(type(part))) is not None]
    return list(dict.fromkeys(map(chart.level, promised or [part])))


def _curves(series: AttackedSeries, chart: Chart, levels: Sequence[float], language: Language) -> str:
    """The curves of a chart over the releases; nothing if no release has any of its figures."""
    lines = [
        (curve, [release.attack.figures.get(curve.figure) for release in series.releases])
        for curve in chart.curves
    ]
    lines = [(curve, line) for curve, line in lines if any(line)]

    def draw(axes: Axes) -> None:
        for (curve, line), colour, marker in zip(lines, COLOURS, MARKERS, strict=False):
            axes.plot(
                np.array(line, float),
                marker=marker,
                markersize=3,
                label=language.say(curve.words),
                color=colour,
            )
        _require(axes, levels, chart, language)
        axes.set_ylabel(language.say(chart.axis))
        axes.set_ylim(0, chart.top)

    return _over_releases(series, draw, language) if lines else ""


def _bars(series: AttackedSeries, chart: Chart, levels: Sequence[float], language: Language) -> str:
    """A bar for each figure of a list; those that break what is promised stand out."""
    sizes = series.figures.get(chart.bars or "") or []

    def draw(axes: Axes) -> None:
        colours = [(RED if size < min(levels) else BLUE) if levels else GREY for size in sizes]
        axes.bar(range(len(sizes)), sizes, color=colours, width=0.9)
        _require(axes, levels, chart, language)
        axes.set_xlabel(language.say(chart.over))
        axes.set_ylabel(language.say(chart.axis))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))

    return _svg(draw) if sizes else ""


def guesses_over_time(series: AttackedSeries, language: Language) -> str:
    """The share of values that are guessed right, beside what is guessed right without learning."""
    curves = (
        ("learned", Text("learning from the groups"), BLUE, "o"),
        ("from_truth", Text("learning from the true table, without groups"), "#63a4dd", "v"),
        ("at_random", Text("at random among possible tuples"), GREY, "s"),
        ("most_frequent", Text("the most frequent value"), "#a0aec0", "^"),
    )

    def draw(axes: Axes) -> None:
        for part, label, colour, marker in curves:
            line = [getattr(release.guesses, part, None) for release in series.releases]
            axes.plot(
                np.array(line, float), marker=marker, markersize=3, color=colour, label=language.say(label)
            )
        axes.set_ylabel(language.say(Text("share guessed right")))
        axes.set_ylim(0, 1.05)

    return _over_releases(series, draw, language)


def _over_releases(series: AttackedSeries, draw: Callable[[Axes], None], language: Language) -> str:
    names = [release.name for release in series.releases]

    def drawn(axes: Axes) -> None:
        draw(axes)
        axes.yaxis.set_major_formatter(_Ticks(language))
        step = -(-len(names) // MOST_TICKS)
        axes.set_xticks(range(0, len(names), step), names[::step], rotation=30, ha="right")
        axes.legend(frameon=False, fontsize=8)

    return _svg(drawn)


def _svg(draw: Callable[[Axes], None]) -> str:
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 2.8), layout="constrained")
        draw(figure.add_subplot())
        page = io.StringIO()
        figure.savefig(page, format="svg", metadata={"Date": None, "Creator": None})
    text = page.getvalue()
    return text[text.index("<svg") :]


def _require(axes: Axes, levels: Sequence[float], chart: Chart, language: Language) -> None:
    for level in levels:
        bound = Text(chart.bound)
        words = language.say(Text("promised: {bound} {level:.3g}", bound=bound, level=level))
        axes.axhline(level, color=RED, linewidth=1, linestyle="--", label=words)


class _Ticks(ScalarFormatter):
    """Numbers on an axis, as a language writes them."""

    def __init__(self, language: Language):
        super().__init__()
        self.language = language

    def __call__(self, value: float, position: int | None = None) -> str:
        return self.language.number(super().__call__(value, position))
