"""The audit's plots, as SVG to be put into a page."""

from __future__ import annotations

import io
from collections.abc import Callable

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from anonymize.contract import Product
from anonymize.principles import principle_of
from anonymize.promise import Promise
from orchestration.audit.findings import AttackedSeries

BLUE, RED, GREY = "#2b6cb0", "#c53030", "#718096"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "republish", "font.size": 9, "axes.spines.top": False}
STYLE |= {"axes.spines.right": False}
MOST_TICKS = 12


def candidates_over_time(series: AttackedSeries, contract: Product) -> str:
    """How many values an adversary is left with per person, release by release."""
    curves = ((0.0, "fewest", BLUE), (0.05, "5 % have no more", "#63a4dd"), (0.5, "median", GREY))

    def draw(axes: Axes) -> None:
        for share, label, colour in curves:
            line = [_quantile(release.attack.distribution, share) for release in series.releases]
            axes.plot(line, marker="o", markersize=3, label=label, color=colour)
        _require(axes, _promise(contract).candidates, "promised: at least")
        axes.set_ylabel("candidate values")
        axes.set_ylim(bottom=0)

    return _over_releases(series, draw)


def risk_over_time(series: AttackedSeries, contract: Product) -> str:
    """The largest risk found so far, release by release."""

    def draw(axes: Axes) -> None:
        figures = [release.attack.figures for release in series.releases]
        by_host = [figure.get("smallest_candidates_by_host") for figure in figures]
        axes.plot(
            [_reciprocal(figure["smallest_candidates"]) for figure in figures],
            marker="o",
            markersize=3,
            color=BLUE,
            label="knowing quasi-identifiers",
        )
        if any(by_host):
            axes.plot(
                [_reciprocal(left) for left in by_host],
                marker="s",
                markersize=3,
                color=GREY,
                label="knowing hosting groups",
            )
        breach = [figure.get("largest_breach_probability") for figure in figures]
        if any(breach):
            axes.plot(
                breach,
                marker="^",
                markersize=3,
                color="#b7791f",
                label="ever had it, if values changed freely",
            )
        _require(axes, _promise(contract).largest_share, "promised: at most")
        axes.set_ylabel("largest risk")
        axes.set_ylim(0, 1.05)

    return _over_releases(series, draw)


def equivalence_by_signature(series: AttackedSeries, contract: Product) -> str:
    """The smallest equivalence attack on each signature."""
    found = sorted(
        (one for one in series.equivalences if one.e is not None), key=lambda one: (one.e, one.at_least)
    )
    required = _promise(contract).equivalence

    def draw(axes: Axes) -> None:
        sizes = [one.e for one in found]
        colours = [RED if required and size < required else BLUE for size in sizes]
        axes.bar(range(len(sizes)), sizes, color=colours, width=0.9)
        _require(axes, required, "promised: at least")
        axes.set_xlabel("signatures, by e")
        axes.set_ylabel("smallest e")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))

    return _svg(draw) if found else ""


def _promise(contract: Product) -> Promise:
    return principle_of(contract).promise(contract.principle)


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
