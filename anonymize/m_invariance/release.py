"""One m-invariant release: T(n) and what is remembered of earlier releases -> T*(n), R(n)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from anonymize.arrays import Bools, Floats, Ints
from anonymize.buckets.assign import HELD_BACK, Local, execute
from anonymize.buckets.company import place_in_company
from anonymize.buckets.counts import Plan
from anonymize.buckets.divide import TOO_FEW_OTHERS, UNDECIDED, Division, divide_people
from anonymize.buckets.figures import BucketFigures
from anonymize.buckets.memory import Memory
from anonymize.buckets.plan import make_plan
from anonymize.buckets.tables import all_buckets, buckets_in_use
from anonymize.columns import PSEUDONYM, VALUE, most_of
from anonymize.contract import Contract
from anonymize.contract.combined import values_of
from anonymize.errors import NotEligible
from anonymize.figures import Total
from anonymize.m_invariance.combinations import Combinations, combinations_of, have_signature
from anonymize.m_invariance.family import Begun
from anonymize.m_invariance.neighbours import find_cells, from_the_neighbourhood
from anonymize.m_invariance.parameters import KNOWS_ALGORITHM, MInvariance
from anonymize.m_invariance.plan_combinations import plan_combinations
from anonymize.m_invariance.publish import Tuples, normalised, publish_groups
from anonymize.m_invariance.regions import find_regions
from anonymize.m_invariance.whole_groups import WholeGroups, plan_whole_groups
from anonymize.people.codes import encode_columns
from anonymize.people.ranks import keyed_ranks
from anonymize.principle.candidate import Candidate
from anonymize.principle.state import State

GROUPING = "grouping"
"""The state's table with one row, `key`: 32 secret bytes of the first release. All groups follow them."""
APART = "apart"
"""The state's table of the buckets of people whose value changed, `bucket_id`, in a series against an
adversary who knows the algorithm."""


@dataclass(frozen=True, kw_only=True)
class WholeGroupFigures(BucketFigures):
    """What is counted of a release against an adversary who knows the algorithm."""

    apart: Total
    """People in buckets of people whose value changed."""


@dataclass(frozen=True, kw_only=True)
class DeferredFigures(BucketFigures):
    """What is counted where the fewest people are held back (`defer`), of several sensitive columns."""

    deferred_now: Total
    """New people who are held back."""
    deferred_alike: Total
    """The most of these who have the same value in every column; of shards the sum, which is no less."""
    deferred_alike_in_a_column: Total
    """The most of these who have the same value in one column; of shards the sum, which is no less."""


def release(
    people: pl.DataFrame,
    contract: Contract[MInvariance],
    state: State,
    number: int,
    draw: Callable[[str], np.random.Generator],
) -> Candidate:
    """Compute a release that keeps the series m-invariant; called as `Release` says.

    Only the last state is consulted (Lemma 4). People published before keep their signature, after
    any absence, as long as their value lies in it; if it doesn't, they get one disjoint from all their
    earlier ones (`on_value_change: separate`).

    Raises
    ------
    NotEligible
        If the inserted people are not m-eligible, or too few values are left for changed ones.
    ValueChangeRefused
        If a person's new value is outside their signature and the contract refuses that.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, sections 3.3 and 4.
    """
    # Ordered by a keyed hash: the order in which rows arrive decides nothing, and nobody can replay it.
    people = people.sort(PSEUDONYM)
    memory = Memory.of(state, people.schema[VALUE])
    everybody = people
    division, people, placed = place_in_company(
        people,
        contract.principle.people_per_group,
        lambda some: _place(some, contract, state, memory, number, draw),
    )
    values, plan, bucket = placed.values, placed.plan, placed.bucket
    is_hosted = bucket != HELD_BACK
    hosted = people.filter(is_hosted)
    tuples = Tuples.of(bucket[is_hosted], placed.value[is_hosted], plan)
    grouping = state.tables.get(GROUPING)
    if grouping is None:
        grouping = pl.DataFrame({"key": [draw("grouping").bytes(32)]})
    published = publish_groups(
        hosted,
        placed.codes.filter(is_hosted),
        tuples,
        values.gather(tuples.value),
        contract,
        grouping["key"].item(),
    )
    linkage = hosted.select(
        PSEUDONYM,
        pl.Series("bucket_id", bucket[is_hosted], dtype=pl.Int32),
        pl.Series("group_id", published.group_id[~tuples.counterfeit]),
    )
    buckets = all_buckets(memory.buckets, plan, values)
    in_use = buckets_in_use(tuples.bucket, published.group_id, tuples.counterfeit, buckets)
    tables = {**memory.after(linkage, buckets, number).tables(), GROUPING: grouping}
    figures = BucketFigures.counted(division, plan, in_use)
    if placed.apart is not None:
        tables[APART] = pl.DataFrame({"bucket_id": pl.Series(np.flatnonzero(placed.apart), dtype=pl.Int32)})
        figures = WholeGroupFigures.counted(division, plan, in_use, apart=int(placed.apart[bucket].sum()))
    if contract.sensitive.is_several and contract.principle.on_ineligible == "defer":
        is_new = (division.bucket == UNDECIDED) & (division.queue < len(division.counts.free))
        deferred = everybody.filter(is_new).join(hosted, on=PSEUDONYM, how="anti")[VALUE]
        figures = DeferredFigures.counted(
            division,
            plan,
            in_use,
            deferred_now=len(deferred),
            deferred_alike=_most_alike([deferred]),
            deferred_alike_in_a_column=_most_alike(values_of(deferred, contract.sensitive)),
        )
    return Candidate(
        published=published.tables,
        linkage=linkage,
        buckets=in_use,
        state=State(tables),
        figures=figures,
    )


def _most_alike(columns: Sequence[pl.Series]) -> int:
    """The most people who have the same value in one of some columns."""
    return max((int(most_of(one.value_counts()["count"]) or 0) for one in columns), default=0)


class _Placed(NamedTuple):
    """N people and their buckets."""

    value: Ints
    """int[N]"""
    division: Division
    values: pl.Series
    """All sensitive values there are."""
    codes: pl.DataFrame
    """N rows: quasi-identifiers as codes."""
    plan: Plan
    apart: Bools | None
    """The buckets that are apart, against an adversary who knows the algorithm."""
    bucket: Ints
    """int[N]"""


def _place(
    people: pl.DataFrame,
    contract: Contract[MInvariance],
    state: State,
    memory: Memory,
    number: int,
    draw: Callable[[str], np.random.Generator],
) -> _Placed:
    """Divide people, plan on counts, and choose who comes to which bucket."""
    values, value, division = divide_people(people, contract, memory, number)
    several, spread = None, contract.principle.spread
    if contract.sensitive.is_several or spread:
        several = combinations_of(values, contract.sensitive, spread)
    if several is not None and division.counts.forbidden.size:
        _refuse_too_few_others(division, several, contract.principle.m)
    codes = encode_columns(people, contract)
    local: Iterable[Local] = []
    apart: Bools | None = None
    if contract.principle.adversary == KNOWS_ALGORITHM:
        plan, apart = _whole_groups(division, memory, state, contract)
    else:
        plan, local = _nearby(division, normalised(codes, contract), contract.principle, several, draw)
    bucket = execute(plan, division, keyed_ranks(people[PSEUDONYM], draw("assign")), local)
    return _Placed(value, division, values, codes, plan, apart, bucket)


def _refuse_too_few_others(division: Division, several: Combinations, m: int) -> None:
    """Raise NotEligible if somebody who is held back could not have m combinations that differ."""
    rows, at = np.unique(division.counts.forbidden, axis=0, return_inverse=True)
    is_small = np.array([not have_signature(np.flatnonzero(~row), several, m) for row in rows])[at]
    if is_small.any():
        classes = len(several.part) + np.flatnonzero(is_small)
        people = int(np.isin(division.queue, classes).sum())
        raise NotEligible(TOO_FEW_OTHERS.format(people=people, m=m))


def _nearby(
    division: Division,
    shares: Floats,
    principle: MInvariance,
    several: Combinations | None,
    draw: Callable[[str], np.random.Generator],
) -> tuple[Plan, Iterable[Local]]:
    """A plan with the fewest counterfeits, and from where the people come whom it moves."""
    if several is not None:
        plan = plan_combinations(
            division.counts,
            several,
            principle.m,
            principle.on_ineligible,
            draw("plan"),
            least=principle.people_per_group,
        )
        return plan, from_the_neighbourhood(division, plan, find_cells(shares), draw("neighbours"))
    regions = find_regions(shares, division.counts.everybody, principle.m)
    begun = None
    if regions.number > 1 and not len(division.counts.signatures):
        by_region = regions.count_by(division.queue, len(division.counts.free))
        begun = Begun(regions, by_region, principle.m)
    plan = make_plan(
        division.counts,
        principle.m,
        principle.on_ineligible,
        draw("plan"),
        least=principle.people_per_group,
        first=begun,
        largest_first=True,
    )
    if begun:
        return plan, begun.local(plan)
    if regions.number > 1:
        return plan, from_the_neighbourhood(division, plan, find_cells(shares), draw("neighbours"))
    return plan, []


def _whole_groups(
    division: Division, memory: Memory, state: State, contract: Contract[MInvariance]
) -> WholeGroups:
    """A plan of arrivals in whole groups. Values that nobody but a changed person has are not public."""
    apart = np.zeros(memory.buckets.height, bool)
    if (kept := state.tables.get(APART)) is not None:
        apart[kept["bucket_id"].to_numpy()] = True
    public = division.counts.free > 0
    public[division.counts.signatures.value] = True
    if contract.sensitive.values is not None:
        public[:] = True
    return plan_whole_groups(division.counts, contract.principle.m, apart, public)
