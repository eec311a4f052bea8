"""One m-invariant release: T(n) and what is remembered of earlier releases -> T*(n), R(n)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.buckets.assign import Assignment, Planned, RegionalDemand
from republish.anonymize.buckets.counts import Plan
from republish.anonymize.buckets.divide import UNDECIDED, Division, divide_people
from republish.anonymize.buckets.figures import BucketFigures
from republish.anonymize.buckets.further import plan_weighed
from republish.anonymize.buckets.public_values import refuse_lone_values
from republish.anonymize.buckets.release import BucketRelease, Tuples
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Contract
from republish.anonymize.figures import Total
from republish.anonymize.m_invariance.assign_units import assign_units
from republish.anonymize.m_invariance.combinations import Combinations, combinations_of
from republish.anonymize.m_invariance.companions import COMPANIONS
from republish.anonymize.m_invariance.family import InitialGroups
from republish.anonymize.m_invariance.lasting_groups import TOGETHER
from republish.anonymize.m_invariance.neighbours import (
    ENTRIES,
    count_arrivals,
    find_cells,
    from_the_neighbourhood,
)
from republish.anonymize.m_invariance.parameters import KNOWS_ALGORITHM, MInvariance
from republish.anonymize.m_invariance.plan_combinations import plan_combinations
from republish.anonymize.m_invariance.publish import publish_groups
from republish.anonymize.m_invariance.regions import find_regions
from republish.anonymize.m_invariance.rows_apart import with_groups_for_rows
from republish.anonymize.m_invariance.units import UNITS, find_units, units_of, without_room
from republish.anonymize.m_invariance.whole_groups import WholeGroups, plan_whole_groups
from republish.anonymize.people.codes import as_shares, encode_columns
from republish.anonymize.people.persons import persons_of
from republish.anonymize.people.ranks import keyed_ranks
from republish.anonymize.people.rows import counted_in, has_several_rows
from republish.anonymize.people.values import positions
from republish.anonymize.principle.candidate import Candidate
from republish.anonymize.principle.state import State

GROUPING = "grouping"
"""The state's table with one row, `key`: 32 secret bytes of the first release. All groups follow them."""
APART = "apart"
"""The state's table of the buckets of people whose value changed, `bucket_id`, in a series against an
adversary who knows the algorithm."""


@dataclass(frozen=True, kw_only=True)
class WholeGroupFigures(BucketFigures):
    """Figures of a release against an adversary who knows the algorithm."""

    apart: Total
    """People in buckets of people whose value changed."""


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
    of_a_table = _ReleaseOfRows if has_several_rows(contract) else _Release
    return of_a_table(people, contract, state, number, draw).candidate()


@dataclass(frozen=True, kw_only=True)
class _Planned(Planned):
    """A plan, with what it was made from."""

    codes: pl.DataFrame
    """N rows: quasi-identifiers as codes."""
    apart: Bools | None
    """The buckets that are apart, against an adversary who knows the algorithm."""


class _Release(BucketRelease[MInvariance, _Planned]):
    keeps_rows_apart = False

    def plan(
        self, people: pl.DataFrame, values: pl.Series, division: Division, on_ineligible: str | None = None
    ) -> _Planned:
        principle, sensitive = self.contract.principle, self.contract.sensitive
        if on_ineligible is not None:
            principle = principle.model_copy(update={"on_ineligible": on_ineligible})
        codes = encode_columns(people, self.contract)
        if principle.adversary == KNOWS_ALGORITHM:
            whole = self._whole_groups(division)
            return _Planned(plan=whole.plan, codes=codes, apart=whole.apart)
        # Whoever lacks a value lives in the middle of its domain: near to as many people as can be.
        shares, several = as_shares(codes, self.contract, missing=0.5), None
        if sensitive.is_several:
            several = combinations_of(values, sensitive)
        counted = counted_in(self.contract)
        plan, regional = _nearby(
            division, shares, principle, several, self.draw, counted, weighs=self.number > 1
        )
        return _Planned(plan=plan, regional=regional, codes=codes, apart=None)

    def _whole_groups(self, division: Division) -> WholeGroups:
        """A plan of arrivals in whole groups. Values that nobody but a changed person has are not public."""
        apart = np.zeros(self.memory.buckets.height, bool)
        if (kept := self.state.tables.get(APART)) is not None:
            apart[kept["bucket_id"].to_numpy()] = True
        public = division.counts.free > 0
        public[division.counts.signatures.value] = True
        if self.contract.sensitive.values is not None:
            public[:] = True
        counted = counted_in(self.contract)
        return plan_whole_groups(division.counts, self.contract.principle.m, apart, public, counted)

    @cached_property
    def _grouping(self) -> pl.DataFrame:
        return self.state.tables.get(GROUPING, pl.DataFrame({"key": [self.draw("grouping").bytes(32)]}))

    def publish(self, assigned: Assignment[_Planned]) -> Tuples:
        secret, tables = self._grouping["key"].item(), self.state.tables
        before, companions = tables.get(TOGETHER), tables.get(COMPANIONS)
        return publish_groups(
            assigned,
            assigned.planned.codes,
            self.contract,
            secret,
            before,
            companions,
            keeps_rows_apart=self.keeps_rows_apart,
        )

    def remember(
        self, everybody: Division, assigned: Assignment[_Planned], in_use: pl.DataFrame, tuples: Tuples
    ) -> tuple[dict[str, pl.DataFrame], BucketFigures]:
        tables, plan, apart = dict(tuples.remembered), assigned.planned.plan, assigned.planned.apart
        tables[GROUPING] = self._grouping
        if apart is not None:
            tables[APART] = pl.DataFrame({"bucket_id": pl.Series(np.flatnonzero(apart), dtype=pl.Int32)})
            people = int(apart[assigned.bucket].sum())
            return tables, WholeGroupFigures.counted(everybody, plan, in_use, apart=people)
        return tables, BucketFigures.counted(everybody, plan, in_use)


class _ReleaseOfRows(_Release):
    """A release of people who have several rows: a person's rows of one value are a unit (`units`)."""

    keeps_rows_apart = True

    def _assign(self, people: pl.DataFrame) -> Assignment[_Planned]:
        principle = self.contract.principle
        assert principle.values_per_person is not None  # a contract with several rows has it
        values, value, division = divide_people(
            people, self.contract, self.memory, self.number, is_changed=False
        )
        ranks = keyed_ranks(people[PSEUDONYM], self.draw("assign"))
        known = self._units_so_far(people, division)
        known = known.with_columns(pl.Series(VALUE, positions(known[VALUE], values)))
        excess = without_room(people, value, division, known, principle.m, ranks)
        units, division = find_units(
            people, value, division, self.memory, principle.values_per_person, principle.m, ranks, excess
        )
        planned, plan, bucket = assign_units(
            units, value, division, partial(self.plan, people, values), principle.m, self.draw("units")
        )
        person = persons_of(people[PSEUDONYM]).rle_id().to_numpy().astype(np.int64)
        counterfeits = with_groups_for_rows(plan.signatures, plan.counterfeits, bucket, person)
        planned = replace(planned, plan=replace(plan, counterfeits=counterfeits), regional=())
        return Assignment(people, values, value, division, planned, bucket)

    def _units_so_far(self, people: pl.DataFrame, division: Division) -> pl.DataFrame:
        """The units of earlier releases. Older versions kept the rows of the last one at most."""
        if (units := self.state.tables.get(UNITS)) is not None:
            return units
        carried = division.bucket != UNDECIDED
        rows, bucket = people.filter(carried), division.bucket[carried]
        if (last := self.state.tables.get(TOGETHER)) is None:
            return units_of(rows, bucket)
        was_there = rows[PSEUDONYM].is_in(last[PSEUDONYM].implode())
        return units_of(rows.filter(was_there), bucket[was_there.to_numpy()])

    def _check_public(self, assigned: Assignment[_Planned], tuples: Tuples, public: Bools) -> None:
        super()._check_public(assigned, tuples, public)
        refuse_lone_values(assigned, tuples.group_id, tuples.counterfeit, public, self.contract.principle.m)

    def remember(
        self, everybody: Division, assigned: Assignment[_Planned], in_use: pl.DataFrame, tuples: Tuples
    ) -> tuple[dict[str, pl.DataFrame], BucketFigures]:
        tables, figures = super().remember(everybody, assigned, in_use, tuples)
        today = units_of(assigned.hosted, assigned.bucket[assigned.is_hosted])
        before = self.state.tables.get(UNITS, today.clear())
        return {**tables, UNITS: pl.concat([before, today]).unique().sort(today.columns)}, figures


def _nearby(
    division: Division,
    shares: Floats,
    principle: MInvariance,
    several: Combinations | None,
    draw: Callable[[str], np.random.Generator],
    counted: str,
    *,
    weighs: bool,
) -> tuple[Plan, Iterable[RegionalDemand]]:
    """A plan with few counterfeits, and from where the people come whom it moves."""
    if several is not None:
        cells = find_cells(shares, ENTRIES / max(len(several.part), 1))
        is_near = several.columns > 1 and cells.leaves.number > 1
        plan, elsewhere = plan_combinations(
            division.counts,
            several,
            principle.m,
            principle.on_ineligible,
            draw("plan"),
            least=principle.people_per_group,
            arrivals=count_arrivals(division, cells.leaves) if is_near else None,
        )
        return plan, from_the_neighbourhood(division, plan, cells, draw("neighbours"), elsewhere)
    regions = find_regions(shares, division.counts.everybody, principle.m)
    initial = None
    if regions.number > 1 and not len(division.counts.signatures):
        by_region = regions.count_by(division.queue, len(division.counts.free))
        initial = InitialGroups(regions, by_region, principle.m)
    plan = plan_weighed(
        division.counts,
        principle.m,
        principle.on_ineligible,
        partial(draw, "plan"),
        least=principle.people_per_group,
        first=initial,
        counted=counted,
        weighs=weighs,
    )
    if initial:
        return plan, initial.regional(plan)
    if regions.number > 1:
        return plan, from_the_neighbourhood(division, plan, find_cells(shares), draw("neighbours"))
    return plan, []


def regions_of(codes: pl.DataFrame, values: Ints, contract: Contract[MInvariance]) -> Ints:
    """The regions by which a first release groups people, as `Principle.regions` says."""
    shares = as_shares(codes, contract, missing=0.5)
    return find_regions(shares, values, contract.principle.m).of_person.astype(np.int64)
