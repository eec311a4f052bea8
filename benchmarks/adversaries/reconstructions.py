"""The risk of Definition 14 on tiny instances: every reasonable surjection of everybody, counted at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import polars as pl

from anonymize.attack.risk import Contents, Row, posterior, rebuild
from anonymize.formats.published import Published


def reconstructions(
    people: pl.DataFrame, releases: Sequence[Published], *, invariant: bool
) -> dict[frozenset, int]:
    """Every possible microdata instance, with the number of reasonable surjections that rebuild it.

    Parameters
    ----------
    people
        `release` (counted from 1), `person`, `value`, one column of codes per quasi-identifier: who was
        in which T(j). A person with two values is two rows of B(n), each with its own lifespan.
    releases
        T*(1), …, T*(n).
    invariant
        As for `rebuild`.
    """
    present = (people.filter(pl.col("release") == number) for number in range(1, len(releases) + 1))
    return rebuild(
        [
            (_covering(here, published), Contents.of(published))
            for here, published in zip(present, releases, strict=True)
        ],
        invariant=invariant,
    )


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


def _covering(present: pl.DataFrame, published: Published) -> dict[Row, list]:
    """The groups that cover each row."""
    names = [column.removesuffix("_low") for column in published.boxes.columns if column.endswith("_low")]
    pairs = present.join(published.boxes, how="cross").filter(
        pl.col(f"{name}_low").le(pl.col(name)) & pl.col(name).le(pl.col(f"{name}_high")) for name in names
    )
    hosts: dict[Row, list] = {row: [] for row in present.select("person", "value").iter_rows()}
    for person, value, group in pairs.select("person", "value", "group_id").unique().sort("group_id").rows():
        hosts[person, value].append(group)
    return hosts
