"""The charts of a report: what is promised, over releases. What does not move is said in words."""

from __future__ import annotations

from dataclasses import dataclass

from republish.anonymize.promise import Part, Promise
from republish.orchestration.audit.findings import AttackedSeries
from republish.orchestration.drawing import as_svg
from republish.orchestration.over_releases import changes_of, in_words, over_releases


@dataclass(frozen=True)
class Drawn:
    """A chart of a series."""

    caption: str
    """In words, and with the figures in words where there is no picture of them."""
    svg: str
    """Empty where nothing moves."""


def of_series(series: AttackedSeries, promise: Promise) -> list[Drawn]:
    """The charts of what the contract promises; one of anything else would be taken for a promise, too.

    Parameters
    ----------
    series
        What was found.
    promise
        What the contract promises.
    """
    figures = {release.name: release.attack.figures for release in series.releases}
    judged_by = list(series.promised)[-len(figures) :]
    changed = dict.fromkeys(changes_of(judged_by), "another promise")
    charts = []
    for part in promise:
        promised: list[Part | None] = [one.part(type(part)) for one in judged_by]
        if not any(promised):
            promised = [part] * len(figures)
        charts += [over_releases(chart, figures, promised, changed) for chart in part.charts]
    return [
        Drawn(chart.name, as_svg(chart)) if chart.moves else Drawn(in_words(chart), "")
        for chart in charts
        if chart.lines
    ]
