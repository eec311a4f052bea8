"""Further groups for large buckets, filled up with counterfeits: a linear program on counts.

A plan with the fewest counterfeits opens a few small buckets in nearly every release, for people whom no
bucket takes without a counterfeit. A signature is kept for ever. So small buckets add up, and intervals of
few people are long. Here a counterfeit has a price, in people of new buckets. Where one more counterfeit lets
large buckets take several more people, it is added; a later newcomer takes its place.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from republish.anonymize.arrays import Floats
from republish.anonymize.buckets.core import SEARCHED
from republish.anonymize.buckets.counts import Counts, Groups, Plan, is_eligible
from republish.anonymize.buckets.plan import make_plan, shortages
from republish.anonymize.buckets.signatures import ByBucket, ByValue, Signatures

PRICE = 0.3
"""What a counterfeit costs, in people of new buckets. With 0.1, intervals of 16,000 people (m = 6) are a
tenth shorter after 80 updates, and counterfeits half as many again; with 1, an eighth longer, and a quarter
fewer."""
MOST = 0.01
"""With further groups, counterfeits are at most this share of the people."""
SHORTER = 0.3
"""Intervals of a bucket of n groups are about (n + 1) ** -0.3 as long as those of a new one."""
SPARED = 3
"""Values of a group beyond `people_per_group` without which no counterfeit is added."""
COMPANY = 2
"""People that a bucket with further groups has for each of its groups, at least."""


def plan_weighed(
    counts: Counts,
    m: int,
    on_ineligible: str,
    draw: Callable[[], np.random.Generator],
    *,
    least: int = 1,
    first: Callable[[ByValue], Groups] | None = None,
    counted: str = "people",
    weighs: bool = True,
) -> Plan:
    """Plan as `make_plan` does, with further groups for large buckets where they are worth counterfeits.

    The plan is that with the fewest counterfeits (`largest_first`) if nobody `weighs` them, where m is below
    `least` + 3, where the inserted people are not m-eligible, and where a bucket would have too few people
    for each of its groups. `draw` begins the same secret randomness anew; the other parameters are those of
    `make_plan`.

    Raises
    ------
    NotEligible
        As `make_plan` does.

    Notes
    -----
    Which bucket has further groups follows from how many groups it has, and from how many people of each
    value come and are missing, in all buckets together. Lots say which places newcomers take and which
    counterfeits.
    """

    def planned(further: ByBucket | None) -> Plan:
        wanted = None if further is None else further[counts.signatures.bucket]
        return make_plan(
            counts, m, on_ineligible, draw(),
            least=least, first=first, wanted=wanted, largest_first=True, counted=counted,
        )  # fmt: skip

    if not weighs or m < least + SPARED or not is_eligible(counts.free, m):
        return planned(None)
    known = counts.signatures
    need = shortages(known, counts.bound) * (known.sizes >= m)[known.bucket]
    further = further_groups(
        counts.free - known.by_value(need), m, known, known.most(counts.bound), MOST * counts.everybody.sum()
    )
    while further.any():
        plan = planned(further)
        alone = _lack_company(plan, counts, least)[: len(further)]
        if least > 1 and (alone & (further == 0)).any():
            break
        if not (alone & (further > 0)).any():
            return plan
        further[alone] = 0
    return planned(None)


def further_groups(
    beyond: ByValue, m: int, known: Signatures, groups: ByBucket, counterfeits: float
) -> ByBucket:
    """The further groups of each bucket, rounded down.

    `beyond` are the inserted people of each value beyond the shortages, negative where places stay open;
    `groups` are those that buckets have, and so many `counterfeits` are worth it at most.
    """
    further = np.zeros(len(known), np.int64)
    usable = np.flatnonzero((known.sizes >= m) & (groups > 0))
    usable = usable[np.argsort(-groups[usable], kind="stable")][:SEARCHED]
    if usable.size and beyond.max(initial=0) > 0:
        some, _ = known.only(usable)
        found = cheapest(beyond, m, some, some.sizes * (groups[usable] + 1.0) ** -SHORTER, counterfeits)
        further[usable] = np.floor(found + 1e-6).astype(np.int64)
    return further


def cheapest(beyond: ByValue, m: int, known: Signatures, cost: Floats, counterfeits: float) -> Floats:
    """float64[B]: the further groups of the cheapest plan; nothing if none is found.

    `cost`, float64[B], is that of a group. With x groups, A x + r = beyond + c: r people of each value come
    to new buckets, for 1 each, and c tuples are counterfeits, for `PRICE` each, so many `counterfeits` at
    most. The r people are m-eligible.
    """
    values, number = known.values, len(known)
    inside = scipy.sparse.csc_array(known.table().T.astype(float))
    one_each = scipy.sparse.eye_array(values)
    too_many = m * one_each - scipy.sparse.csc_array(np.ones((values, values)))
    nothing = scipy.sparse.csc_array((values, values))
    found = scipy.optimize.linprog(
        np.concatenate([cost, np.ones(values), np.full(values, PRICE)]),
        A_ub=scipy.sparse.vstack(
            [
                scipy.sparse.hstack([scipy.sparse.csc_array((values, number)), too_many, nothing]),
                scipy.sparse.csc_array(np.repeat([[0.0, 1.0]], [number + values, values], axis=1)),
            ]
        ),
        b_ub=np.append(np.zeros(values), counterfeits),
        A_eq=scipy.sparse.hstack([inside, one_each, -one_each]),
        b_eq=beyond.astype(float),
        method="highs",
    )
    return found.x[:number] if found.success else np.zeros(number)


def _lack_company(plan: Plan, counts: Counts, least: int) -> np.ndarray:
    """bool[B]: the buckets with fewer people, counterfeits left out, than their groups should have."""
    people = plan.signatures.by_bucket(plan.moved)
    people[: len(counts.signatures)] += counts.signatures.by_bucket(counts.bound)
    np.add.at(people, plan.separated.bucket, plan.separated.people)
    tuples = people + plan.signatures.by_bucket(plan.counterfeits)
    short: np.ndarray = people * plan.signatures.sizes < max(least, COMPANY) * tuples
    return short
