"""Plan a release on counts: which bucket gets how many people and counterfeits of which value.

Xiao and Tao, m-Invariance, SIGMOD 2007, sections 4.1 (division, balancing) and 4.2 (assignment). The
planner never sees a row: it gets and gives numbers of people, one for each value of each bucket's signature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from republish.anonymize.arrays import Ints
from republish.anonymize.buckets.core import assign_core
from republish.anonymize.buckets.counts import Counts, Groups, Plan, is_eligible
from republish.anonymize.buckets.limits import ONE_COLUMN, Limits
from republish.anonymize.buckets.separate import place_separated
from republish.anonymize.buckets.signatures import ByBucket, ByPlace, ByValue, Signatures
from republish.anonymize.errors import NotEligible, smaller


def make_plan(
    counts: Counts,
    m: int,
    on_ineligible: str,
    rng: np.random.Generator,
    *,
    least: int = 1,
    wanted: ByPlace | None = None,
    first: Callable[[ByValue], Groups] | None = None,
    largest_first: bool = False,
    counted: str = "people",
) -> Plan:
    """Balance every bucket and assign everybody who is inserted, with the fewest counterfeits.

    Parameters
    ----------
    counts
        The people of T(n).
    m
        Privacy parameter, at least 2. Buckets with smaller signatures (from releases with a smaller
        m) keep their people and receive no others.
    on_ineligible
        `refuse`, `wait` or `counterfeit`: what becomes of inserted people who are not m-eligible.
        `wait` holds back all of them: that depends on their counts, and says nothing of any one person.
    rng
        Secret randomness: it decides which tuples share a group with people and which with counterfeits.
    least
        As many people as a bucket should have for each of its groups, at most m: who goes where follows it
        as far as that takes no counterfeit more.
    wanted
        Tuples that buckets are to receive beyond their shortages: whole signatures.
    first
        Chooses the groups to begin a series with, of the m-eligible tuples of each value: people who are
        not held back and counterfeits for them. What these groups leave over has to be m-eligible, too.
        The plan's first buckets have their signatures.
    largest_first
        Whether people beyond the shortages go to large buckets first (`assign_core`).
    counted
        What they are, in words: people, or the rows of people who have several.

    Raises
    ------
    NotEligible
        If the inserted people are not m-eligible (`refuse`), or there are too few values for anybody, also of
        those whose value changed.

    Notes
    -----
    A group of counterfeits alone protects nobody. A plan with the fewest counterfeits has no such group,
    because it would have fewer counterfeits without it. Only `wanted` tuples can make such a group.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, sections 4.1 and 4.2.
    """
    if on_ineligible == "refuse":
        refuse_ineligible(counts, m, counted)
    waiting = np.zeros_like(counts.free)
    if on_ineligible == "wait" and not is_eligible(counts.free, m):
        counts, waiting = replace(counts, free=waiting), counts.free
    placed = place_separated(counts, m, rng)
    need = shortages(placed.signatures, placed.present)
    if wanted is not None:
        need[: len(wanted)] += wanted
    open_need = need * (placed.signatures.sizes >= m)[placed.signatures.bucket]
    batch = balance(counts.free, placed.signatures.by_value(open_need), m, rng)

    lacking = people_lacking(placed.signatures, placed.present + need, placed.present, least)
    filled = scatter(batch.moved, open_need, placed.signatures, rng, lacking)
    rest = counts.free - batch.moved
    extra = _values_of_counterfeits(rest, batch.added, m, rng)
    known, reused = placed.signatures, np.zeros_like(need)
    if first is not None:
        chosen = first(rest + extra)
        known, reused = chosen.signatures, chosen.number[chosen.signatures.bucket]
    else:
        # A group of new people brings more than itself needs.
        lacking = np.maximum(lacking - known.by_bucket(filled), 0) * (known.sizes > least)
        if lacking.any():
            reused = assign_to_existing(rest + extra, m, known, -(-lacking // (known.sizes - least).clip(1)))
        if largest_first:
            left, groups = rest + extra - known.by_value(reused), known.most(placed.present)
            reused = reused + assign_core(left, m, known, groups, counts.everybody)
    reused = reused + assign_to_existing(rest + extra - known.by_value(reused), m, known)
    assigned, signatures = assign_counts(rest + extra - known.by_value(reused), m, known)
    assigned[: len(reused)] += reused
    grown = (0, len(assigned) - len(need))
    people, tuples = (np.pad(placed.present + some, grown) for some in (filled, need))
    lacking = people_lacking(signatures, tuples + assigned, people, least)
    new = signatures.by_value(assigned) - extra
    moved = scatter(new, assigned, signatures, rng, lacking) if extra.any() else assigned

    return Plan(
        signatures=signatures,
        moved=np.pad(filled, grown) + moved,
        separated=placed.separated,
        counterfeits=np.pad(need - filled, grown) + assigned - moved,
        held_back=waiting,
        batch_counterfeits=int(extra.sum()),
    )


def shortages(signatures: Signatures, present: ByPlace) -> ByPlace:
    """Tuples that each place lacks for its bucket to have every value of its signature equally often."""
    lacking: ByPlace = signatures.most(present)[signatures.bucket] - present
    return lacking


@dataclass(frozen=True)
class Batch:
    """The inserted people before assignment: who fills shortages, and which counterfeits come on top."""

    moved: ByValue
    """People who fill shortages in buckets."""
    added: int
    """Counterfeits that make the others m-eligible."""


def people_lacking(signatures: Signatures, tuples: ByPlace, people: ByPlace, least: int) -> ByBucket:
    """People that buckets lack for `least` in each group, or for as many as a group has values."""
    if least == 1:  # there is somebody in each group anyway
        return np.zeros(len(signatures), np.int64)
    most = np.minimum(signatures.sizes, least) * signatures.most(tuples)
    lacking: ByBucket = np.maximum(most - signatures.by_bucket(people), 0)
    return lacking


def balance(free: ByValue, need: ByValue, m: int, rng: np.random.Generator) -> Batch:
    """Fill shortages with inserted people, such that the release needs the fewest counterfeits.

    Where no choice leaves an m-eligible rest, the fewest counterfeits are added. An m-eligible batch has such
    a choice. Lots say which of equally frequent values
    comes first.

    Notes
    -----
    Every release consists of people in shortages and of further groups of m values or more, whose tuples
    (people and the counterfeits `added`) are m-eligible; and all m-eligible tuples can be grouped so
    (Lemma 5). If K of N people fill shortages and at most t of a value are left, m t <= N - K + added. So
    the counterfeits, need - K + added, are at least need + max(m t - N, -K), which is least for the
    smallest t and then the largest K. The smallest t is `left`: people of a value beyond its shortages stay.

    How K is made up does not matter to the number of counterfeits. The rarest values are moved first: a
    scarce value left over would need a signature of its own.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 4.1, balancing; the closed form is ours.
    """
    most = np.minimum(free, need)
    left = (free - most).max(initial=0)
    beyond = np.maximum(free - left, 0)
    room = int(free.sum()) - m * left
    total = min(max(room, beyond.sum()), most.sum())
    moved = beyond + _lowest_first(most - beyond, total - beyond.sum(), free, rng)
    return Batch(moved=moved, added=max(0, int(total) - room))


def assign_counts(
    rest: ByValue, m: int, signatures: Signatures, limits: Limits = ONE_COLUMN
) -> tuple[ByPlace, Signatures]:
    """Assign an m-eligible rest to balanced buckets: people by place, and signatures, new ones at the end.

    Everybody is assigned, unless there are three sensitive columns or more.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 4.2, Figure 3, Lemma 5.
    """
    rest, eligible = rest.copy(), True
    existing = np.split(signatures.value, signatures.first[1:])[: len(signatures)]
    rows = {signature.tobytes(): row for row, signature in enumerate(existing)}
    number, created = [0] * len(signatures), list[Ints]()
    while rest.any():
        step = limits.next_step(rest, m, eligible=eligible)
        if step is None and not eligible:
            break
        if step is None:  # of three columns and more: somebody will be left, and need not be m-eligible
            eligible = False
            continue
        row = rows.setdefault(step.signature.tobytes(), len(rows))
        if row == len(number):
            created.append(step.signature)
            number.append(0)
        number[row] += step.groups
        rest[step.signature] -= step.groups
    signatures = signatures.with_new(created)
    return np.array(number, np.int64)[signatures.bucket], signatures


def assign_to_existing(
    rest: ByValue, m: int, signatures: Signatures, most: ByBucket | None = None, limits: Limits = ONE_COLUMN
) -> ByPlace:
    """Assign what existing buckets can take of an m-eligible rest, such that the others stay m-eligible.

    Each bucket receives equally many people of every value in its signature: at most as many as `most` says,
    and nobody if its signature is smaller than m.

    Figure 3 looks at the most frequent values alone, and soon every few people have a bucket of their
    own. A group has more neighbours to choose from in a large bucket than in several small ones: on
    census-like data, intervals of age and birthplace are a quarter shorter after 12 releases.
    """
    rest, groups = rest.copy(), np.zeros(len(signatures), np.int64)
    usable = np.flatnonzero(signatures.sizes >= m)
    usable = usable[signatures.scarcest(rest)[usable] > 0]
    if not usable.size:
        return groups[signatures.bucket]
    some, _ = signatures.only(usable)
    room = limits.room(some, m)
    while True:
        alpha = room(rest)
        if most is not None:
            alpha = np.minimum(alpha, (most - groups)[usable])
        best = np.lexsort((some.sizes, -alpha))[0]
        if alpha[best] < 1:
            return groups[signatures.bucket]
        groups[usable[best]] += alpha[best]
        rest[some.value[some.bucket == best]] -= alpha[best]


def refuse_ineligible(counts: Counts, m: int, counted: str = "people") -> None:
    """Raise NotEligible if the inserted people, or whatever is `counted`, are not m-eligible."""
    free = counts.free
    if not is_eligible(free, m):
        raise NotEligible(
            f"the {free.sum()} inserted {counted} are not {m}-eligible: {free.max()} of them share a value,"
            f" and at most {free.sum() // m}, 1/{m} of them, may: each of a group of {m} has another value."
            f" {counts.ways_out} {smaller('m', free.sum(), free.max())}. If the value may be known of a"
            " person (that nothing was found, say), list it as sensitive.not_sensitive"
        )


def _lowest_first(room: ByValue, total: int, rank: ByValue, rng: np.random.Generator) -> ByValue:
    """`total` units handed to values in ascending rank, ties at random, at most `room` each."""
    order = rng.permutation(len(room))
    order = order[np.argsort(rank[order], kind="stable")]
    before = np.cumsum(room[order]) - room[order]
    units = np.zeros_like(room)
    units[order] = np.clip(total - before, 0, room[order])
    return units


def scatter(
    people: ByValue, places: ByPlace, signatures: Signatures, rng: np.random.Generator, lacking: ByBucket
) -> ByPlace:
    """The people of each value, put at random into places of the value in all buckets.

    Handed out in the buckets' order, real people would be in the first and counterfeits in the later
    ones, and a counterfeit in one bucket would tell that of another. If a bucket gets fewer than it is
    `lacking`, a linear program hands them out such that buckets lack the fewest.
    """
    scattered = np.zeros_like(places)
    ends = np.searchsorted(signatures.value[signatures.by_values], np.arange(signatures.values + 1))
    for value in np.flatnonzero(people):
        its = signatures.by_values[ends[value] : ends[value + 1]]
        column = np.zeros(len(signatures), np.int64)
        column[signatures.bucket[its]] = places[its]
        drawn = rng.multivariate_hypergeometric(column, people[value])
        scattered[its] = drawn[signatures.bucket[its]]
    if not scattered.any() or (signatures.by_bucket(scattered) >= lacking).all():
        return scattered
    number, buckets = len(places), len(signatures)
    by_value, by_bucket = (
        scipy.sparse.csc_array((np.ones(number), (rows, np.arange(number))), (height, number))
        for rows, height in ((signatures.value, signatures.values), (signatures.bucket, buckets))
    )
    found = scipy.optimize.linprog(
        np.append(rng.random(number) / (4 * places.sum()), np.ones(buckets)),
        A_ub=scipy.sparse.hstack([-by_bucket, -scipy.sparse.eye_array(buckets)]),
        b_ub=-lacking,
        A_eq=scipy.sparse.hstack([by_value, scipy.sparse.csc_array((signatures.values, buckets))]),
        b_eq=people,
        bounds=[*((0, most) for most in places), *((0, None) for _ in range(buckets))],
        method="highs",
    )
    # The program is that of a transport, whose corners are whole numbers.
    return np.rint(found.x[:number]).astype(np.int64) if found.success else scattered


def _values_of_counterfeits(rest: ByValue, added: int, m: int, rng: np.random.Generator) -> ByValue:
    """Values for the counterfeits that make the rest m-eligible: the next most frequent ones.

    They bring the m most frequent values to the same number of tuples, as far as they reach, so that the
    one that was in excess does not stand out. Spread over all values they would leave it alone on top, and
    whoever knows that counterfeits are the fewest would know that none of them carries it.
    """
    if not added:
        return np.zeros_like(rest)
    if len(rest) < m:
        raise NotEligible(
            f"{len(rest)} sensitive values are known, groups need {m}: list the domain under"
            " sensitive.values, or choose a smaller m"
        )
    return _lowest_first(rest.max() - rest, added, -rest, rng)
