"""Exact disclosure risk on tiny instances: every reasonable surjection, counted.

The yardstick for everything else. It takes time exponential in the number of people, so it loops over
people where no other module may.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from math import factorial, prod

import polars as pl

from anonymize.formats.published import Published

Row = tuple[Hashable, Hashable]
"""A row of the knowledge table B(n): a person and the value that tells apart a person's tuples."""
Reconstruction = Mapping[Row, Hashable]
"""A possible microdata instance: the value of every row."""


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
        Whether the deployed principle asks that all groups hosting a tuple have one signature
        (m-invariance does); an adversary then discards surjections that don't (Definition 13, 2).

    Returns
    -------
    dict
        Instances, as frozen sets of `(row, value)`, and how many surjections rebuild each.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definitions 9 to 13.
    """
    signatures = [_signatures(published) for published in releases]
    states = {frozenset(): 1}
    for release, published in enumerate(releases, start=1):
        present = people.filter(pl.col("release") == release)
        hosts = _covering(present, published)
        states = _extend(states, hosts, published, signatures[release - 1], invariant=invariant)
    instances: Counter = Counter()
    for state, count in states.items():
        instances[frozenset((row, value) for row, value, _ in state)] += count
    return dict(instances)


def posterior(instances: Mapping[frozenset, int | Fraction]) -> dict[Row, dict[Hashable, Fraction]]:
    """The probability of every value of every row, all surjections being equally likely.

    Parameters
    ----------
    instances
        What `reconstructions` returns, or the same instances with other weights.
    """
    weights: dict[Row, Counter] = defaultdict(Counter)
    for instance, weight in instances.items():
        for row, value in instance:
            weights[row][value] += weight
    total = sum(instances.values())
    return {
        row: {value: Fraction(weight) / Fraction(total) for value, weight in values.items()}
        for row, values in weights.items()
    }


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
    instances = reconstructions(people, releases, invariant=invariant)
    if not instances:
        raise ValueError("no microdata of these people can have been published as these releases")
    return {row: values.get(row[1], Fraction(0)) for row, values in posterior(instances).items()}


def _signatures(published: Published) -> dict[Hashable, frozenset]:
    signatures = published.values.group_by("group_id").agg(pl.col("value"))
    return {group: frozenset(values) for group, values in signatures.iter_rows()}


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


def _extend(
    states: dict[frozenset, int],
    hosts: dict[Row, list],
    published: Published,
    signatures: dict[Hashable, frozenset],
    *,
    invariant: bool,
) -> dict[frozenset, int]:
    """Map the tuples of one more release onto the rows present in it, in every way."""
    tuples = {(group, value): count for group, value, count in published.values.iter_rows()}
    counterfeits = dict(published.counterfeits.iter_rows())
    extended: Counter = Counter()
    for state, count in states.items():
        known = {row: (value, signature) for row, value, signature in state}
        for assigned, ways in _surjections(hosts, tuples, counterfeits, signatures, known, invariant).items():
            rows = known | dict(assigned)
            extended[frozenset((row, *found) for row, found in rows.items())] += count * ways
    return extended


def _surjections(hosts, tuples, counterfeits, signatures, known, invariant) -> Counter:
    """The rows' values and signatures, and how many mappings of one release's tuples give them."""
    # Rows with the fewest choices first: dead ends show early.
    choices = {row: _choices(groups, signatures, known.get(row), invariant) for row, groups in hosts.items()}
    rows = sorted(choices, key=lambda row: len(choices[row]))
    left, found = dict(tuples), Counter()
    room = Counter({group: -count for group, count in counterfeits.items()})
    for (group, _), count in tuples.items():
        room[group] += count
    # Tuples left over are counterfeits; B(n) knows their groups, and any order of them will do.
    forgeries = prod(factorial(count) for count in counterfeits.values())

    def place(at: int, ways: int, assigned: tuple) -> None:
        if at == len(rows):
            if not any(room.values()):
                found[assigned] += ways * forgeries
            return
        for group, value in choices[rows[at]]:
            count = left[group, value]
            if count > 0 and room[group] > 0:
                left[group, value], room[group] = count - 1, room[group] - 1
                signature = signatures[group] if invariant else None
                place(at + 1, ways * count, (*assigned, (rows[at], (value, signature))))
                left[group, value], room[group] = count, room[group] + 1

    place(0, 1, ())
    return found


def _choices(groups: list, signatures: dict, known: tuple | None, invariant: bool) -> list[tuple]:
    """The tuples, by group and value, that can be a row's, given what it was mapped to before."""
    return [
        (group, value)
        for group in groups
        for value in signatures[group]
        if known is None or (known[0] == value and (known[1] == signatures[group] or not invariant))
    ]
