"""The risk of Definition 14 of the m-invariance paper, on tiny instances: a yardstick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import polars as pl

from republish.anonymize.attack.surjections import Row
from republish.anonymize.formats.published import Published
from tests.papers.every_key import reconstructions
from tests.papers.surjections import posterior


def disclosure_risk(
    people: pl.DataFrame, releases: Sequence[Published], *, invariant: bool
) -> dict[Row, Fraction]:
    """risk(t) = nbreach(t) / ntotal of every tuple, exactly.

    Parameters
    ----------
    people, releases, invariant
        As for `reconstructions`. The values of `people` are the true ones.

    Raises
    ------
    ValueError
        If no reasonable surjection exists: this was not published of these people.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 14.
    """
    return _true_values(reconstructions(people, releases, invariant=invariant))


def instance_risk(
    people: pl.DataFrame, releases: Sequence[Published], *, invariant: bool
) -> dict[Row, Fraction]:
    """The share of possible microdata instances, each counted once, in which a tuple has its true value.

    Not what the paper bounds. An instance that more surjections rebuild counts no more than another, and
    counterfeits are not told apart; under m-invariance this share can be above 1/m.

    Parameters
    ----------
    people, releases, invariant
        As for `disclosure_risk`.

    Raises
    ------
    ValueError
        As `disclosure_risk`.
    """
    return _true_values(dict.fromkeys(reconstructions(people, releases, invariant=invariant), 1))


def _true_values(instances: Mapping[frozenset, int]) -> dict[Row, Fraction]:
    if not instances:
        raise ValueError("no microdata of these people can have been published as these releases")
    return {row: values.get(row[1], Fraction(0)) for row, values in posterior(instances).items()}
