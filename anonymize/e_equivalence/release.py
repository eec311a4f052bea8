"""One release that keeps a series e-equivalent: T(n) and what is remembered -> two tables, R(n)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import polars as pl

from republish.anonymize.buckets.assign import Assignment, Planned
from republish.anonymize.buckets.counterfeits import counterfeits_of, people_alike
from republish.anonymize.buckets.counts import Counts, Plan
from republish.anonymize.buckets.divide import UNDECIDED, Division
from republish.anonymize.buckets.figures import BucketFigures
from republish.anonymize.buckets.release import BucketRelease, Tuples
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Contract, Schema
from republish.anonymize.e_equivalence.forget import merge_old_nodes
from republish.anonymize.e_equivalence.graph import Graphs, Opening, advance, open_graphs
from republish.anonymize.e_equivalence.parameters import EEquivalence
from republish.anonymize.e_equivalence.plan import Cuts, inserted_tuples, make_safe_plan
from republish.anonymize.figures import Total
from republish.anonymize.formats.anatomy import anatomize
from republish.anonymize.people.codes import code_domain, decode, encode
from republish.anonymize.people.values import positions
from republish.anonymize.principle.candidate import Candidate
from republish.anonymize.principle.state import State

ATTRIBUTES = "attributes"
"""The state's table of the quasi-identifiers that its counterfeits have: `column`, `name`."""


def smallest_of_any(cuts: Iterable[int]) -> int:
    """The smallest cut of several graphs, some of which may have none (0)."""
    return min((cut for cut in cuts if cut), default=0)


@dataclass(frozen=True, kw_only=True)
class EquivalenceFigures(BucketFigures):
    """Figures of a release and of the graphs behind it."""

    new_counterfeits: Total
    """Counterfeits that this release adds."""
    cuts: Total
    """Buckets whose graph has a smallest cut, of this release."""
    smallest_cut: Annotated[int, smallest_of_any]
    """The weight of the smallest cut of all graphs; 0 where there is none."""
    nodes: Total
    edges: Total
    """Of all graphs."""


def release(
    people: pl.DataFrame,
    contract: Contract[EEquivalence],
    state: State,
    number: int,
    draw: Callable[[str], np.random.Generator],
) -> Candidate:
    """Compute a release that keeps the series m-invariant and e-equivalent; called as `Release` says.

    A bucket (all tuples of one signature) is published as one group, its quasi-identifiers and its values in
    two tables. The smallest cut of every bucket's graph stays above 2(e - 1).

    Raises
    ------
    NotEligible
        If the inserted people are not m-eligible, or too few values are left for changed ones.
    ValueChangeRefused
        If a person's new value is outside their signature and the contract refuses that.

    References
    ----------
    He, Barman and Naughton, Preventing Equivalence Attacks, ICDE 2011, sections IV-A and VI.
    """
    return _Release(people, contract, state, number, draw).candidate()


@dataclass(frozen=True, kw_only=True)
class _Planned(Planned):
    """A plan, with the graphs that it was made for."""

    opening: Opening
    cuts: Cuts


class _Release(BucketRelease[EEquivalence, _Planned]):
    def plan(self, people: pl.DataFrame, values: pl.Series, division: Division) -> _Planned:
        principle, buckets = self.contract.principle, self.memory.buckets.height
        opening = self._open(people, division)
        cuts = Cuts(opening.cuts(buckets), opening.connected(buckets))
        plan = make_safe_plan(
            _with_kept(division, opening, values),
            cuts,
            principle.m,
            principle.e,
            principle.on_ineligible,
            lambda: self.draw("plan"),
            principle.people_per_group,
        )
        return _Planned(plan=plan, opening=opening, cuts=cuts)

    def _open(self, people: pl.DataFrame, division: Division) -> Opening:
        """The graphs before anybody is inserted."""
        known = _tuples(people, division.bucket, division.bucket != UNDECIDED)
        before = Graphs.of(self.state, people.schema[VALUE])
        fits = _fits(self.contract, self.state.tables.get(ATTRIBUTES))
        return open_graphs(before, known, self.memory.people, self.number, self.contract.principle.e, fits)

    def _new_counterfeits(self, assigned: Assignment[_Planned]) -> pl.DataFrame:
        """`bucket_id`, `value`, `qi_0`, …: new counterfeits, the same ones at every call.

        A bucket is published as one group. So a counterfeit hides among the people of its bucket, and has the
        quasi-identifiers of one of them.
        """
        bucket, value = counterfeits_of(assigned.planned.plan)
        hosting, buckets = assigned.bucket[assigned.is_hosted], len(assigned.planned.plan.signatures)
        alike = people_alike(bucket, hosting, buckets, self.draw("counterfeits").integers)
        columns = [column for column, _ in self.contract.attributes()]
        return pl.DataFrame(
            {"bucket_id": pl.Series(bucket, dtype=pl.Int32), VALUE: assigned.values.gather(value)}
        ).with_columns(assigned.hosted[column].gather(alike) for column in columns)

    def publish(self, assigned: Assignment[_Planned]) -> Tuples:
        columns = ["bucket_id", VALUE, *(column for column, _ in self.contract.attributes())]
        bucket = pl.Series("bucket_id", assigned.bucket[assigned.is_hosted], dtype=pl.Int32)
        counterfeits = assigned.planned.opening.kept, self._new_counterfeits(assigned)
        parts = assigned.hosted.with_columns(bucket), *(part for part in counterfeits if part.height)
        tuples = pl.concat(part.select(columns) for part in parts)
        its_bucket = tuples["bucket_id"].to_numpy().astype(np.int64)
        counterfeit = np.arange(tuples.height) >= assigned.hosted.height
        anatomy = anatomize(tuples, tuples[VALUE], its_bucket, counterfeit, self.contract)
        return Tuples(
            tables=anatomy.tables, group_id=anatomy.group_id, bucket=its_bucket, counterfeit=counterfeit
        )

    def remember(
        self, everybody: Division, assigned: Assignment[_Planned], in_use: pl.DataFrame, _: Tuples
    ) -> tuple[dict[str, pl.DataFrame], EquivalenceFigures]:
        plan, opening, bucket = assigned.planned.plan, assigned.planned.opening, assigned.bucket
        newest = _cuts_of(plan, assigned.planned.cuts)
        is_inserted = assigned.is_hosted & (assigned.division.bucket == UNDECIDED)
        inserted = _tuples(assigned.people, bucket, is_inserted)
        graphs = advance(opening, inserted, self._new_counterfeits(assigned), newest)
        graphs = merge_old_nodes(graphs, self.contract.principle.e)
        figures = EquivalenceFigures.counted(
            everybody,
            plan,
            in_use,
            new_counterfeits=int(plan.counterfeits.sum()),
            cuts=newest.height,
            smallest_cut=graphs.cuts.select(pl.col("min_cut").min()).item() or 0,
            nodes=graphs.nodes.height,
            edges=graphs.edges.height,
        )
        return {**graphs.tables(), ATTRIBUTES: _attributes(self.contract)}, figures


def _attributes(schema: Schema) -> pl.DataFrame:
    """`column`, `name`, `dtype`: what the columns of counterfeits stand for."""
    rows = [(column, qi.name, str(qi.dtype)) for column, qi in schema.attributes()]
    return pl.DataFrame(rows, schema=["column", "name", "dtype"], orient="row")


def _fits(schema: Schema, attributes: pl.DataFrame | None) -> pl.Expr:
    """True for a counterfeit of the release before whose quasi-identifiers are inside today's domains."""
    if attributes is None or not attributes.equals(_attributes(schema)):
        return pl.lit(value=False)
    inside = []
    for column, qi in schema.attributes():
        code = encode(pl.col(column), qi)
        is_missing = decode(code, qi).eq_missing(pl.col(column)) & qi.publishes_missing
        inside.append(pl.when(code.is_null()).then(is_missing).otherwise(code.is_between(*code_domain(qi))))
    return pl.all_horizontal(inside)


def _tuples(people: pl.DataFrame, bucket: np.ndarray, which: np.ndarray) -> pl.DataFrame:
    """`pseudonym`, `bucket_id`, `value` of some people."""
    return people.select(PSEUDONYM, pl.Series("bucket_id", bucket, dtype=pl.Int32), VALUE).filter(which)


def _with_kept(division: Division, opening: Opening, values: pl.Series) -> Counts:
    """The counts of the division, with counterfeits that stay among the bound tuples."""
    bound_tuples = division.counts.bound.copy()
    kept = opening.kept
    bucket = kept["bucket_id"].to_numpy().astype(np.int64)
    np.add.at(bound_tuples, division.counts.signatures.find(bucket, positions(kept[VALUE], values)), 1)
    return replace(division.counts, bound=bound_tuples)


def _cuts_of(plan: Plan, cuts: Cuts) -> pl.DataFrame:
    """`bucket_id`, `min_cut`: the smallest cut between nodes n and 0, where the two are connected."""
    inserted, cuts = inserted_tuples(plan), cuts.of_first(len(plan.signatures))
    made = np.flatnonzero(cuts.connected | (inserted > 0))
    weight = (cuts.weight + inserted)[made]
    return pl.DataFrame(
        {"bucket_id": made, "min_cut": weight}, schema={"bucket_id": pl.Int32, "min_cut": pl.Int64}
    )
