"""A hierarchy of labels: one path `leaf, parent, …, root` per leaf, from the tree's left to its right."""

from __future__ import annotations


def check_hierarchy(paths: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """The paths from the tree's left to its right, if they are one tree with leaves all equally deep."""
    if not paths:
        raise ValueError("holds no labels")
    first_lines: dict[tuple[int, str], tuple[int, tuple[str, ...]]] = {}
    for line, path in enumerate(paths, start=1):
        if len(path) != len(paths[0]):
            raise ValueError(f"line {line}: has {len(path)} levels, line 1 has {len(paths[0])}")
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
