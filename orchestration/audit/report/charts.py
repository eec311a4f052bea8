"""The audit's plots, as SVG to be put into a page."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from anonymize.promise.promise import Promise
from orchestration.audit.run import AttackedSeries

BLUE, RED, GREY = "#2b6cb0", "#c53030", "#718096"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "republish", "font.size": 9, "axes.spines.top": False}
STYLE |= {"axes.spines.right": False}
MOST_TICKS = 12


@dataclass(frozen=True)
class Chart:
    """A chart of a series."""

    caption: str
    svg: str
    is_promised: bool
    """Whether what it shows is promised. A line of what is promised is drawn in no other chart."""
    is_internal: bool = False
    """Whether it is left out of what is handed out."""


def of_series(series: AttackedSeries, promise: Promise) -> list[Chart]:
    """The charts of a series."""
    charts = []
    if series.in_groups:
        caption = "Values an adversary is left with per person, after intersecting all releases so far."
        charts.append(Chart(caption, candidates_over_time(series, promise), promise.candidates is not None))
        if promise.candidates is not None and promise.largest_share is not None:
            caption = "One by the fewest candidate values of anybody ever published, release by release."
            charts.append(Chart(caption, risk_over_time(series, promise), is_promised=True))
        if any(_breaches(series)):
            caption = "The largest probability with which anybody was ever linked to a value."
            drawn = breach_over_time(series, promise)
            charts.append(Chart(caption, drawn, promise.breach_probability is not None))
        if any(release.guesses for release in series.releases):
            caption = "Values guessed right, after learning from the groups and without."
            charts.append(Chart(caption, guesses_over_time(series), is_promised=False))
    if drawn := equivalence_by_signature(series, promise):
        caption = "The fewest people who are known to have the same values as others, for each signature."
        charts.append(Chart(caption, drawn, promise.equivalence is not None, is_internal=True))
    return charts


def candidates_over_time(series: AttackedSeries, promise: Promise) -> str:
    """How many values an adversary is left with per person, release by release."""
    curves = ((0.0, "fewest", BLUE), (0.05, "5 % have no more", "#63a4dd"), (0.5, "median", GREY))

    def draw(axes: Axes) -> None:
        for share, label, colour in curves:
            line = [_quantile(release.attack.distribution, share) for release in series.releases]
            axes.plot(line, marker="o", markersize=3, label=label, color=colour)
        _require(axes, promise.candidates, "promised: at least")
        axes.set_ylabel("candidate values")
        axes.set_ylim(bottom=0)

    return _over_releases(series, draw)


def risk_over_time(series: AttackedSeries, promise: Promise) -> str:
    """One by the fewest candidate values so far, release by release."""

    def draw(axes: Axes) -> None:
        figures = [release.attack.figures for release in series.releases]
        by_host = [figure.get("smallest_candidates_by_host") for figure in figures]
        fewest = [_reciprocal(figure["smallest_candidates"]) for figure in figures]
        axes.plot(fewest, marker="o", markersize=3, color=BLUE, label="knowing quasi-identifiers")
        if any(by_host):
            risks = [_reciprocal(left) for left in by_host]
            axes.plot(risks, marker="s", markersize=3, color=GREY, label="knowing hosting groups")
        _require(axes, promise.largest_share, "promised: at most")
        axes.set_ylabel("largest risk")
        axes.set_ylim(0, 1.05)

    return _over_releases(series, draw)


def breach_over_time(series: AttackedSeries, promise: Promise) -> str:
    """The largest breach probability so far: as if a person's value could be another one in each release."""

    def draw(axes: Axes) -> None:
        axes.plot(_breaches(series), marker="^", markersize=3, color=GREY, label="ever had it")
        _require(axes, promise.breach_probability, "promised: at most")
        axes.set_ylabel("breach probability")
        axes.set_ylim(0, 1.05)

    return _over_releases(series, draw)


def guesses_over_time(series: AttackedSeries) -> str:
    """The share of values that are guessed right, beside what is guessed right without learning."""
    curves = (
        ("learned", "learning from the groups", BLUE, "o"),
        ("from_truth", "learning from the true table, without groups", "#63a4dd", "v"),
        ("at_random", "at random among possible tuples", GREY, "s"),
        ("most_frequent", "the most frequent value", "#a0aec0", "^"),
    )

    def draw(axes: Axes) -> None:
        for part, label, colour, marker in curves:
            line = [getattr(release.guesses, part, None) for release in series.releases]
            axes.plot(line, marker=marker, markersize=3, color=colour, label=label)
        axes.set_ylabel("share guessed right")
        axes.set_ylim(0, 1.05)

    return _over_releases(series, draw)


def equivalence_by_signature(series: AttackedSeries, promise: Promise) -> str:
    """The smallest equivalence attack on each signature."""
    found = sorted(
        (one for one in series.equivalences if one.e is not None), key=lambda one: (one.e, one.at_least)
    )
    required = promise.equivalence

    def draw(axes: Axes) -> None:
        sizes = [one.e for one in found]
        colours = [(RED if size < required else BLUE) if required else GREY for size in sizes]
        axes.bar(range(len(sizes)), sizes, color=colours, width=0.9)
        _require(axes, required, "promised: at least")
        axes.set_xlabel("signatures, by e")
        axes.set_ylabel("smallest e")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))

    return _svg(draw) if found else ""


def _breaches(series: AttackedSeries) -> list[float | None]:
    return [release.attack.figures.get("largest_breach_probability") for release in series.releases]


def _over_releases(series: AttackedSeries, draw: Callable[[Axes], None]) -> str:
    names = [release.name for release in series.releases]

    def drawn(axes: Axes) -> None:
        draw(axes)
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


def _require(axes: Axes, level: float | None, words: str) -> None:
    if level:
        axes.axhline(level, color=RED, linewidth=1, linestyle="--", label=f"{words} {level:.3g}")


def _reciprocal(candidates: int | None) -> float | None:
    return 1 / candidates if candidates else None


def _quantile(distribution, share: float) -> int | None:
    """The number of candidates that at most this share of the people stay below."""
    if distribution.is_empty():
        return None
    reached = distribution["people"].cum_sum() >= max(1, share * distribution["people"].sum())
    return distribution["candidates"].filter(reached)[0]
