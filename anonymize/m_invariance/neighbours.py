"""From where people come to the buckets that there are: from where the people of the bucket live.

Intervals are short where the people of a bucket live near one another. But an adversary who knows where
somebody lives, and to which bucket they came, may conclude something: if a value is scarce in a region,
its places there are filled from farther away. So only buckets that have many people in a region draw
others from there, and all values of a bucket are treated alike.
"""

from __future__ import annotations

import numpy as np

from anonymize.buckets.assign import Local
from anonymize.buckets.counts import Demand, Plan
from anonymize.buckets.divide import UNDECIDED, Division
from anonymize.kernels.fill_places import fill_places
from anonymize.m_invariance.regions import Regions

PRIOR = 1000
"""People that a bucket is taken to have, spread like everybody, before its own are counted. With 50 in place
of 1,000, intervals are as long and an adversary guesses more values (`benchmarks.arrivals`)."""


def from_the_neighbourhood(
    division: Division, plan: Plan, regions: Regions, rng: np.random.Generator
) -> list[Local]:
    """From which regions the inserted people of each bucket come; nothing where there is one region.

    Parameters
    ----------
    division
        The people of T(n), divided.
    plan
        How many people of each value every bucket receives.
    regions
        Where they live.
    rng
        Secret randomness: in which order places are filled, and from where; who is held back is left to
        chance alone.
    """
    if regions.number == 1:
        return []
    values = plan.moved.shape[1]
    free = (division.bucket == UNDECIDED) & (division.queue < values)
    arrivals = regions.count_by(division.queue[free], values, free)
    received = plan.moved.sum(axis=0)
    for left_over in np.flatnonzero(received < arrivals.sum(axis=1)):
        arrivals[left_over] = rng.multivariate_hypergeometric(arrivals[left_over], received[left_over])
    weight = attraction(division, len(plan.signatures), regions)
    bucket, value = np.nonzero(plan.moved)
    places = rng.permutation(np.repeat(np.arange(len(value)), plan.moved[bucket, value]))
    bucket, value = bucket[places], value[places]
    region = fill_places(arrivals, weight, value, bucket, rng.random(len(places)))
    filled = (value * regions.number + region) * len(weight) + bucket
    demanded, people = np.unique(filled, return_counts=True)
    demand = Demand(queue=demanded // len(weight), bucket=demanded % len(weight), people=people)
    return [Local(regions.of_person, regions.number, demand)]


def attraction(division: Division, buckets: int, regions: Regions) -> np.ndarray:
    """float64[B, R]: how much more frequent each region is among those who stay in a bucket than among all.

    Parameters
    ----------
    division
        The people of T(n), divided.
    buckets
        B: the buckets there were, and new ones, which nobody stays in.
    regions
        Where people live.
    """
    stays = division.bucket != UNDECIDED
    present = regions.count_by(division.bucket[stays], buckets, stays)
    # A region that nobody lives in has a share too, so that nothing is divided by 0.
    share = np.bincount(regions.of_person, minlength=regions.number) + 1e-9
    share = share / share.sum()
    return (present + PRIOR * share) / (present.sum(axis=1, keepdims=True) + PRIOR) / share
