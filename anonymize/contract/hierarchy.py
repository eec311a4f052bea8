"""A hierarchy of labels: one path `leaf, parent, …, root` per leaf, from the tree's left to its right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from itertools import groupby
from typing import Any

from pydantic import ValidationError, ValidationInfo

from republish.anonymize.contract.hierarchy_rules import paths_by_rule

Paths = tuple[tuple[str, ...], ...]
"""One path `leaf, parent, …, root` per label."""


def read_hierarchy(declared: Any, validate: Callable[[Any], Paths], info: ValidationInfo) -> Paths:
    """A hierarchy, that of a file, or one by a rule."""
    paths = declared
    if isinstance(declared, str):
        paths = lines_of(declared, info)
    elif isinstance(declared, Mapping):
        paths = paths_by_rule(declared, partial(lines_of, info=info))
    try:
        return check_hierarchy(validate(paths))
    except ValueError as error:
        if isinstance(error, ValidationError) or not isinstance(declared, str):
            raise
        raise ValueError(f"{declared}, {error}") from None


def lines_of(name: str, info: ValidationInfo) -> list[list[str]]:
    """The lines of a file that a contract names, read by whoever may read files (the validation context)."""
    reader = (info.context or {}).get("read_hierarchy")
    if reader is None:
        raise ValueError(f"names a file ({name}), and there are no files here: list what is in it")
    lines: list[list[str]] = reader(name)
    return lines


def labels_at(paths: Paths, level: int) -> dict[str, str]:
    """The label of each leaf at a level, 0 for itself, in the tree's order.

    Raises
    ------
    ValueError
        If there is no such level, it is the root's, or a leaf is called as a label that it is not below.

    Examples
    --------
    >>> labels_at((("flu", "lungs", "any"), ("gout", "joints", "any")), 1)
    {'flu': 'lungs', 'gout': 'joints'}
    """
    depth = len(paths[0])
    if not 0 <= level < depth - 1:
        raise ValueError(f"must be 0 to {depth - 2}: the hierarchy has {depth} levels, the last is its root")
    labels = {path[0]: path[level] for path in paths}
    groups = set(labels.values())
    if level and (both := [leaf for leaf, label in labels.items() if leaf in groups and leaf != label]):
        raise ValueError(
            f"makes {both[0]} ambiguous: it is a value, and the name of a group of others. Rename one of them"
            " in the hierarchy"
        )
    return labels


@lru_cache(maxsize=32)
def cells_of(paths: Paths, fewest: int) -> tuple[int, ...]:
    """The first leaf of each cell: what intervals are made of, so that they end where groups of the tree do.

    A group of `fewest` leaves or more has cells of its own, whatever its level: they end where it does.
    Within the smallest such groups, leaves are taken `fewest` at a time. Where a group has fewer, it is
    joined with those after it in the same parent until they have enough; what is left over before a group
    that has enough, or at the parent's end, belongs to the cell before it, and to the first one after it
    where there is none before. So no cell has fewer leaves, unless there are no more.

    Parameters
    ----------
    paths
        A hierarchy's, in its order.
    fewest
        At least 1.

    Returns
    -------
    tuple
        Positions in `paths`, ascending from 0.

    Examples
    --------
    Two regions of three and of five towns, two at a time, and an island that is too small:

    >>> towns = [(str(at), "north" if at < 3 else "south", "any") for at in range(8)]
    >>> cells_of((*towns, ("8", "island", "any")), 2)
    (0, 3, 5)
    >>> cells_of((*towns, ("8", "island", "any")), 4)
    (0,)
    """
    return tuple(_cells(paths, len(paths[0]) - 1, 0, len(paths), fewest))


def _cells(paths: Paths, level: int, first: int, after: int, fewest: int) -> list[int]:
    """The first leaf of each cell of a group, whose leaves are those from `first` on and before `after`."""
    if level == 0 or after - first < 2 * fewest:
        return [first]
    starts: list[int] = []
    begin, since = first, first  # of a group in it; and of the small groups before it that are no cell yet
    for _, leaves in groupby(paths[first:after], key=lambda path: path[level - 1]):
        end = begin + sum(1 for _ in leaves)
        if end - begin >= fewest:
            own = _cells(paths, level - 1, begin, end, fewest)
            starts += own if starts else [first, *own[1:]]
            since = end
        elif end - since >= fewest:
            starts.append(since)
            since = end
        begin = end
    return starts or [first]


AS_DEEP = (
    "all have as many; a shorter line repeats its first label (I10;I10;all beside C50.9;C50;all), and a"
    " longer one leaves out a label between the first and the last"
)
"""What to do with the codes of a classification, which are not equally deep."""


def check_hierarchy(paths: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """The paths from the tree's left to its right, if they are one tree with leaves all equally deep."""
    if not paths:
        raise ValueError("holds no labels")
    first_lines: dict[tuple[int, str], tuple[int, tuple[str, ...]]] = {}
    for line, path in enumerate(paths, start=1):
        if not path:
            raise ValueError(f"line {line}: holds no labels; a line is a label and those above it, root last")
        if len(path) != len(paths[0]):
            raise ValueError(f"line {line}: has {len(path)} labels, line 1 has {len(paths[0])}: {AS_DEEP}")
        if path[-1] != paths[0][-1]:
            raise ValueError(f"line {line}: ends in the root {path[-1]}, line 1 in {paths[0][-1]}")
        for level, node in enumerate(path):
            before, above = first_lines.setdefault((level, node), (line, path[level:]))
            if level == 0 and before != line:
                raise ValueError(f"line {line}: {node} is in line {before} already")
            if above != path[level:]:
                raise ValueError(f"line {line}: {node} has another parent than in line {before}")
    return _from_left_to_right(paths)


def _from_left_to_right(paths: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """The paths with siblings side by side, in the order in which each part of the tree is first named.

    A file may name its leaves in any order; intervals are tight only where neighbours are relatives.
    """
    named: dict[tuple[str, ...], int] = {}
    for path in paths:
        for level in range(len(path)):
            named.setdefault(path[level:], len(named))
    return tuple(
        sorted(paths, key=lambda path: [named[path[level:]] for level in reversed(range(len(path)))])
    )
