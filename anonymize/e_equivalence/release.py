"""One release that keeps a series e-equivalent: T(n) and what is remembered -> two tables, R(n)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from anonymize.anatomy import anatomize
from anonymize.candidate import Candidate
from anonymize.contract import Contract
from anonymize.e_equivalence.forget import bound
from anonymize.e_equivalence.graph import Graphs, Opening, advance, open_graphs
from anonymize.e_equivalence.plan import Cuts, inserted_tuples, make_safe_plan
from anonymize.m_invariance.assign import HELD_BACK
from anonymize.m_invariance.divide import UNDECIDED, Division
from anonymize.m_invariance.plan import Plan
from anonymize.m_invariance.release import all_buckets, divide_people, execute, positions
from anonymize.state import State, remember

ALGORITHM_VERSION = "1"
"""Raised whenever the same inputs would give other published bytes."""


def release(
    people: pl.DataFrame,
    contract: Contract,
    state: State,
    number: int,
    draw: Callable[[str], np.random.Generator],
) -> Candidate:
    """Compute a release that keeps the series m-invariant and e-equivalent.

    A bucket (all tuples of one signature) is published as one group, its quasi-identifiers and its values in
    two tables. The smallest cut of every bucket's graph stays above 2(e - 1).

    Parameters
    ----------
    people
        T(n): the contract's columns, in their own types, and `pseudonym` (unique); in any order.
    contract
        Quasi-identifiers, sensitive attribute and the parameters of e-equivalence.
    state
        What is remembered of the releases before; `State.empty` for the first.
    number
        n, counted from 1.
    draw
        Secret randomness: a generator for each purpose.

    Raises
    ------
    NotEligible
        If the inserted people are not m-eligible, or too few values are left for changed ones.
    SnapshotError
        If sensitive values have another type than declared or than before, or are not declared.
    ValueChangeRefused
        If a value left its signature and the contract refuses that.

    References
    ----------
    He, Barman and Naughton, Preventing Equivalence Attacks, ICDE 2011, sections IV-A and VI.
    """
    # Ordered by a keyed hash: the order in which rows arrive decides nothing, and nobody can replay it.
    people = people.sort("pseudonym")
    principle = contract.principle
    values, _, division = divide_people(people, contract, state, number)
    opening = _open(people, division, contract, state, number)
    cuts = Cuts(opening.cuts(state.buckets.height), opening.connected(state.buckets.height))
    plan = make_safe_plan(
        _with_kept(division, opening, values, contract),
        cuts,
        principle.m,
        principle.e,
        principle.on_ineligible,
        lambda: draw("plan"),
    )
    bucket = execute(plan, division, draw("assign"))
    hosted = bucket != HELD_BACK
    new = _new_counterfeits(plan, values, people, contract, draw("counterfeits"))

    tuples = _all_tuples(people.filter(hosted), bucket[hosted], opening, new, contract)
    anatomy = anatomize(tuples.quasi_identifiers, tuples.value, tuples.bucket, tuples.counterfeit, contract)
    linkage = people.filter(hosted).select(
        contract.identifier,
        pl.Series("bucket_id", bucket[hosted], dtype=pl.Int32),
        pl.Series("group_id", anatomy.group_id[~tuples.counterfeit]),
    )
    buckets = all_buckets(state.buckets, plan, values)
    newest = _cuts_of(plan, cuts, buckets)
    inserted = _tuples(people, bucket, hosted & (division.bucket == UNDECIDED), contract)
    graphs = bound(advance(opening, inserted, new, newest), principle.e)
    in_use = _buckets_in_use(tuples, buckets)
    memory = remember(state.memory, people["pseudonym"].filter(hosted), linkage["bucket_id"], number)
    return Candidate(
        published=anatomy.tables(),
        linkage=linkage,
        buckets=in_use,
        state=State(memory=memory, buckets=buckets, tables=graphs.tables()),
        figures=_figures(division, plan, in_use, graphs, newest),
    )


def _open(people: pl.DataFrame, division: Division, contract: Contract, state: State, number: int) -> Opening:
    """The graphs before anybody is inserted."""
    known = _tuples(people, division.bucket, division.bucket != UNDECIDED, contract)
    columns = {f"{qi.name}_value": people.schema[qi.name] for qi in contract.quasi_identifiers}
    before = Graphs.of(state, people.schema[contract.sensitive.name])
    return open_graphs(before, known, state.memory, number, contract.principle.e, columns)


def _tuples(people: pl.DataFrame, bucket: np.ndarray, which: np.ndarray, contract: Contract) -> pl.DataFrame:
    """`pseudonym`, `bucket_id`, `value` of some people."""
    return people.select(
        "pseudonym",
        pl.Series("bucket_id", bucket, dtype=pl.Int32),
        pl.col(contract.sensitive.name).alias("value"),
    ).filter(which)


def _with_kept(division: Division, opening: Opening, values: pl.Series, contract: Contract):
    """The counts of the division, with counterfeits that stay among the bound tuples."""
    bound_tuples = division.counts.bound.copy()
    kept = opening.kept
    np.add.at(
        bound_tuples,
        (kept["bucket_id"].to_numpy(), positions(kept["value"], values, contract)),
        1,
    )
    return replace(division.counts, bound=bound_tuples)


def _new_counterfeits(
    plan: Plan, values: pl.Series, people: pl.DataFrame, contract: Contract, rng: np.random.Generator
) -> pl.DataFrame:
    """`bucket_id`, `value`, `<qi>_value`: new counterfeits with the quasi-identifiers of people of T(n).

    Whole vectors are drawn, so that no combination is one that people don't have; from everybody, not from
    those with the counterfeit's value: a rare value's few carriers would be known by their copies.
    """
    bucket, value = np.nonzero(plan.counterfeits)
    copies = plan.counterfeits[bucket, value]
    drawn = rng.integers(people.height, size=copies.sum()) if people.height else np.empty(0, np.int64)
    return pl.DataFrame(
        {
            "bucket_id": pl.Series(np.repeat(bucket, copies), dtype=pl.Int32),
            "value": values.gather(np.repeat(value, copies)),
        }
    ).with_columns(
        people[qi.name].gather(drawn).alias(f"{qi.name}_value") for qi in contract.quasi_identifiers
    )


@dataclass(frozen=True)
class Tuples:
    """The rows of T*(n): people, and below them counterfeits."""

    bucket: np.ndarray
    """int64[N]"""
    value: pl.Series
    """N sensitive values."""
    counterfeit: np.ndarray
    """bool[N]"""
    quasi_identifiers: pl.DataFrame
    """N rows `<qi>_value`."""


def _all_tuples(
    hosted: pl.DataFrame, bucket: np.ndarray, opening: Opening, new: pl.DataFrame, contract: Contract
) -> Tuples:
    real = hosted.select(
        pl.Series("bucket_id", bucket, dtype=pl.Int32),
        pl.col(contract.sensitive.name).alias("value"),
        *(pl.col(qi.name).alias(f"{qi.name}_value") for qi in contract.quasi_identifiers),
    )
    rows = pl.concat([real, *(part.select(real.columns) for part in (opening.kept, new) if part.height)])
    return Tuples(
        bucket=rows["bucket_id"].to_numpy().astype(np.int64),
        value=rows["value"],
        counterfeit=np.arange(rows.height) >= real.height,
        quasi_identifiers=rows.drop("bucket_id", "value"),
    )


def _cuts_of(plan: Plan, cuts: Cuts, buckets: pl.DataFrame) -> pl.DataFrame:
    """`bucket_id`, `min_cut`: the smallest cut between nodes n and 0, where the two are connected."""
    inserted, cuts = inserted_tuples(plan), cuts.of_first(len(plan.signatures))
    made = cuts.connected | (inserted > 0)
    return buckets.select("bucket_id", min_cut=pl.Series(cuts.weight + inserted, dtype=pl.Int64)).filter(made)


def _buckets_in_use(tuples: Tuples, buckets: pl.DataFrame) -> pl.DataFrame:
    return (
        pl.DataFrame(
            {"bucket_id": pl.Series(tuples.bucket, dtype=pl.Int32), "counterfeit": tuples.counterfeit}
        )
        .group_by("bucket_id")
        .agg(
            (~pl.col("counterfeit")).sum().cast(pl.Int64).alias("people"),
            pl.col("counterfeit").sum().cast(pl.Int64).alias("counterfeits"),
        )
        .join(buckets, on="bucket_id")
        .select("bucket_id", "signature", "people", "counterfeits", pl.lit(1, pl.Int64).alias("groups"))
        .sort("bucket_id")
    )


def _figures(
    division: Division,
    plan: Plan,
    in_use: pl.DataFrame,
    graphs: Graphs,
    newest: pl.DataFrame,
) -> dict[str, int]:
    people, counterfeits = in_use.select(pl.col("people", "counterfeits").sum().cast(pl.Int64)).row(0)
    return {
        "people": people,
        "carried": int((division.bucket != UNDECIDED).sum()),
        "returned": int(division.returned.sum()),
        "inserted": int(division.counts.free.sum()),
        "separated": int(division.counts.separated.sum()),
        "held_back": int(plan.held_back.sum() + plan.held_back_separated.sum()),
        "tuples": people + counterfeits,
        "groups": in_use.height,
        "counterfeits": counterfeits,
        "new_counterfeits": int(plan.counterfeits.sum()),
        "buckets": in_use.height,
        "cuts": newest.height,
        "smallest_cut": graphs.cuts["min_cut"].min() or 0,
        "nodes": graphs.nodes.height,
        "edges": graphs.edges.height,
    }
