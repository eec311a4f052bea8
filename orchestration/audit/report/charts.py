"""The audit's plots, as SVG to be put into a page; what does not move over releases is said in words."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from republish.anonymize.plot import OverReleases, Plot
from republish.anonymize.promise import Part, Promise
from republish.anonymize.promise.part import Chart
from republish.orchestration.audit.findings import AttackedSeries
from republish.orchestration.drawing import draw
from republish.orchestration.over_releases import changes_of, in_words, over_releases, promised_level
from republish.orchestration.svg import as_svg

BLUE, RED, GREY = "#2b6cb0", "#c53030", "#718096"
GUESSES = {
    "learned": "learning from the groups",
    "from_truth": "learning from the true table, without groups",
    "at_random": "at random among possible tuples",
    "most_frequent": "the most frequent value",
}
"""What is guessed right, by the names of figures."""


@dataclass(frozen=True)
class Drawn:
    """A chart of a series."""

    caption: str
    """In words, and with the figures in words where there is no picture of them."""
    svg: str
    """Empty where nothing moves."""
    is_promised: bool
    """Whether what it shows is promised. A line of what is promised is drawn in no other chart."""
    is_internal: bool
    """Whether it is left out of what is handed out."""


def of_series(series: AttackedSeries, promise: Promise, kinds: Sequence[type[Part]]) -> list[Drawn]:
    """The charts of a series: those of each kind of part, and of what is guessed.

    What is not promised is for the publisher: a chart of it would be taken for a promise by others.

    Parameters
    ----------
    series
        What was found.
    promise
        What the contract promises.
    kinds
        The kinds of parts that the releases are attacked for.
    """
    drawn = []
    for chart, part in ((chart, promise.part(kind)) for kind in kinds for chart in kind.charts):
        if chart.only_promised and part is None:
            continue
        is_promised = part is not None
        if chart.bars:
            if svg := _bars(series, chart, part):
                internal = chart.is_internal or not is_promised
                drawn.append(Drawn(chart.caption, svg, is_promised, internal))
            continue
        shown = _over(series, chart, part)
        if shown.lines:
            drawn.append(_drawn(shown, is_promised=is_promised, is_internal=chart.is_internal))
    guessed = [release.guesses for release in series.releases]
    if any(guessed):
        caption = (
            "The share of people whose value is guessed right, with learning from the groups and without."
        )
        lines = {words: tuple(getattr(one, part, None) for one in guessed) for part, words in GUESSES.items()}
        axis, names = "share guessed right", tuple(release.name for release in series.releases)
        shown = OverReleases(caption, axis, names, lines, top=1.0)
        drawn.append(_drawn(shown, is_promised=False, is_internal=False))
    return drawn


def _over(series: AttackedSeries, chart: Chart, part: Part | None) -> OverReleases:
    """A chart over releases, with the level that each of them promised; else that of the contract."""
    releases = {release.name: release.attack.figures for release in series.releases}
    judged_by = list(series.promised)[-len(releases) :]
    promised: list[Part | None] = [] if part is None else [one.part(type(part)) for one in judged_by]
    if part is not None and not any(promised):
        promised = [part] * len(releases)
    changed = dict.fromkeys(changes_of(judged_by), "another promise")
    return over_releases(chart, releases, promised, changed)


def _drawn(chart: OverReleases, *, is_promised: bool, is_internal: bool) -> Drawn:
    """A picture of what moves; of what stays as it is, the figures in words."""
    internal = is_internal or not is_promised
    if chart.moves:
        return Drawn(chart.name, as_svg(chart), is_promised, internal)
    return Drawn(in_words(chart), "", is_promised, internal)


def _bars(series: AttackedSeries, chart: Chart, part: Part | None) -> str:
    """A bar for each figure of a list; those that break what is promised stand out."""
    sizes = series.figures.get(chart.bars or "") or []
    promised = [own for promise in series.promised if part and (own := promise.part(type(part)))]
    every = promised or ([] if part is None else [part])
    levels = list(dict.fromkeys(map(chart.level, every))) if chart.level else []

    def drawn(axes: Any) -> None:
        colours = [(RED if size < min(levels) else BLUE) if levels else GREY for size in sizes]
        axes.bar(range(len(sizes)), sizes, color=colours, width=0.9)
        for level in levels:
            name = promised_level(chart, level)
            axes.axhline(level, color=RED, linewidth=1, linestyle="--", label=name)
        axes.set_xlabel(chart.over)
        axes.set_ylabel(chart.axis)
        for axis in (axes.xaxis, axes.yaxis):
            axis.get_major_locator().set_params(integer=True)

    if not sizes:
        return ""
    page = io.BytesIO()
    draw(Plot(chart.caption, drawn), page, "svg")
    text = page.getvalue().decode()
    return text[text.index("<svg") :]
