"""Random, independent candidates for every identifier of every color.

Liu and Wang, Privacy streamliner, CODASPY 2012, section 3.1, Table 5.
"""

import numpy as np

from republish.anonymize.arrays import Ints, Words
from republish.anonymize.kernels.compiled import compiled, int64
from republish.anonymize.kernels.splitmix import STEP, mixed_number

TRIES = 16
"""Draws of l - 1 colors before the largest ones are taken; conflicts are rare in most tables."""


@compiled()
def ria_images(starts: Ints, l: int, seed: int) -> Ints:
    """Draw l - 1 identifiers for each identifier: of different other colors, none twice for one color.

    Identifiers are numbered 0 to N - 1, color after color: color v has those from starts[v] (int64[V + 1]) up
    to the next; they are l-eligible. A draw of colors that would leave too few unused identifiers for the
    rest of the color is drawn again, which Table 5 leaves open ("must reselect"); after `TRIES` draws, the
    colors with the most unused identifiers are taken, which always leaves enough. Random choices look at
    sizes and positions alone.

    Returns
    -------
    int32[N, l - 1]
        The images of each identifier under the bijections f_1, …, f_(l-1) of its color.
    """
    colors = len(starts) - 1
    state = np.empty(1, np.uint64)
    state[0] = seed
    images = np.empty((starts[-1], l - 1), np.int32)
    # Each color's identifiers, of which the last `unused` ones are unused: drawing swaps one out of them.
    pool = np.arange(starts[-1]).astype(np.int32)
    unused = np.empty(colors, np.int64)
    chosen = np.empty(colors, np.int64)
    for color in range(colors):
        for other in range(colors):
            unused[other] = starts[other + 1] - starts[other]
        unused[color] = 0
        for identifier in range(starts[color], starts[color + 1]):
            _draw_colors(chosen, unused, l, starts[color + 1] - identifier - 1, state)
            for u in range(l - 1):
                other = chosen[u]
                place = starts[other + 1] - unused[other]
                picked = place + _below(state, unused[other])
                pool[place], pool[picked] = pool[picked], pool[place]
                images[identifier, u] = pool[place]
                unused[other] -= 1
    return images


@compiled()
def _draw_colors(chosen: Ints, unused: Ints, l: int, following: int, state: Words) -> None:
    """Put l - 1 random colors first in `chosen`, leaving enough unused identifiers for those that follow."""
    usable = 0
    for color in range(len(unused)):
        if unused[color] > 0:
            chosen[usable] = color
            usable += 1
    for _ in range(TRIES):
        for u in range(l - 1):
            picked = u + _below(state, usable - u)
            chosen[u], chosen[picked] = chosen[picked], chosen[u]
        if _is_enough(chosen, usable, unused, l, following):
            return
    for u in range(l - 1):
        most = u
        for index in range(u + 1, usable):
            if unused[chosen[index]] > unused[chosen[most]]:
                most = index
        chosen[u], chosen[most] = chosen[most], chosen[u]


@compiled()
def _is_enough(chosen: Ints, usable: int, unused: Ints, l: int, following: int) -> bool:
    """Whether, once the first l - 1 are taken from, so many identifiers still find l - 1 colors each."""
    room = 0
    for index in range(usable):
        room += min(unused[chosen[index]] - (index < l - 1), following)
    return room >= following * (l - 1)


@compiled(inline="always")
def _below(state: Words, bound: int) -> int:
    """A random number from 0 to bound - 1 (splitmix64, Lemire's reduction)."""
    state[0] += STEP
    z = mixed_number(state[0])
    return int64(((z >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))
