"""Taxonomies of columns, and the cuts through them.

A category's taxonomy is its hierarchy. A number's is made on the fly, by splitting intervals at the best
point. Either way a node covers a half-open interval of codes, and two nodes lie on one generalization path if
and only if their intervals overlap: matching needs nothing else.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Taxonomy:
    """The tree of a category. Node 0 is the root; the children of a node stand side by side."""

    labels: tuple[str, ...]
    """Of each node."""
    low: np.ndarray
    """int32: the first leaf that a node covers, counted from left to right."""
    high: np.ndarray
    """int32: the leaf after the last one."""
    first: np.ndarray
    """int32: a node's first child."""
    children: np.ndarray
    """int32: how many it has; 0 for a leaf."""

    @property
    def leaves(self) -> list[str]:
        """The leaves' labels from left to right."""
        leaves = np.flatnonzero(self.children == 0)
        return [self.labels[node] for node in leaves[np.argsort(self.low[leaves])]]


@lru_cache(maxsize=256)
def category_taxonomy(paths: tuple[tuple[str, ...], ...]) -> Taxonomy:
    """The tree of a hierarchy.

    A node and its only child are one node where they have the same label: hierarchies whose leaves are all
    equally deep repeat labels.

    Parameters
    ----------
    paths
        `leaf, parent, …, root` from the tree's left to its right.

    Raises
    ------
    ValueError
        If a label names two nodes: what is published would have two meanings.

    Examples
    --------
    >>> tree = category_taxonomy((("Driver", "Worker", "ANY"), ("Lawyer", "Professional", "ANY")))
    >>> tree.labels
    ('ANY', 'Worker', 'Professional', 'Driver', 'Lawyer')
    """
    labels, low, high, first, children = [], [], [], [], []
    waiting = [(0, len(paths), len(paths[0]) - 1)]
    for begin, end, level in waiting:  # grows on the way: children side by side, level by level
        parts = _parts(paths, begin, end, level)
        while len(parts) == 1 and paths[begin][level - 1] == paths[begin][level]:
            level -= 1  # noqa: PLW2901 - the only child is the node itself
            parts = _parts(paths, begin, end, level)
        labels.append(paths[begin][level])
        low.append(begin)
        high.append(end)
        first.append(len(waiting))
        children.append(len(parts))
        waiting += [(*part, level - 1) for part in parts]
    if len(set(labels)) < len(labels):
        twice = next(label for i, label in enumerate(labels) if label in labels[:i])
        raise ValueError(f"{twice} names two nodes of the hierarchy: give each node a label of its own")
    return Taxonomy(tuple(labels), *(np.array(part, np.int32) for part in (low, high, first, children)))


def _parts(paths: Sequence[tuple[str, ...]], begin: int, end: int, level: int) -> list[tuple[int, int]]:
    """The runs of paths below a node that share their next label down."""
    if level == 0:
        return []
    below = [path[level - 1] for path in paths[begin:end]]
    starts = [begin, *(begin + i for i in range(1, len(below)) if below[i] != below[i - 1]), end]
    return list(pairwise(starts))


@dataclass(frozen=True)
class Cut:
    """The cut of one column: the nodes that are published, from left to right, one above each leaf."""

    labels: list[str]
    """As published."""
    low: np.ndarray
    """float64: the first code that a node covers."""
    high: np.ndarray
    """float64: the end of the codes it covers, itself not covered."""
    records: np.ndarray
    """int64: the records of the view under each node."""
