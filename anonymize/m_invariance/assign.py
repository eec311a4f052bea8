"""Execute a plan on rows: who goes to which bucket. One ranked join, however many people there are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

HELD_BACK = -1
"""The bucket of people who wait for the next release."""


class Demand(NamedTuple):
    """How many people of a queue a bucket receives, in D entries."""

    queue: np.ndarray
    """int[D]"""
    bucket: np.ndarray
    """int[D]"""
    people: np.ndarray
    """int[D]: positive."""


def assign(queue: np.ndarray, demand: Demand, queues: int, rng: np.random.Generator) -> np.ndarray:
    """The bucket of every person, drawn at random among those who stand in the same queue.

    Parameters
    ----------
    queue
        int[N]: the queue each person stands in: people of one value (and one set of forbidden values)
        are interchangeable.
    demand
        How many of them each bucket receives; who is left over is held back.
    queues
        The number of queues.
    rng
        Secret randomness: who of a queue goes where (section 4.2: "randomly pick").

    Returns
    -------
    int64[N]
        Buckets, or `HELD_BACK`.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 4.2, Figure 3, lines 10 and 11.
    """
    received = np.bincount(demand.queue, demand.people, minlength=queues).astype(np.int64)
    held_back = np.bincount(queue, minlength=queues) - received
    in_line = np.argsort(np.append(demand.queue, np.arange(queues)), kind="stable")
    targets = np.append(demand.bucket, np.full(queues, HELD_BACK))[in_line]
    places = np.append(demand.people, held_back)[in_line]
    shuffled = rng.permutation(len(queue))
    ranked = shuffled[np.argsort(queue[shuffled], kind="stable")]
    bucket = np.empty(len(queue), np.int64)
    bucket[ranked] = np.repeat(targets, places)
    return bucket
