"""From which region each place of a bucket is filled."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def fill_places(left, weight, value, bucket, numbers):
    """Draw a region for one place after another; int64[P].

    A region is as likely as it has people of the place's value left, times its weight for the bucket.

    Parameters
    ----------
    left
        int64[V, R]: people by value and region, at least one for each place; is changed.
    weight
        float64[B, R]: how strongly each bucket attracts people of each region; positive.
    value, bucket
        int64[P]: the places, in the order in which they are filled.
    numbers
        float64[P]: random numbers in [0, 1).
    """
    regions = left.shape[1]
    region = np.empty(len(value), np.int64)
    for place in range(len(value)):
        people, weights = left[value[place]], weight[bucket[place]]
        total = 0.0
        for r in range(regions):
            total += people[r] * weights[r]
        point, chosen = numbers[place] * total, -1
        for r in range(regions):
            if people[r]:
                chosen = r
                point -= people[r] * weights[r]
                if point < 0:
                    break
        people[chosen] -= 1
        region[place] = chosen
    return region
