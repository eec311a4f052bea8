"""Cuts that depend on values: the global guarantee, and who knows how it cuts.

A group is cut in two if both parts may be published. That depends on values, so a group that is not cut says
something of them to adversaries who know the algorithm. First releases, in which everybody may be placed.
*Exactly*: every table with the same values is tried, people on a line; the largest probability of anybody's
value. *From each group*: which arrangements of a group's values would not have been cut further, for groups
of at most eight census-like people with unrelated values. *Right* are guesses at the likeliest value; *by
share*, at the most frequent one of the group. *By lot*: groups that look at no value
(`benchmarks/adversaries/by_lot.py`). NCP is the share of its domain that an interval covers. *Values left*:
of people whose value stays, after ten releases that are intersected, of which nothing is promised.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from benchmarks.adversaries.by_lot import groups_by_lot
from benchmarks.adversaries.every_table import as_published, orders_within_colors, worst_posterior
from benchmarks.census import DOMAINS, QUASI_IDENTIFIERS, census
from benchmarks.tables import Table, main
from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.global_guarantee.partition import partition
from republish.anonymize.kernels.accounts import Accounts

QUICK = {"people": 300, "tiny": 1, "releases": 2}
TINY = ((0, 0, 1, 1), (0, 0, 1, 2, 3), (0, 0, 1, 1, 2, 3), (0, 0, 1, 2, 3, 4), (0, 0, 1, 1, 2, 2))
LINES = ((0, 1, 2, 3, 4, 5), (0, 1, 5, 6, 7, 20))
"""Where the people of a tiny table are."""
SHARES = {"minimum, l = 2": 1 / 2, "minimum, l = 3": 1 / 3, "geometric, a = 0.5, l = 2": 1 - 2**-0.5}
PLAN = {"constant ratio, k' = 20, l = 2": 1 - 2**-0.05}
"""The share of a value that a first release allows in a group."""
LARGEST = 8


def cut_groups(color: Ints, shares: Floats, most: float) -> np.ndarray:
    """The groups of a first release, as the principle cuts them."""
    none, people = np.zeros(len(color), np.int64), len(color)
    accounts = Accounts(
        first=none,
        last=none,
        link_value=np.zeros(0, np.int32),
        link_share=np.zeros(0),
        largest=np.full(people, most * (1 + 1e-12)),
        account=none - 1,
    )
    values = int(color.max()) + 1
    codes = np.ascontiguousarray(shares)
    return partition(accounts, color.astype(np.int32), codes, np.zeros(codes.shape[1]), values)


def uncut(values: Ints, shares: Floats, most: float) -> np.ndarray:
    """The arrangements of a group's values, one per row, with which it would not have been cut further."""
    arrangements = np.array(sorted(set(itertools.permutations(values.tolist()))))
    stays, people = np.ones(len(arrangements), bool), len(values)
    for column in shares.T:
        order = np.argsort(column, kind="stable")
        for k in range(1, people):
            parts = order[:k], order[k:]
            if column[order[k - 1]] == column[order[k]]:
                continue
            if sum(len(part) * _length(shares[part]) for part in parts) >= people * _length(shares):
                continue
            stays &= ~np.logical_and.reduce(
                [
                    (arrangements[:, part] == value).sum(axis=1) <= most * len(part) + 1e-9
                    for part in parts
                    for value in set(values.tolist())
                ]
            )
    return arrangements[stays]


def _length(shares: Floats) -> float:
    return float(np.ptp(shares, axis=0).sum())


def tables(people: int = 5_000, tiny: int = 5, releases: int = 10) -> Iterator[Table]:
    """Tiny tables exactly, groups of a large one, and what groups by lot would cost."""
    yield _exactly(tiny)
    yield _from_each_group(people)
    yield _cost(4 * people, releases)


def _exactly(tiny: int) -> Table:
    rows = []
    for colors, line in itertools.product(TINY[:tiny], LINES):
        near = np.array(line[: len(colors)], float).reshape(-1, 1) / 20
        publishers: tuple[Callable[[np.ndarray, np.ndarray], np.ndarray], ...] = (
            lambda color, _ranks, near=near: cut_groups(color, near, 1 / 2),
            lambda color, ranks, near=near: groups_by_lot(color, ranks, near, 1 / 2),
        )
        worst = [
            worst_posterior(
                lambda color, ranks, made=made: as_published(made(color, ranks), color),
                colors,
                orders_within_colors,
            )
            for made in publishers
        ]
        rows.append(["".join("abcde"[color] for color in colors), str(line[: len(colors)]), *map(str, worst)])
    return Table("Exactly, l = 2", ("values", "people at", "as it is", "by lot"), rows)


def _people(number: int, seed: int, values: int, skew: float) -> tuple[Ints, Floats]:
    """Values that have nothing to do with quasi-identifiers, and these as shares of their domains."""
    rng = np.random.default_rng(seed)
    weights = np.arange(1, values + 1) ** -skew
    ends = [DOMAINS[name] for name in QUASI_IDENTIFIERS]
    shares = census(max(number, 20_000)).sample(number, seed=seed).select(
        (pl.col(name) - low) / (high - low) for name, (low, high) in zip(QUASI_IDENTIFIERS, ends, strict=True)
    )  # fmt: skip
    return rng.choice(values, number, p=weights / weights.sum()), shares.to_numpy()


def _from_each_group(people: int) -> Table:
    rows = []
    for (strategy, most), values in itertools.product(SHARES.items(), (10, 50)):
        color, shares = _people(people, values, values, 0.5)
        group = cut_groups(color, shares, most)
        order = np.argsort(group, kind="stable")
        looked = above = certain = right = by_share = 0
        for members in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            if len(members) > LARGEST:
                continue
            left = uncut(color[members], shares[members], most)
            looked += len(members)
            by_share += int(np.bincount(color[members]).max())
            for person, column in zip(members, left.T, strict=True):
                likely = np.bincount(column) / len(column)
                above += likely.max() > 1 / int(strategy[-1]) + 1e-9
                certain += likely.max() == 1
                right += likely.argmax() == color[person]
        found = (f"{right / max(looked, 1):.3f}", f"{by_share / max(looked, 1):.3f}")
        rows.append([strategy, values, people / (group.max() + 1), looked, int(above), int(certain), *found])
    heads = ("strategy", "values", "average group", "looked at", "above 1/l", "certain", "right", "by share")
    return Table(f"From each group of {people:,} people", heads, rows)


def _cost(people: int, releases: int) -> Table:
    rows = []
    color, shares = _people(people, 7, 50, 0.05)
    for strategy, most in (PLAN | SHARES).items():
        if np.bincount(color).max() > most * people:
            continue
        for name, made in {
            "as it is": lambda _ranks, most=most: cut_groups(color, shares, most),
            "by lot": lambda ranks, most=most: groups_by_lot(color, ranks, shares, most),
        }.items():
            left = np.ones((people, 50), bool)
            for release in range(releases):
                ranks = np.random.default_rng(release).permutation(people).astype(np.uint64)
                group = made(ranks)
                there = np.zeros((group.max() + 1, 50), bool)
                there[group, color] = True
                left &= there[group]
            groups = int(group.max()) + 1
            rows.append(
                [f"{strategy}, {name}", people / groups, _ncp(group, shares), left.sum(axis=1).mean()]
            )
    heads = ("strategy, groups", "average group", "NCP", f"values left after {releases}")
    return Table(f"What it costs: {people:,} people, 50 values", heads, rows)


def _ncp(group: Ints, shares: Floats) -> float:
    boxes = pl.DataFrame(shares).with_columns(group=group).group_by("group")
    lengths = boxes.agg(pl.len().alias("people"), (pl.exclude("group").max() - pl.exclude("group").min()))
    mean = pl.mean_horizontal(pl.exclude("group", "people"))
    return lengths.select((mean * pl.col("people")).sum() / pl.col("people").sum()).item()


if __name__ == "__main__":
    main(tables)
