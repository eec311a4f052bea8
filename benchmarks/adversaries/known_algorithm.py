"""Knowing the algorithm, with every table.

Tiny m-invariant series. The adversary knows who was there when, everybody's group, how many people of each
release's newcomers have each value, and the algorithm: every table with these numbers is released under many
keys, and counts as often as it is published like this. People leave, come and return; in some series one
changes to another value, of which the adversary knows nothing.

*Above 1/m* counts the tuples of a series, published under one key, whose probability exceeds 1/m by more
than three standard errors of the sampled keys. *Guessed right* is the share of everybody's values, over all
tables and keys, that are guessed by what the other half of the keys teaches, and *by chance* what one of the
values of each person's group is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

VALUES = tuple("abcde")
ADVERSARIES = ("paper", "knows_algorithm")


@dataclass(frozen=True)
class Tiny:
    """Who is in which release, and which values each release's newcomers have."""

    present: Sequence[Sequence[int]]
    """People, who are numbered in the order in which they come."""
    batches: Sequence[Sequence[str]]
    """The values of the newcomers of each release, in some order."""
    changes: Mapping[tuple[int, int], Sequence[str]]
    """The values that a person may have from a release (0, 1, …) on, where it changes: (person, release)."""
