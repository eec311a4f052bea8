"""Tables of section 5.2 of the m-invariance paper: what was measured, beside what the paper's text says."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

SELECTIVITY = 0.1
"""The expected selectivity of the paper's Figures 7 and 8b."""
IN_FIGURE = "figure, not in the text"
TOCC_TSAL = {"occupation": ("10", "51 of 81"), "income": ("12", "33 of 81")}
"""The paper's Tocc and Tsal with r = 5,000 and m = 10: most counterfeits, and releases without any."""
Titled = tuple[str, pl.DataFrame]


def with_r(measured: pl.DataFrame) -> pl.DataFrame:
    """The rows of the series with m = 10, in order of r and release.

    Parameters
    ----------
    measured
        What `benchmarks.papers_series.measure` yielded. Of a release measured twice, the last counts.
    """
    return _once(measured).filter(m=10).sort("sensitive", "r", "release", descending=[True, False, False])


def with_m(measured: pl.DataFrame) -> pl.DataFrame:
    """The rows of the series with the smallest r, of the releases that all of them have, in order of m."""
    rows = _once(measured).filter(r=measured["r"].min())
    last = rows.group_by("sensitive", "m").agg(pl.col("release").max())["release"].min()
    return rows.filter(pl.col("release") <= last).sort(
        "sensitive", "m", "release", descending=[True, False, False]
    )


def error(estimator: str = "evenly", selectivity: float = SELECTIVITY) -> pl.Expr:
    """The median relative error at a selectivity; null in releases in which nothing was asked."""
    return pl.col(estimator).struct.field(f"{selectivity:g}").alias(estimator)


def counterfeits(measured: pl.DataFrame) -> Iterator[Titled]:
    """Figures 5 and 6: counterfeits over time, and against r and m."""
    held = pl.col("counterfeits")
    most = {sensitive: most for sensitive, (most, _) in TOCC_TSAL.items()}
    without = {sensitive: number for sensitive, (_, number) in TOCC_TSAL.items()}
    column = pl.col("sensitive")
    yield (
        "Counterfeits over time, m = 10, smallest r (Figure 5)",
        _series(with_r(measured).filter(r=measured["r"].min()), "sensitive")
        .agg(_releases(), mean=held.mean(), most=held.max(), without=(held == 0).sum())
        .with_columns(
            column.replace_strict(most).alias("paper: most"),
            column.replace_strict(without).alias("paper: without"),
        ),
    )
    of_r = _series(with_r(measured), "sensitive", "r").agg(_releases(), mean=held.mean(), most=held.max())
    says = pl.when(pl.col("r") >= 20_000).then(pl.lit("0")).otherwise(pl.lit(IN_FIGURE))
    yield "Counterfeits against r, m = 10 (Figure 6a)", of_r.with_columns(says.alias("paper: mean"))
    of_m = _series(with_m(measured), "sensitive", "m").agg(_releases(), mean=held.mean(), most=held.max())
    says = pl.lit("at most 2.5")
    yield "Counterfeits against m, smallest r (Figure 6b)", of_m.with_columns(says.alias("paper: mean"))


def errors(measured: pl.DataFrame) -> Iterator[Titled]:
    """Figures 7 and 8: the error of counts over time, and against selectivity and m."""
    if "evenly" not in measured.columns:
        return
    of_r = with_r(measured)
    estimated = [error("estimated")] if "estimated" in measured.columns else []
    first = of_r.filter(r=measured["r"].min())
    tenths = first.filter(pl.col("release") % 10 == 1).select("sensitive", "release", error(), *estimated)
    says = pl.lit("at most 10 %").alias("paper")
    yield "Median relative error, m = 10, smallest r, 10 % (Figure 7)", tenths.with_columns(says)
    asked = of_r.filter(pl.col("evenly").is_not_null())
    yield (
        "The same against r",
        _series(asked, "sensitive", "r")
        .agg(asked=pl.len(), mean=error().mean(), first=error().first(), largest=error().max())
        .with_columns(says),
    )
    both = first.filter(pl.col("evenly").is_not_null(), *(one.is_not_null() for one in estimated))
    of_selectivity = pl.concat(
        _series(both, "sensitive").agg(
            selectivity=pl.lit(f"{share:.0%}"),
            asked=pl.len(),
            evenly=error("evenly", share).mean(),
            **{"estimated": error("estimated", share).mean()} if estimated else {},
        )
        for share in sorted(float(field.name) for field in measured.schema["evenly"].fields)
    ).sort("sensitive", descending=True, maintain_order=True)
    says = pl.lit(f"smaller for larger ones; {IN_FIGURE}").alias("paper")
    yield "Mean over releases, against selectivity (Figure 8a)", of_selectivity.with_columns(says)
    asked = with_m(measured).filter(pl.col("evenly").is_not_null())
    says = pl.lit(f"smaller for smaller m; {IN_FIGURE}").alias("paper")
    yield (
        "Mean over releases, against m, smallest r, 10 % (Figure 8b)",
        _series(asked, "sensitive", "m")
        .agg(asked=pl.len(), evenly=error().mean(), ncp=pl.col("ncp").mean())
        .with_columns(says),
    )


def seconds(measured: pl.DataFrame) -> Iterator[Titled]:
    """Figure 9: seconds of all processors for a release, against r and m."""
    spent = pl.col("seconds")
    says = pl.lit("at most 12").alias("paper")
    for title, rows, by in (
        ("Seconds a release, m = 10, against r (Figure 9a)", with_r(measured), "r"),
        ("Seconds a release, smallest r, against m (Figure 9b)", with_m(measured), "m"),
    ):
        found = _series(rows, "sensitive", by).agg(
            _releases(), median=spent.median(), mean=spent.mean(), most=spent.max()
        )
        yield title, found.with_columns(says)


TABLES = {"counterfeits": counterfeits, "error": errors, "seconds": seconds}
"""The parts of the section, and their tables."""


def _once(measured: pl.DataFrame) -> pl.DataFrame:
    return measured.unique(["sensitive", "m", "r", "live", "release"], keep="last", maintain_order=True)


def _series(rows: pl.DataFrame, *by: str) -> pl.dataframe.group_by.GroupBy:
    return rows.group_by(by, maintain_order=True)


def _releases() -> pl.Expr:
    return pl.col("release").max().alias("releases")
