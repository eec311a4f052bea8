"""What copies say of each part of the people, pooled into estimates with errors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.orchestration.readers.estimate.asking import ANSWER

FEW = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622)
"""The 97.5 % quantiles of Student's t with 1, 2, … degrees of freedom."""
Z = 1.959964
"""That of the normal distribution."""


@dataclass(frozen=True)
class Said:
    """What copies say, by release (R), part of the people (K) and copy (M)."""

    releases: Sequence[dt.date]
    parts: pl.DataFrame
    """What people are counted by, a row for each part, in order."""
    values: Floats
    """float64[R, K, M]: a count of nobody is 0; what has no answer is not finite."""
    is_there: Bools
    """bool[R, K]: whether some copy has anybody."""
    people: Ints
    """int64[R]: how many people there are."""
    is_count: bool
    of_dates: bool

    @classmethod
    def of(
        cls,
        answers: Iterable[pl.DataFrame],
        releases: Sequence[dt.date],
        people: Ints,
        names: Sequence[str],
        *,
        is_count: bool,
        of_dates: bool,
    ) -> Said:
        """Gather the answers of all copies of a release, then of the next one; `names` are those of keys."""
        found = [one.with_columns(copy=pl.lit(at), everybody=0) for at, one in enumerate(answers)]
        copies = len(found) // len(releases)
        table = pl.concat(found, how="vertical_relaxed")
        keys = table.columns[:-3]
        parts = table.drop("copy", ANSWER).unique().sort(keys or "everybody", nulls_last=True)
        table = table.join(parts.with_row_index("part"), on=parts.columns, nulls_equal=True)
        values = np.full((len(releases), len(parts), copies), 0.0 if is_count else np.nan)
        is_there = np.zeros(values.shape[:2], bool)
        release, copy = np.divmod(table["copy"].to_numpy(), copies)
        part = table["part"].to_numpy()
        values[release, part, copy] = table[ANSWER].cast(pl.Float64).fill_null(np.nan).to_numpy()
        is_there[release, part] = True
        named = parts.drop("everybody").rename(dict(zip(keys, names, strict=True)))
        return cls(releases, named, values, is_there, people, is_count, of_dates)

    def table(self) -> pl.DataFrame:
        """A row for each part of the people of each release."""
        release, part = np.nonzero(self.is_there)
        found = self._figures(self.values[release, part])
        if self.is_count:
            whole = self.values.sum(axis=1) if self.parts.width else self.people[:, None]
            with np.errstate(invalid="ignore"):
                share, error, _ = pooled_rows(self.values[release, part] / whole[release])
            found |= {"share": share.round(4), "share_error": error.round(4)}
        return self._framed(release, part, {}, found)

    def changes(self) -> pl.DataFrame:
        """A row for what changed from each release to the next, of each part of the people."""
        release, part = np.nonzero(self.is_there[1:] | self.is_there[:-1])
        after, before = self.values[release + 1, part], self.values[release, part]
        figures = self._figures(after - before, is_change=True)
        now = self._figures(after)
        name = next(iter(now))
        dates = {"before": self._dates(release)}
        return self._framed(release + 1, part, dates, {name: now[name], **figures})

    def undecided(self, *, of_changes: bool) -> int:
        """How many intervals of counts, or `of_changes`, are wider than half of the people there are."""
        if not self.is_count:
            return 0
        values = self.values[1:] - self.values[:-1] if of_changes else self.values
        is_there = self.is_there[1:] | self.is_there[:-1] if of_changes else self.is_there
        release, part = np.nonzero(is_there)
        mean, _, reach = pooled_rows(values[release, part])
        low = mean - reach if of_changes else np.maximum(mean - reach, 0)
        return int((mean + reach - low > self.people[release + of_changes] / 2).sum())

    def _figures(self, values: Floats, *, is_change: bool = False) -> dict[str, pl.Series | Floats]:
        """Estimates and errors of what copies say, float64[N, M], by the name of their column."""
        mean, error, reach = pooled_rows(values)
        low, high = mean - reach, mean + reach
        name = "change" if is_change else "people" if self.is_count else "estimate"
        if self.is_count:
            low, high = np.floor(low), np.ceil(high)
            ends = {"low": low if is_change else np.maximum(low, 0), "high": high}
            whole = {end: pl.Series(one.astype(np.int64)) for end, one in ends.items()}
            return {name: mean.round(1), "standard_error": error.round(1), **whole}
        rounded = _rounded(mean, error, low, high)
        if self.of_dates and not is_change:
            days = (rounded[0].round(0), rounded[2].floor(), rounded[3].ceil())
            rounded[0], *rounded[2:] = (one.cast(pl.Int32).cast(pl.Date) for one in days)
        return dict(zip((name, "standard_error", "low", "high"), rounded, strict=True))

    def _dates(self, release: Ints) -> pl.Series:
        return pl.Series(self.releases, dtype=pl.Date).gather(release)

    def _framed(
        self, release: Ints, part: Ints, first: dict[str, pl.Series], figures: dict[str, pl.Series | Floats]
    ) -> pl.DataFrame:
        keys = self.parts[part].get_columns() if self.parts.width else []
        named = {"release": self._dates(release), **{one.name: one for one in keys}, **first, **figures}
        return pl.DataFrame([pl.Series(name, one) for name, one in named.items()]).fill_nan(None)


def pooled_rows(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Pool what copies say, float64[N, M], as `pooled` does, leaving out those without an answer.

    Returns
    -------
    tuple
        Estimates, standard errors, and how far intervals of 95 % reach to either side, each float64[N]. They
        are NaN where half of the copies or more have no answer.

    References
    ----------
    Rubin, Multiple Imputation for Nonresponse in Surveys, 1987, section 3.1.
    """
    is_told = np.isfinite(values)
    number = is_told.sum(axis=1)
    most = 2 * number > values.shape[1]
    number = np.maximum(number, 2)
    mean = np.where(is_told, values, 0).sum(axis=1) / number
    between = (np.where(is_told, values - mean[:, None], 0) ** 2).sum(axis=1) / (number - 1)
    error = np.sqrt((1 + 1 / number) * between)
    quantiles = np.array([students_t(freedom) for freedom in range(1, values.shape[1])])
    mean, error = np.where(most, mean, np.nan), np.where(most, error, np.nan)
    return mean, error, quantiles[number - 2] * error


def students_t(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, to three decimals.

    References
    ----------
    Abramowitz and Stegun, Handbook of Mathematical Functions, 1964, 26.7.5.
    """
    if freedom <= len(FEW):
        return FEW[freedom - 1]
    steps = (
        Z,
        (Z**3 + Z) / 4,
        (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
        (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
    )
    return float(sum(step / freedom**power for power, step in enumerate(steps)))


def _rounded(*figures: Floats) -> list[pl.Series]:
    """Estimates, errors and both ends with three digits of the error, or with ten digits where there is none.

    Lower ends are rounded down, and upper ones up. What floating point leaves of an error is none.
    """
    found: list[list[float | None]] = []
    for mean, error, low, high in zip(*(one.tolist() for one in figures), strict=True):
        if not isfinite(mean):
            found.append([None] * 4)
        elif error <= abs(mean) * 1e-12:
            exact = float(f"{mean:.10g}")
            found.append([exact, 0.0, exact, exact])
        else:
            digits = 2 - floor(log10(error))
            step = 10.0**-digits
            ends = (floor(low / step) * step, ceil(high / step) * step)
            found.append([round(one, digits) for one in (mean, error, *ends)])
    names = ("estimate", "error", "low", "high")
    return pl.DataFrame(found, dict.fromkeys(names, pl.Float64), orient="row").get_columns()
