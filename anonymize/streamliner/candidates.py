"""Candidates for every color: the algorithms RIA, RDA and GDA.

Liu and Wang, Privacy streamliner, CODASPY 2012, section 3. N identifiers, V colors. Which colors a group
takes is planned from the colors' sizes alone; which identifier of a color it takes is drawn by a secret order
of all identifiers. So the draw treats all tables alike in which the people of a group have exchanged their
values, and that is what keeps an adversary who knows the algorithm at 1/l.

**Proof for RIA and RDA.** Which colors a group takes depends on the colors' sizes alone; which person of a
color is drawn depends on a secret order of all people, all orders being equally likely. Rename the people by
any permutation: each output is then as likely as its renamed self was before. A permutation inside the
published groups leaves the partition as it is. So all tables that fit the release are equally likely, and the
probability of a value is its share of the group. ∎

**Proof for GDA**, which looks at quasi-identifiers, so that people can't be renamed. It has two steps. (1) On
the colors' sizes alone, the l most frequent colors (or a few more, where the rest would not be eligible) make
a bucket, equally many people of each, until nobody is left. The secret order decides which people of a color
go to which bucket. (2) Inside a bucket, the people of each color are put in line by weighted rank, and the
i-th people of all lines are group i. Even for an adversary who knows who is in which bucket, all ways to
distribute the bucket's values, equally often each, are equally likely. Step 2 treats all colors alike: if all
people of two colors change colors, it publishes the same. With all permutations of the s >= l colors of a
bucket equally likely, each person has each of them with probability 1/s. ∎

**Table 7 as printed gives values away.** It lets quasi-identifiers choose the colors of a group. Four people
are at 0, 1, 5 and 6, with the values a, a, b, c in some order, and l = 2: only one of the twelve tables leads
to the groups {0, 6} with a, b and {1, 5} with a, c. Here colors are chosen by sizes.
"""

from __future__ import annotations

import numpy as np

from republish.anonymize.arrays import Floats, Ints, Words
from republish.anonymize.buckets.plan import assign_counts
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.kernels.compiled import uint64
from republish.anonymize.kernels.rda_groups import rda_groups
from republish.anonymize.kernels.ria_images import ria_images


def ria(color: Ints, ranks: Words, l: int, rng: np.random.Generator) -> np.ndarray:
    """Random and independent: l - 1 unused identifiers of different colors for each identifier.

    Returns int32[N, l - 1], bijections: row p has the images of identifier p under f_1, …, f_(l-1) of p's
    color.

    Parameters
    ----------
    color
        int[N]: each identifier's color, 0, 1, …; l-eligible.
    ranks
        uint64[N]: a secret order of the identifiers, which takes no account of their colors.
    l
        Privacy parameter, at least 2.
    rng
        Secret randomness.

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, section 3.1, Table 5.
    """
    members = _sorted_by(color, np.argsort(ranks, kind="stable"))
    starts = np.concatenate([[0], np.cumsum(np.bincount(color))])
    seed = uint64(rng.integers(2**64, dtype=np.uint64))
    images = np.empty((len(color), l - 1), np.int32)
    images[members] = members[ria_images(starts, l, seed)]
    return images


def rda(color: np.ndarray, ranks: np.ndarray, l: int) -> np.ndarray:
    """Random and dependent: disjoint groups, as many as there can be, of identifiers drawn from their colors.

    Returns int64[N], the group of each identifier: it and its candidates. Colors within a group differ; there
    are floor(N / l) groups. Parameters are those of `ria`.

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, section 3.2, Table 6, with lines 16 and 17 replaced by
    appending, as the section proposes.
    """
    group, places_color = rda_groups(np.bincount(color), l)
    chosen = np.empty(len(color), np.int64)
    members = _sorted_by(color, np.argsort(ranks, kind="stable"))
    chosen[members] = group[_sorted_by(places_color, np.arange(len(color)))]
    return chosen


def gda(color: np.ndarray, ranks: np.ndarray, weighted_rank: Floats, l: int) -> np.ndarray:
    """Guided and dependent: disjoint groups of identifiers whose quasi-identifiers are near to each other.

    The most frequent colors are taken together, equally many identifiers of each, until none is left: a
    bucket of l colors or a few more. Which identifiers of a color go to which bucket is drawn. Inside a
    bucket, the i-th identifiers of its colors by weighted rank become a group.

    `weighted_rank`, float64[N], makes of quasi-identifiers numbers of which a small difference is a small
    QI-distance. Returns groups as `rda` does.

    Notes
    -----
    Table 7 chooses the colors of each group, too, by the distances of the identifiers that are next in line.
    That gives values away to an adversary who knows the algorithm: an identifier far from its group was the
    best choice only if its value is one that nearer identifiers do not have. Here colors are chosen by
    their sizes, and inside a bucket all colors are equally large and treated alike.

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, section 3.3, Table 7; equal shares of the most frequent
    colors: Xiao and Tao, m-Invariance, SIGMOD 2007, Figure 3.
    """
    sizes = np.bincount(color)
    shares, buckets = assign_counts(sizes, l, Signatures.none(len(sizes)))
    by_rank = np.argsort(ranks, kind="stable")
    # A line is the identifiers of one color in one bucket; lines are numbered color by color.
    lines, line = shares[buckets.by_values], np.empty(len(color), np.int64)
    line[_sorted_by(color, by_rank)] = np.repeat(np.arange(lines.size), lines)

    by_distance = by_rank[np.argsort(weighted_rank[by_rank], kind="stable")]
    place = np.arange(len(color)) - np.repeat(np.cumsum(lines) - lines, lines)
    groups = buckets.most(shares)
    first_group = (np.cumsum(groups) - groups)[buckets.bucket[buckets.by_values]]
    group = np.empty(len(color), np.int64)
    group[_sorted_by(line, by_distance)] = np.repeat(first_group, lines) + place
    return group


def _sorted_by(key: np.ndarray, order: np.ndarray) -> np.ndarray:
    """An order of all identifiers, sorted by a key, where equal keys stay in the order given.

    Keys are as good as always below 2^16, and a stable sort of 16 bits takes linear time.
    """
    narrow = key.astype(np.uint16) if key.max(initial=0) < 2**16 else key
    return order[np.argsort(narrow[order], kind="stable")]
