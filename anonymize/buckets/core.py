"""New groups for buckets that are large already: a linear program on counts."""

from __future__ import annotations

import numpy as np
import scipy

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.buckets.limits import ONE_COLUMN, Limits
from republish.anonymize.buckets.signatures import ByBucket, ByPlace, ByValue, Signatures
from republish.anonymize.rounding import whole_below

HALF_LARGE = 50
"""Groups at which a bucket's further groups count half as much as those of a bucket without end."""
SEARCHED = 400
"""Buckets the program may choose from: the largest. More of them gain nothing and cost time."""
WATCHED = 200
"""Values whose share of the rest the program limits: the most frequent. For the others it is checked."""
WORTHWHILE = 20
"""Groups in the rest from which the program finds more than trying the buckets in turn."""
SCARCE = 30.0
"""Weight of a group without a value that every m-th person has, in people of other groups."""


def assign_core(
    rest: ByValue, m: int, signatures: Signatures, groups: ByBucket, everybody: ByValue
) -> ByPlace:
    """Assign as much of an m-eligible rest as possible to large buckets; the others stay m-eligible.

    A bucket of a few groups needs, for nearly everybody who leaves it, somebody with the same value. A
    large one loses about as many people of every value, and its shortages are the small differences. So
    the fewer groups are in small buckets, the fewer counterfeits later releases need.

    `groups` are those that each bucket has, and `everybody` are all people of T(n).

    Notes
    -----
    With x groups more for each bucket, u = rest - x A people are left over. The program maximises the
    people assigned, weighted by n / (n + 50) for a bucket of n groups, subject to u >= 0 and m u_v <= sum u
    for every value v. Rounded down, x may leave an ineligible rest: then some groups are taken back.

    Of N people, if N_v have a value v, exactly N/m - N_v groups of m lack it. Where these are
    few, there must be fewer of them as soon as v is more frequent, and only large buckets lose groups when
    people leave. So groups without a frequent value count as more people: large buckets get them first.
    """
    assigned = np.zeros(len(signatures), np.int64)
    usable = large_buckets(signatures, groups, m)
    if not usable.size or rest.sum() < WORTHWHILE * m:
        return assigned[signatures.bucket]
    some, _ = signatures.only(usable)
    inside, beta = some.table(), some.sizes
    frequent = np.maximum(2 * m * everybody / max(everybody.sum(), 1) - 1, 0) ** 2
    large = groups[usable] / (groups[usable] + HALF_LARGE)
    watched = np.sort(np.argsort(-rest, kind="stable")[:WATCHED])
    most = most_worth(
        (beta + SCARCE * (~inside @ frequent)) * large,
        np.vstack([inside.T, beta - m * inside.T[watched]]),
        np.concatenate([rest, rest.sum() - m * rest[watched]]),
    )
    assigned[usable] = leave_eligible(rest, m, some, whole_below(most))
    return assigned[signatures.bucket]


def most_worth(worth: Floats, used: Floats | Ints, available: Floats | Ints) -> Floats:
    """float64[B]: the x >= 0 with used @ x <= available that is worth most; nothing if none is found.

    One of each is worth `worth`, float[B], and takes `used`, float[R, B], of R things, of which there is so
    much `available`, float[R].
    """
    # scipy imports its parts when they are first asked for: half a second that few releases need.
    limits = scipy.sparse.csc_array(used.astype(float))
    found = scipy.optimize.linprog(-worth, A_ub=limits, b_ub=available.astype(float), method="highs")
    return found.x if found.success else np.zeros(len(worth))


def large_buckets(signatures: Signatures, groups: ByBucket, m: int) -> Ints:
    """The buckets that the program may choose from, those of the most `groups` first."""
    usable = np.flatnonzero((signatures.sizes >= m) & (groups > 0))
    return usable[np.argsort(-groups[usable], kind="stable")][:SEARCHED]


def leave_eligible(
    rest: ByValue, m: int, known: Signatures, new: ByBucket, limits: Limits = ONE_COLUMN
) -> ByBucket:
    """The new groups of each signature, but for the fewest without which the others are m-eligible."""
    inside, limited, new = known.table(), limits.of_signatures(known), new.copy()
    while new.any():
        left = rest - new @ inside
        if left.min() >= 0 and limits.are_eligible(left, m):
            break
        # A group given back brings one person of each of its values: if it can be, not of the one in excess.
        worst = int(np.argmax(limits.excess(left, m)))
        spare = limited[:, worst] == 0
        helps = (new > 0) & (inside[:, np.argmin(left)] if left.min() < 0 else spare)
        new[np.argmax(new * helps if helps.any() else new)] -= 1
    return new
