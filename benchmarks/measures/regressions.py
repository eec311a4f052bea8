"""Regressions on imputed tables, against those on the people themselves.

`republish impute` makes 20 tables of a release. Least squares on each of them are pooled by Rubin's rules. *A
value*: whether a person has it (1 or 0) is regressed on age and sex, for each of the 16 most frequent values.
*Education* is regressed on the same: no sensitive column is in it. The truth is the same regression on the
people who are in the release. *Slope kept* is the part of the true slopes that imputed ones show: 100 % would
be no bias, and where true slopes are next to nothing it means little. An interval at 95 % is right if the
true slope is in it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
import scipy.stats

from benchmarks.measures.estimates import last
from benchmarks.measures.estimator import DATE, estimating
from benchmarks.measures.means import EXACT, m_invariance, of_census, of_hospital, people_of
from benchmarks.real_data import adult, adult_contract, data_folder
from benchmarks.series import Made, contract_of
from benchmarks.tables import Table, main

QUICK = {"copies": 2, "words": ("a second hospital, m = 4",)}
VALUES = 16


def least_squares(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes [K, outcomes] of outcomes [N, outcomes] on columns [N, K], and the squares of their errors."""
    x = np.column_stack([np.ones(len(x)), x])
    inverse = np.linalg.inv(x.T @ x)
    slopes = inverse @ x.T @ y
    rest = ((y - x @ slopes) ** 2).sum(axis=0) / (len(x) - x.shape[1])
    return slopes[1:], (np.diag(inverse)[:, None] * rest)[1:]


def pooled(slopes: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rubin's rules: estimates, and half the widths of their intervals at 95 %, from those of each table.

    References
    ----------
    Rubin, Multiple Imputation for Nonresponse in Surveys, 1987, section 3.1.
    """
    tables = len(slopes)
    within, between = squares.mean(axis=0), (1 + 1 / tables) * slopes.var(axis=0, ddof=1)
    freedom = (tables - 1) * (1 + within / np.maximum(between, 1e-12)) ** 2
    return slopes.mean(axis=0), scipy.stats.t.ppf(0.975, freedom) * np.sqrt(within + between)


def measured(release: Made, copies: int) -> dict[tuple[str, str], np.ndarray]:
    """True slopes, pooled ones and half-widths, in rows, by outcome and by what the slopes are of."""
    people, sensitive = people_of(release), release.contract.sensitive.name
    sex = "sex" if "sex" in people.columns else "gender"
    values = people[sensitive].value_counts().sort("count", sensitive)[sensitive].to_list()[-VALUES:]

    def slopes(table: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        x = table.select(pl.col("age") / 10, pl.col(sex).rank("dense")).to_numpy().astype(float)
        others = [table["education"].to_numpy()] if people.schema.get("education") == pl.Int64 else []
        y = [*((table[sensitive] == value).to_numpy() for value in values), *others]
        return least_squares(x, np.column_stack(y).astype(float))

    with estimating(release.candidate.published, release.contract) as connection:
        tables = connection.sql(f"FROM estimate_copies({copies})").pl().partition_by("estimate_copy")
    (true, _), each = slopes(people), [slopes(table) for table in tables]
    found, half = pooled(np.array([one for one, _ in each]), np.array([square for _, square in each]))
    outcomes = {"a value": slice(0, len(values)), "education": slice(len(values), None)}
    return {
        (outcome, of): np.column_stack([part[row, columns] for part in (true, found, half)])
        for outcome, columns in outcomes.items()
        for row, of in enumerate(("age", "sex"))
        if true[row, columns].size
    }


def figures(rows: np.ndarray) -> list[str]:
    """Which part of the slopes is kept, and how many intervals are right."""
    true, found, half = rows.T
    return [f"{(true * found).sum() / (true**2).sum():.0%}", f"{(np.abs(found - true) <= half).mean():.0%}"]


def releases() -> Iterator[tuple[str, Callable[[], Made]]]:
    """What is measured, by name."""
    second, part = functools.partial(of_hospital, 1), functools.partial
    yield "m_invariance: demo, 6th release, m = 4", of_hospital
    yield "m_invariance: a second hospital, m = 4", second
    yield "m_invariance: a second hospital, m = 2", part(second, **m_invariance(2))
    yield "e_equivalence: a second hospital, m = 4", part(second, **EXACT)
    yield "m_invariance: census, occupation, m = 4", part(of_census, **m_invariance(4))
    yield "m_invariance: census, occupation, m = 10", part(of_census, **m_invariance(10))
    if folder := data_folder():
        contract = contract_of(adult_contract(folder), **m_invariance(4))
        yield "m_invariance: Adult, occupation, m = 4", lambda: last([(DATE, adult(folder))], contract)


def tables(copies: int = 20, words: tuple[str, ...] = ("",)) -> Iterator[Table]:
    """So many tables of each release whose name has one of the words."""
    rows = [
        [name, outcome, of, len(slopes), *figures(slopes)]
        for name, make in releases()
        if any(word in name for word in words)
        for (outcome, of), slopes in measured(make(), copies).items()
    ]
    heads = ("release", "outcome", "slope of", "slopes", "slope kept", "95% right")
    yield Table("Regressions on imputed tables", heads, rows)


if __name__ == "__main__":
    main(tables)
