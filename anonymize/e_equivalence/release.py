"""One release that keeps a series e-equivalent: T(n) and what is remembered -> two tables, R(n)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
import polars as pl

from anonymize.arrays import Bools, Ints
from anonymize.buckets.assign import HELD_BACK, execute
from anonymize.buckets.company import place_in_company
from anonymize.buckets.counterfeits import counterfeits_of, people_alike
from anonymize.buckets.counts import Counts, Plan
from anonymize.buckets.divide import UNDECIDED, Division, divide_people
from anonymize.buckets.figures import BucketFigures
from anonymize.buckets.memory import Memory
from anonymize.buckets.tables import all_buckets, buckets_in_use
from anonymize.columns import PSEUDONYM, VALUE
from anonymize.contract import Contract, Schema
from anonymize.e_equivalence.forget import merge_old_nodes
from anonymize.e_equivalence.graph import Graphs, Opening, advance, open_graphs
from anonymize.e_equivalence.parameters import EEquivalence
from anonymize.e_equivalence.plan import Cuts, inserted_tuples, make_safe_plan
from anonymize.figures import Total
from anonymize.formats.anatomy import anatomize
from anonymize.people.codes import code_domain, encode
from anonymize.people.ranks import keyed_ranks
from anonymize.people.values import positions
from anonymize.principle.candidate import Candidate
from anonymize.principle.state import State

ATTRIBUTES = "attributes"
"""The state's table of the quasi-identifiers that its counterfeits have: `column`, `name`."""


def smallest_of_any(cuts: Iterable[int]) -> int:
    """The smallest cut of several graphs, some of which may have none (0)."""
    return min((cut for cut in cuts if cut), default=0)


@dataclass(frozen=True, kw_only=True)
class EquivalenceFigures(BucketFigures):
    """What is counted of a release and of the graphs behind it."""

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
    # Ordered by a keyed hash: the order in which rows arrive decides nothing, and nobody can replay it.
    people = people.sort(PSEUDONYM)
    memory = Memory.of(state, people.schema[VALUE])
    division, people, placed = place_in_company(
        people,
        contract.principle.people_per_group,
        lambda some: _place(some, contract, state, memory, number, draw),
    )
    values, plan, bucket = placed.values, placed.plan, placed.bucket
    is_hosted = bucket != HELD_BACK
    hosted = people.filter(is_hosted)
    new = _new_counterfeits(plan, values, hosted, bucket[is_hosted], contract, draw("counterfeits"))

    tuples = _all_tuples(hosted, bucket[is_hosted], placed.opening, new, contract)
    anatomy = anatomize(tuples.quasi_identifiers, tuples.value, tuples.bucket, tuples.counterfeit, contract)
    linkage = hosted.select(
        PSEUDONYM,
        pl.Series("bucket_id", bucket[is_hosted], dtype=pl.Int32),
        pl.Series("group_id", anatomy.group_id[~tuples.counterfeit]),
    )
    buckets = all_buckets(memory.buckets, plan, values)
    newest = _cuts_of(plan, placed.cuts, buckets)
    inserted = _tuples(people, bucket, is_hosted & (placed.division.bucket == UNDECIDED))
    graphs = merge_old_nodes(advance(placed.opening, inserted, new, newest), contract.principle.e)
    in_use = buckets_in_use(tuples.bucket, tuples.bucket, tuples.counterfeit, buckets)
    memory = memory.after(linkage, buckets, number)
    return Candidate(
        published=anatomy.tables,
        linkage=linkage,
        buckets=in_use,
        state=State({**memory.tables(), **graphs.tables(), ATTRIBUTES: _attributes(contract)}),
        figures=EquivalenceFigures.counted(
            division,
            plan,
            in_use,
            new_counterfeits=int(plan.counterfeits.sum()),
            cuts=newest.height,
            smallest_cut=graphs.cuts.select(pl.col("min_cut").min()).item() or 0,
            nodes=graphs.nodes.height,
            edges=graphs.edges.height,
        ),
    )


class _Placed(NamedTuple):
    """N people and their buckets."""

    value: Ints
    """int[N]"""
    division: Division
    values: pl.Series
    """All sensitive values there are."""
    opening: Opening
    cuts: Cuts
    plan: Plan
    bucket: Ints
    """int[N]"""


def _place(
    people: pl.DataFrame,
    contract: Contract[EEquivalence],
    state: State,
    memory: Memory,
    number: int,
    draw: Callable[[str], np.random.Generator],
) -> _Placed:
    """Divide people, open the graphs, plan on counts, and choose who comes to which bucket."""
    principle = contract.principle
    values, value, division = divide_people(people, contract, memory, number)
    opening = _open(people, division, contract, state, memory, number)
    cuts = Cuts(opening.cuts(memory.buckets.height), opening.connected(memory.buckets.height))
    plan = make_safe_plan(
        _with_kept(division, opening, values),
        cuts,
        principle.m,
        principle.e,
        principle.on_ineligible,
        lambda: draw("plan"),
        principle.people_per_group,
    )
    bucket = execute(plan, division, keyed_ranks(people[PSEUDONYM], draw("assign")))
    return _Placed(value, division, values, opening, cuts, plan, bucket)


def _open(
    people: pl.DataFrame,
    division: Division,
    contract: Contract[EEquivalence],
    state: State,
    memory: Memory,
    number: int,
) -> Opening:
    """The graphs before anybody is inserted."""
    known = _tuples(people, division.bucket, division.bucket != UNDECIDED)
    before = Graphs.of(state, people.schema[VALUE])
    fits = _fits(contract, state.tables.get(ATTRIBUTES))
    return open_graphs(before, known, memory.people, number, contract.principle.e, fits)


def _attributes(schema: Schema) -> pl.DataFrame:
    """`column`, `name`, `dtype`: what the columns of counterfeits stand for."""
    rows = [(column, qi.name, str(qi.dtype)) for column, qi in schema.attributes()]
    return pl.DataFrame(rows, schema=["column", "name", "dtype"], orient="row")


def _fits(schema: Schema, attributes: pl.DataFrame | None) -> pl.Expr:
    """Whether a counterfeit of the release before has today's quasi-identifiers, inside today's domains."""
    if attributes is None or not attributes.equals(_attributes(schema)):
        return pl.lit(value=False)
    inside = [
        encode(pl.col(column), qi).is_between(*code_domain(qi)).fill_null(value=False)
        for column, qi in schema.attributes()
    ]
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


def _new_counterfeits(
    plan: Plan,
    values: pl.Series,
    hosted: pl.DataFrame,
    bucket: np.ndarray,
    schema: Schema,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """`bucket_id`, `value`, `qi_0`, …: new counterfeits with the quasi-identifiers of people of their bucket.

    A bucket is published as one group, so a counterfeit hides among the people of its bucket, and of nobody
    else.

    Parameters
    ----------
    plan
        No bucket of it has counterfeits and nobody in it.
    values
        What the plan's columns stand for.
    hosted, bucket
        The people in the release, and the bucket of each.
    schema
        The quasi-identifiers.
    rng
        Secret randomness.
    """
    its_bucket, value = counterfeits_of(plan)
    alike = people_alike(its_bucket, bucket, len(plan.signatures), rng.integers)
    columns = [column for column, _ in schema.attributes()]
    return pl.DataFrame(
        {"bucket_id": pl.Series(its_bucket, dtype=pl.Int32), VALUE: values.gather(value)}
    ).with_columns(hosted[column].gather(alike) for column in columns)


@dataclass(frozen=True)
class Tuples:
    """The rows of T*(n): people, and below them counterfeits."""

    bucket: Ints
    """int64[N]"""
    value: pl.Series
    """N sensitive values."""
    counterfeit: Bools
    """bool[N]"""
    quasi_identifiers: pl.DataFrame
    """N rows `qi_0`, …."""


def _all_tuples(
    hosted: pl.DataFrame, bucket: np.ndarray, opening: Opening, new: pl.DataFrame, schema: Schema
) -> Tuples:
    columns = [column for column, _ in schema.attributes()]
    real = hosted.select(pl.Series("bucket_id", bucket, dtype=pl.Int32), VALUE, *columns)
    rows = pl.concat([real, *(part.select(real.columns) for part in (opening.kept, new) if part.height)])
    return Tuples(
        bucket=rows["bucket_id"].to_numpy().astype(np.int64),
        value=rows[VALUE],
        counterfeit=np.arange(rows.height) >= real.height,
        quasi_identifiers=rows.select(columns),
    )


def _cuts_of(plan: Plan, cuts: Cuts, buckets: pl.DataFrame) -> pl.DataFrame:
    """`bucket_id`, `min_cut`: the smallest cut between nodes n and 0, where the two are connected."""
    inserted, cuts = inserted_tuples(plan), cuts.of_first(len(plan.signatures))
    made = cuts.connected | (inserted > 0)
    return buckets.select("bucket_id", min_cut=pl.Series(cuts.weight + inserted, dtype=pl.Int64)).filter(made)
