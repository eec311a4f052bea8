"""Plots of section 5.2 of the m-invariance paper: what was measured over time, and against r and m."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.papers_tables import error, with_m, with_r

STYLE = {"occupation": "-", "income": "--"}
PAPER_ERROR = 0.1
"""The largest error at any time, in the paper's words."""


def draw(measured: pl.DataFrame, folder: Path) -> None:
    """Draw what there is to draw into `counterfeits.svg`, `error.svg` and `seconds.svg`.

    Parameters
    ----------
    measured
        What `benchmarks.papers_series.measure` yielded.
    folder
        Is made if it isn't there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plots: dict[str, list[Callable[[Axes, pl.DataFrame], None]]] = {
        "counterfeits": [_counterfeits_over_time, _counterfeits_against_m],
        "seconds": [_seconds_against_r, _seconds_against_m],
    }
    if "evenly" in measured.columns:
        plots["error"] = [_error_over_time, _error_against_m]
    for name, panels in plots.items():
        figure = Figure(figsize=(9.6, 3.6), layout="constrained")
        for axes, panel in zip(figure.subplots(1, len(panels)), panels, strict=True):
            panel(axes, measured)
            axes.legend(fontsize=7)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


def _counterfeits_over_time(axes: Axes, measured: pl.DataFrame) -> None:
    for (sensitive,), rows in _by(with_r(measured).filter(r=measured["r"].min()), "sensitive"):
        axes.plot(rows["release"], rows["counterfeits"], STYLE[sensitive], label=sensitive)
    axes.set_xlabel(f"release, m = 10, r = {measured['r'].min():,}")
    axes.set_ylabel("counterfeits")


def _counterfeits_against_m(axes: Axes, measured: pl.DataFrame) -> None:
    _against(axes, with_m(measured), "m", pl.col("counterfeits").mean())
    axes.set_ylabel("counterfeits per release")


def _error_over_time(axes: Axes, measured: pl.DataFrame) -> None:
    lowest, highest = measured["r"].min(), measured["r"].max()
    for (sensitive, r), rows in _by(with_r(measured), "sensitive", "r"):
        if r in (lowest, highest):
            _over_time(axes, rows, "evenly", STYLE[sensitive], f"{sensitive}, r = {r:,}")
        if r == lowest and "estimated" in rows.columns:
            _over_time(axes, rows, "estimated", ":", f"{sensitive}, republish estimate")
    axes.axhline(PAPER_ERROR, color="grey", linewidth=0.8, label="the paper: at most")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("release, m = 10")
    axes.set_ylabel("median relative error, selectivity 10 %")


def _over_time(axes: Axes, rows: pl.DataFrame, estimator: str, style: str, label: str) -> None:
    found = rows.filter(pl.col(estimator).is_not_null()).select("release", error(estimator))
    axes.plot(found["release"], found[estimator], style, marker=".", label=label)


def _error_against_m(axes: Axes, measured: pl.DataFrame) -> None:
    asked = with_m(measured).filter(pl.col("evenly").is_not_null())
    _against(axes, asked, "m", error().mean())
    axes.set_ylim(bottom=0)
    axes.set_ylabel("median relative error, selectivity 10 %")


def _seconds_against_r(axes: Axes, measured: pl.DataFrame) -> None:
    _against(axes, with_r(measured), "r", pl.col("seconds").median())
    axes.set_ylim(bottom=0)
    axes.set_ylabel("seconds of all processors")


def _seconds_against_m(axes: Axes, measured: pl.DataFrame) -> None:
    _against(axes, with_m(measured), "m", pl.col("seconds").median())
    axes.set_ylim(bottom=0)
    axes.set_ylabel("seconds of all processors")


def _against(axes: Axes, rows: pl.DataFrame, by: str, figure: pl.Expr) -> None:
    for (sensitive,), part in _by(rows, "sensitive"):
        found = part.group_by(by).agg(figure.alias("figure")).sort(by)
        axes.plot(found[by], found["figure"], STYLE[sensitive], marker="o", label=sensitive)
    axes.set_xlabel(by)


def _by(rows: pl.DataFrame, *columns: str):
    return rows.group_by(columns, maintain_order=True)
