"""Plan a release on counts such that no bucket's graph has a cut at or below 2(e - 1).

He, Barman and Naughton, ICDE 2011, Algorithms 2 and 3. Who balances buckets and who is bucketized after
that is planned as for the first principle; what is ours is how many whole signatures a bucket receives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.buckets.counts import Counts, Plan
from republish.anonymize.buckets.plan import make_plan, shortages
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.e_equivalence.parameters import smallest_safe_cut

ATTEMPTS = 8
"""Plans there may be in search of one that fills whole signatures with people."""


@dataclass(frozen=True)
class Cuts:
    """The graphs of B buckets before anybody is inserted (`graph.Opening`)."""

    weight: Ints
    """int[B]: the smallest cut between nodes n and 0, less what is inserted."""
    connected: Bools
    """bool[B]: whether these two are connected already."""

    def of_first(self, buckets: int) -> Cuts:
        """The cuts, with new buckets, which have no graph yet, at the end."""
        grown = (0, buckets - len(self.weight))
        return Cuts(np.pad(self.weight, grown), np.pad(self.connected, grown))


def make_safe_plan(
    counts: Counts,
    cuts: Cuts,
    m: int,
    e: int,
    on_ineligible: str,
    draw: Callable[[], np.random.Generator],
    least: int = 1,
) -> Plan:
    """Balance, make every cut safe and assign everybody who is inserted, with few counterfeits.

    Whole signatures that cuts lack are wanted from the inserted people first. Assignment may open buckets
    that need more tuples; plans are made with these needs until none remain, and the one with the fewest
    counterfeits is taken; what it still lacks, counterfeits make up.

    Counterfeits that stay are among the bound people of `counts`. `cuts` are the graphs before anybody is
    inserted; m and e are at least 2. `draw` returns a generator of the same secret draws at every call. Other
    parameters and errors are those of `make_plan`.

    References
    ----------
    He, Barman and Naughton, ICDE 2011, Algorithms 2 and 3, Lemma 5.
    """
    existing = len(counts.signatures)
    inserted = counts.signatures.by_bucket(shortages(counts.signatures, counts.bound))
    wanted = _lacking(counts.signatures, inserted, cuts, e)[counts.signatures.bucket]
    plans: list[Plan] = []
    for _ in range(ATTEMPTS):
        plan = make_plan(counts, m, on_ineligible, draw(), least=least, wanted=wanted)
        plan = _without_empty(plan, counts)
        lacking = _lacking(plan.signatures, inserted_tuples(plan), cuts, e)
        plans.append(replace(plan, counterfeits=plan.counterfeits + lacking[plan.signatures.bucket]))
        if not lacking.any():
            break
        counts, wanted = _wanting(counts, plan, wanted, lacking)
    fewest = min(plans, key=lambda plan: int(plan.counterfeits.sum()))
    return _without_unused(fewest, existing)


def _lacking(signatures: Signatures, inserted: np.ndarray, cuts: Cuts, e: int) -> Ints:
    """int[B]: whole signatures each bucket lacks for a safe cut.

    Every tuple inserted is in every cut between nodes n and 0, so this is a division; Algorithm 3 finds
    the same number in a loop. Where the two are not connected, there is nothing to be cut.
    """
    cuts = cuts.of_first(len(signatures))
    missing = smallest_safe_cut(e) - cuts.weight - inserted
    needed = (cuts.connected | (inserted > 0)) & (missing > 0)
    return np.where(needed, -(-missing // np.maximum(signatures.sizes, 1)), 0)


def _separated(plan: Plan) -> Ints:
    """int[B']: people with changed values each bucket receives."""
    received = np.bincount(plan.separated.bucket, plan.separated.people, minlength=len(plan.signatures))
    return received.astype(np.int64)


def inserted_tuples(plan: Plan) -> Ints:
    """int[B']: tuples each bucket receives."""
    return plan.signatures.by_bucket(plan.moved + plan.counterfeits) + _separated(plan)


def _without_empty(plan: Plan, counts: Counts) -> Plan:
    """The plan without buckets that would hold nobody but counterfeits."""
    people = plan.signatures.by_bucket(plan.moved) + _separated(plan)
    people[: len(counts.signatures)] += counts.signatures.by_bucket(counts.bound)
    return replace(plan, counterfeits=plan.counterfeits * (people > 0)[plan.signatures.bucket])


def _wanting(
    counts: Counts, plan: Plan, wanted: np.ndarray, lacking: np.ndarray
) -> tuple[Counts, np.ndarray]:
    """Counts and needs to plan with next: buckets that lack signatures exist, and want them."""
    buckets = len(counts.signatures)
    new = buckets + np.flatnonzero(lacking[buckets:])
    rows = np.append(np.arange(buckets), new)
    signatures, _ = plan.signatures.only(rows)
    grown = (0, len(signatures.value) - len(wanted))
    counts = replace(counts, signatures=signatures, bound=np.pad(counts.bound, grown))
    return counts, np.pad(wanted, grown) + lacking[rows][signatures.bucket]


def _without_unused(plan: Plan, existing: int) -> Plan:
    """The plan without new buckets that nobody is in after all."""
    used = inserted_tuples(plan) > 0
    used[:existing] = True
    number = np.cumsum(used) - 1
    signatures, places = plan.signatures.only(np.flatnonzero(used))
    return replace(
        plan,
        signatures=signatures,
        moved=plan.moved[places],
        counterfeits=plan.counterfeits[places],
        separated=plan.separated._replace(bucket=number[plan.separated.bucket]),
    )
