"""Execute a plan on rows: who goes to which bucket. One ranked join, however many people there are."""

from __future__ import annotations

import numpy as np

HELD_BACK = -1
"""The bucket of people who wait for the next release."""


def assign(queue: np.ndarray, demand: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The bucket of every person, drawn at random among those who queue for the same buckets.

    Parameters
    ----------
    queue
        int[N]: the queue each person stands in: people of one value (and one set of forbidden values)
        are interchangeable.
    demand
        int[Q, B]: how many people of each queue each bucket receives; who is left is held back.
    rng
        Secret randomness: who of a queue goes where (section 4.2: "randomly pick").

    Returns
    -------
    int64[N]
        Bucket rows, or `HELD_BACK`.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 4.2, Figure 3, lines 10 and 11.
    """
    waiting = np.bincount(queue, minlength=len(demand))
    held_back = waiting - demand.sum(axis=1)
    places = np.column_stack([demand, held_back])
    targets = np.append(np.arange(demand.shape[1]), HELD_BACK)
    shuffled = rng.permutation(len(queue))
    ranked = shuffled[np.argsort(queue[shuffled], kind="stable")]
    bucket = np.empty(len(queue), np.int64)
    bucket[ranked] = np.repeat(np.tile(targets, len(places)), places.ravel())
    return bucket
