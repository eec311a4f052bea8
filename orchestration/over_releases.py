"""Figures of the parts of a promise over the releases of a series, beside what was promised, as charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from republish.anonymize.plot import OverReleases
from republish.anonymize.promise import Part, Promise
from republish.anonymize.promise.part import Chart
from republish.orchestration.written import figure


def over_releases(
    chart: Chart,
    figures: Mapping[str, Mapping[str, Any]],
    promised: Sequence[Part | None],
    changed: Mapping[int, str],
) -> OverReleases:
    """The curves of a chart, as far as any release has their figures, and the promised level of each release.

    Parameters
    ----------
    chart
        What a kind of part declares.
    figures
        Those of each release's attack, by the release's name.
    promised
        The part of that kind that each release promised, or None. Empty where it is promised no more.
    changed
        What changed with which release.
    """
    lines = {curve.words: tuple(one.get(curve.figure) for one in figures.values()) for curve in chart.curves}
    levels = tuple(None if part is None or chart.level is None else chart.level(part) for part in promised)
    return OverReleases(
        chart.caption,
        chart.axis,
        tuple(figures),
        {name: line for name, line in lines.items() if any(line)},
        levels,
        _promise(chart, levels),
        changed,
        chart.top,
    )


def in_words(chart: OverReleases) -> str:
    """A chart in which nothing moves, in place of straight lines."""
    same = ", ".join(
        f"{name}: {figure(next(one for one in line if one is not None))}"
        for name, line in chart.lines.items()
    )
    promised = f" ({chart.promise})" if chart.promise else ""
    return f"{chart.name} The same in every release: {same}.{promised}"


def what_changed(parameters: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """The parameters that are others than in the release before, by the place of the release.

    Examples
    --------
    >>> what_changed([{"m": 3, "spread": None}, {"m": 3, "spread": None}, {"m": 4, "spread": None}])
    {2: 'm 3 → 4'}
    """
    pairs = enumerate(pairwise(parameters), start=1)
    said = {
        place: ", ".join(
            f"{name} {before.get(name, 'none')} → {after.get(name, 'none')}"
            for name in {**before, **after}
            if before.get(name) != after.get(name)
        )
        for place, (before, after) in pairs
    }
    return {place: words for place, words in said.items() if words}


def changes_of(promises: Sequence[Promise]) -> list[int]:
    """The places of the releases that promised something else than the one before."""
    pairs = enumerate(pairwise(promises), start=1)
    return [place for place, (before, after) in pairs if before != after]


def _promise(chart: Chart, levels: Sequence[float | None]) -> str:
    first, *others = dict.fromkeys(level for level in levels if level is not None) or [None]
    if first is None:
        return ""
    return ", ".join((f"promised: {chart.bound} {first:.3g}", *(f"{level:.3g}" for level in others)))
