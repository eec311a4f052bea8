"""Exact disclosure risk of a few people: every reasonable surjection, counted.

It takes time exponential in the number of people. `anonymize/attack/surjections.py` counts the same in fewer
steps, and is compared with this.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from math import factorial, prod
from operator import itemgetter
from typing import Any

from republish.anonymize.attack.surjections import Contents, Row

_VALUE = itemgetter(0)
"""Of what a row was mapped to: a value and a signature."""


def rebuild(
    releases: Sequence[tuple[Mapping[Row, Sequence[Any]], Contents]],
    *,
    invariant: bool,
) -> dict[frozenset[Any], int]:
    """Rebuild every possible microdata instance; count the reasonable surjections that rebuild each.

    Parameters
    ----------
    releases
        For each release the rows present, with the groups that may hold them, and what all groups hold.
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
    # What a row was mapped to never changes: a state is the choices of all rows met so far, in their order.
    rows: list[Row] = []
    states: dict[tuple[Any, ...], int] = {(): 1}
    for hosts, contents in releases:
        states = _extend(states, rows, hosts, contents, invariant=invariant)
        rows += [row for row in hosts if row not in rows]
    instances: Counter[Any] = Counter()
    for state, count in states.items():
        instances[tuple(map(_VALUE, state))] += count
    return {frozenset(zip(rows, values, strict=True)): count for values, count in instances.items()}


def posterior(instances: Mapping[frozenset[Any], int | Fraction]) -> dict[Row, dict[Hashable, Fraction]]:
    """Compute the probability of every value of every row from weighted instances, as of `rebuild`."""
    weights: dict[Row, dict[Hashable, Any]] = defaultdict(lambda: defaultdict(int))
    for instance, weight in instances.items():
        for row, value in instance:
            weights[row][value] += weight
    total = sum(instances.values())
    return {
        row: {value: Fraction(weight) / Fraction(total) for value, weight in values.items()}
        for row, values in weights.items()
    }


def _extend(
    states: dict[tuple[Any, ...], int],
    rows: Sequence[Row],
    hosts: Mapping[Row, Sequence[Any]],
    contents: Contents,
    *,
    invariant: bool,
) -> dict[tuple[Any, ...], int]:
    """Map the tuples of one more release onto the rows present in it, in every way."""
    held = defaultdict(set)
    for group, value in contents.tuples:
        held[group].add(value)
    signatures = {group: frozenset(values) for group, values in held.items()}
    met = {row: position for position, row in enumerate(rows) if row in hosts}
    extended: dict[tuple[Any, ...], int] = {}
    # Instances that differ in absent rows alone go on in the same ways.
    found: dict[tuple[Any, ...], dict[tuple[Any, ...], int]] = {}
    for state, count in states.items():
        present = tuple([state[position] for position in met.values()])
        if present not in found:
            known = dict(zip(met, present, strict=True))
            found[present] = _surjections(hosts, contents, signatures, known, invariant)
        for new, ways in found[present].items():
            extended[state + new] = count * ways
    return extended


def _surjections(
    hosts: Mapping[Row, Sequence[Any]],
    contents: Contents,
    signatures: dict[Any, Any],
    known: Mapping[Row, tuple[Any, ...]],
    invariant: bool,
) -> dict[tuple[Any, ...], int]:
    """The new rows' values and signatures, and how many mappings of one release's tuples give them."""
    # Rows with the fewest choices first: dead ends show early.
    choices = {row: _choices(groups, signatures, known.get(row), invariant) for row, groups in hosts.items()}
    rows = sorted(choices, key=lambda row: len(choices[row]))
    left = dict(contents.tuples)
    found: Counter[tuple[Any, ...]] = Counter()
    room = Counter({group: -count for group, count in contents.counterfeits.items()})
    for (group, _), count in left.items():
        room[group] += count
    # Tuples left over are counterfeits; B(n) knows their groups, and any order of them will do.
    forgeries = prod(factorial(count) for count in contents.counterfeits.values())

    def place(at: int, ways: int, assigned: tuple[Any, ...]) -> None:
        if at == len(rows):
            if not any(room.values()):
                found[assigned] += ways * forgeries
            return
        for group, value in choices[rows[at]]:
            count = left[group, value]
            if count > 0 and room[group] > 0:
                left[group, value], room[group] = count - 1, room[group] - 1
                signature = signatures[group] if invariant else None
                place(at + 1, ways * count, (*assigned, (value, signature)))
                left[group, value], room[group] = count, room[group] + 1

    place(0, 1, ())
    new = [rows.index(row) for row in hosts if row not in known]
    return {tuple([assigned[at] for at in new]): ways for assigned, ways in found.items()}


def _choices(
    groups: Sequence[Any], signatures: dict[Any, Any], known: tuple[Any, ...] | None, invariant: bool
) -> list[tuple[Any, ...]]:
    """The tuples, by group and value, that can be a row's, given what it was mapped to before."""
    return [
        (group, value)
        for group in groups
        for value in signatures[group]
        if known is None or (known[0] == value and (known[1] == signatures[group] or not invariant))
    ]
