"""Theorem 2's conditions, counted on any proposed candidates, however they were found."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from republish.anonymize.arrays import Ints


@dataclass(frozen=True)
class Proposal:
    """Sets of identifiers that are proposed as the candidates of each color, in M entries."""

    color: Ints
    """int[M]: whose candidates."""
    candidate: Ints
    """int[M]: which of them, 0 … l - 2."""
    member: Ints
    """int[M]: an identifier in it."""


@dataclass(frozen=True)
class Faults:
    """What keeps a proposal from being l-candidates; all zero if it meets the conditions of Theorem 2."""

    wrong_size: int
    """Candidates with more or fewer identifiers than their color."""
    own_color: int
    """Identifiers in a candidate of their own color."""
    shared: int
    """Identifiers that are in a candidate of the same color already."""
    too_many: int
    """Pairs of colors of which the first one's candidates have more identifiers of the second than it has."""

    def __bool__(self) -> bool:
        return any(asdict(self).values())


def theorem_2_faults(proposed: Proposal, color: Ints, l: int) -> Faults:
    """Count what is wrong with proposed candidates.

    Parameters
    ----------
    proposed
        l - 1 candidates for each color.
    color
        int[N]: each identifier's color, 0 … V - 1.
    l
        Privacy parameter, at least 2.

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, section 2.3, Theorem 2.
    """
    size = np.bincount(color)
    colors = len(size)
    sizes = np.bincount(proposed.color * (l - 1) + proposed.candidate, minlength=colors * (l - 1))
    members = np.unique(proposed.color.astype(np.int64) * len(color) + proposed.member)
    pairs = np.bincount(proposed.color * colors + color[proposed.member], minlength=colors**2)
    return Faults(
        wrong_size=int((sizes.reshape(-1, l - 1) != size[:, None]).sum()),
        own_color=int((color[proposed.member] == proposed.color).sum()),
        shared=len(proposed.member) - len(members),
        too_many=int((pairs.reshape(colors, colors) > size[:, None]).sum()),
    )
