"""New signatures for people whose sensitive value left their old one, disjoint from all they had.

Whoever intersects a person's candidate sets then gets the empty set, never a small one. The paper does
not treat changed values; this is republish's own rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonymize.errors import NotEligible

if TYPE_CHECKING:
    from anonymize.m_invariance.plan import Counts


@dataclass(frozen=True)
class Placed:
    """Buckets after the separated people found one."""

    signatures: np.ndarray
    """bool[B', V]: signatures, with new buckets at the end."""
    present: np.ndarray
    """int[B', V]: bound and separated people, by bucket and value."""
    separated: np.ndarray
    """int[C, B']: people of each class in each bucket."""
    held_back: np.ndarray
    """int[C]: people for whom too few values are left (`defer`)."""


def place_separated(counts: Counts, m: int, on_ineligible: str) -> Placed:
    """Place every class of separated people in buckets disjoint from their earlier signatures.

    Shortages that have to be filled anyway come first; then the bucket with the smallest signature,
    which is a new one where none fits.

    Raises
    ------
    NotEligible
        If fewer than m values are left to a class and `on_ineligible` is not `defer`.
    """
    signatures = list(counts.signatures)
    present = list(counts.bound.astype(np.int64))
    placements: list[tuple[int, int, int]] = []
    held_back = np.zeros(len(counts.separated), np.int64)
    waiting = _by_value(counts)
    for group, (value, forbidden, people) in enumerate(
        zip(counts.separated_value, counts.forbidden, counts.separated, strict=True)
    ):
        waiting[value] -= people
        fitting = _fitting(signatures, value, forbidden, m)
        remaining = int(people)
        for bucket in fitting:
            lacking = int(present[bucket].max() - present[bucket][value])
            taken = min(lacking, remaining)
            if taken:
                present[bucket][value] += taken
                placements.append((group, bucket, taken))
                remaining -= taken
        if not remaining:
            continue
        if fitting.size:
            bucket = min(fitting, key=lambda bucket: signatures[bucket].sum())
        else:
            signature = _new_signature(value, forbidden, m, wanted=waiting, common=counts.free)
            if signature is None:
                held_back[group] = remaining
                continue
            bucket = len(signatures)
            signatures.append(signature)
            present.append(np.zeros(len(forbidden), np.int64))
        present[bucket][value] += remaining
        placements.append((group, bucket, remaining))
    if held_back.any() and on_ineligible != "defer":
        raise NotEligible(
            f"{held_back.sum()} people changed their sensitive value so often that fewer than m ({m}) values"
            " outside their earlier signatures are left. Set on_ineligible to defer (they are held back),"
            " choose a smaller m, or begin a new series"
        )
    return _placed(signatures, present, placements, held_back, counts)


def _by_value(counts: Counts) -> np.ndarray:
    """int[V]: separated people by value."""
    return np.bincount(counts.separated_value, counts.separated, minlength=len(counts.free))


def _fitting(signatures: list[np.ndarray], value: int, forbidden: np.ndarray, m: int) -> np.ndarray:
    """Buckets that have the value, none that is forbidden, and a signature of at least m values."""
    if not signatures:
        return np.empty(0, np.int64)
    matrix = np.asarray(signatures)
    return np.flatnonzero(matrix[:, value] & ~(matrix & forbidden).any(axis=1) & (matrix.sum(axis=1) >= m))


def _new_signature(
    value: int, forbidden: np.ndarray, m: int, *, wanted: np.ndarray, common: np.ndarray
) -> np.ndarray | None:
    """The value and m - 1 others: first those other separated people wait for, then the most frequent."""
    others = np.lexsort((-common, -wanted))
    others = others[~forbidden[others] & (others != value)]
    if len(others) < m - 1:
        return None
    signature = np.zeros(len(forbidden), bool)
    signature[[value, *others[: m - 1]]] = True
    return signature


def _placed(signatures, present, placements, held_back, counts: Counts) -> Placed:
    values = len(counts.free)
    separated = np.zeros((len(counts.separated), len(signatures)), np.int64)
    for group, bucket, people in placements:
        separated[group, bucket] += people
    return Placed(
        signatures=np.asarray(signatures, bool).reshape(-1, values),
        present=np.asarray(present, np.int64).reshape(-1, values),
        separated=separated,
        held_back=held_back,
    )
