"""Bins: the intervals of a sensitive number, of which a release names one in place of the number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def bin_names(edges: Sequence[float]) -> tuple[str, ...]:
    """The names of the bins between these edges, the lowest first.

    Examples
    --------
    >>> bin_names([0, 1000, 2500.5])
    ('0 to under 1000', '1000 to under 2500.5')
    """
    return tuple(f"{low} to under {high}" for low, high in pairwise(edges))


def check_edges(edges: Sequence[float]) -> None:
    """Raise ValueError unless edges go up, and make two bins at least."""
    if len(edges) < 3:
        raise ValueError("must be three edges at least, [lowest, …, highest], which make two bins")
    for low, high in pairwise(edges):
        if low >= high:
            raise ValueError(f"must go up from edge to edge, and {high} follows {low}")
