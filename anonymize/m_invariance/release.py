"""One m-invariant release: T(n) and what is remembered of earlier releases -> T*(n), R(n)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from anonymize.candidate import Candidate
from anonymize.codes import code_domain, encode_columns
from anonymize.contract import Contract
from anonymize.errors import ValueChangeRefused
from anonymize.generalize import generalize
from anonymize.m_invariance.assign import HELD_BACK, assign
from anonymize.m_invariance.divide import UNDECIDED, Division, divide
from anonymize.m_invariance.plan import Plan, make_plan
from anonymize.m_invariance.split import EMPTY, split
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
    """Compute a release that keeps the series m-invariant.

    Only the last state is consulted (Lemma 4). People published before keep their signature, after
    any absence, as long as their value lies in it; if it doesn't, they get one disjoint from all their
    earlier ones (`on_value_change: separate`).

    Parameters
    ----------
    people
        T(n): the contract's columns, in their own types, and `pseudonym` (unique).
    contract
        Quasi-identifiers, sensitive attribute and the parameters of m-invariance.
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
    ValueChangeRefused
        If a value left its signature and the contract refuses that.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, sections 3.3 and 4.
    """
    values = _known_values(people, contract, state)
    people = people.with_columns(
        pl.col(contract.sensitive.name)
        .replace_strict(values, range(len(values)), return_dtype=pl.Int64)
        .alias("value")
    )
    division = divide(
        people["pseudonym"], people["value"].to_numpy(), state.memory, _matrix(state, values), number
    )
    if contract.principle.on_value_change == "refuse":
        _refuse_value_changes(division)
    plan = make_plan(division.counts, contract.principle.m, contract.principle.on_ineligible, draw("plan"))
    bucket = _execute(plan, division, draw("assign"))

    hosted = people.with_columns(bucket_id=pl.Series(bucket, dtype=pl.Int32)).filter(
        pl.col("bucket_id") != HELD_BACK
    )
    tuples = _tuples(hosted, plan, contract, values)
    group = split(
        tuples["bucket_id"].to_numpy(),
        tuples["value"].to_numpy(),
        _normalised(tuples, contract),
        draw("split"),
    )
    tuples = tuples.with_columns(group=group)
    generalization = generalize(tuples, contract)
    tuples = tuples.join(generalization.group_ids, on="group", how="left", maintain_order="left")
    return Candidate(
        published={"microdata": generalization.microdata, "counterfeits": generalization.counterfeits},
        linkage=tuples.filter(~pl.col("counterfeit")).select(contract.identifier, "bucket_id", "group_id"),
        buckets=_buckets_in_use(tuples, contract),
        state=State(
            memory=remember(state.memory, hosted, number), buckets=_all_buckets(state.buckets, plan, values)
        ),
        figures=_figures(people, division, plan, tuples),
    )


def _known_values(people: pl.DataFrame, contract: Contract, state: State) -> pl.Series:
    """All sensitive values there are, sorted: declared or seen, and those of remembered signatures."""
    seen = people[contract.sensitive.name].alias("value")
    declared = pl.Series("value", contract.sensitive.values or seen.unique(), dtype=seen.dtype)
    remembered = state.buckets["signature"].explode().alias("value")
    return pl.concat([declared, remembered]).drop_nulls().unique().sort()


def _matrix(state: State, values: pl.Series) -> np.ndarray:
    """bool[B, V]: the signatures of all buckets."""
    matrix = np.zeros((state.buckets.height, len(values)), bool)
    pairs = state.buckets.explode("signature")
    column = pairs["signature"].replace_strict(values, range(len(values)), return_dtype=pl.Int64)
    matrix[pairs["bucket_id"].to_numpy(), column.to_numpy()] = True
    return matrix


def _refuse_value_changes(division: Division) -> None:
    if changed := division.counts.separated.sum():
        raise ValueChangeRefused(
            f"{changed} people have a sensitive value outside their signature, and the contract says"
            " on_value_change: refuse. Set it to separate, or begin a new series"
        )


def _execute(plan: Plan, division: Division, rng: np.random.Generator) -> np.ndarray:
    """int[N]: the bucket of every person of T(n), or `HELD_BACK`."""
    bucket = division.bucket.copy()
    undecided = bucket == UNDECIDED
    demand = np.vstack([plan.moved.T, plan.separated])
    bucket[undecided] = assign(division.queue[undecided], demand, rng)
    return bucket


def _tuples(hosted: pl.DataFrame, plan: Plan, contract: Contract, values: pl.Series) -> pl.DataFrame:
    """People, quasi-identifiers in codes, and below them the counterfeits with none."""
    people = encode_columns(hosted, contract.quasi_identifiers).with_columns(counterfeit=pl.lit(value=False))
    bucket, value = np.nonzero(plan.counterfeits)
    copies = plan.counterfeits[bucket, value]
    code = np.repeat(value, copies)
    counterfeits = pl.DataFrame(
        {
            "bucket_id": pl.Series(np.repeat(bucket, copies), dtype=pl.Int32),
            "value": pl.Series(code, dtype=pl.Int64),
            contract.sensitive.name: values.gather(code),
        }
    ).with_columns(counterfeit=pl.lit(value=True))
    return pl.concat([people, counterfeits], how="diagonal")


def _normalised(tuples: pl.DataFrame, contract: Contract) -> np.ndarray:
    """float64[N, d]: quasi-identifiers as shares of their domains, `EMPTY` for counterfeits (section 4.3)."""
    columns = []
    for qi in contract.quasi_identifiers:
        low, high = code_domain(qi)
        share = (pl.col(qi.name) - low) / max(high - low, 1e-300)
        columns.append(share.cast(pl.Float64).fill_null(EMPTY))
    return tuples.select(columns).to_numpy()


def _buckets_in_use(tuples: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    return (
        tuples.group_by("bucket_id")
        .agg(
            pl.col(contract.sensitive.name).unique().sort().alias("signature"),
            (~pl.col("counterfeit")).sum().cast(pl.Int64).alias("people"),
            pl.col("counterfeit").sum().cast(pl.Int64).alias("counterfeits"),
            pl.col("group").n_unique().cast(pl.Int64).alias("groups"),
        )
        .sort("bucket_id")
    )


def _all_buckets(buckets: pl.DataFrame, plan: Plan, values: pl.Series) -> pl.DataFrame:
    """The remembered buckets, and below them the new ones."""
    new = plan.signatures[buckets.height :]
    row, value = np.nonzero(new)
    signatures = (
        pl.DataFrame(
            {"bucket_id": pl.Series(row + buckets.height, dtype=pl.Int32), "signature": values.gather(value)}
        )
        .group_by("bucket_id", maintain_order=True)
        .agg("signature")
    )
    return pl.concat([buckets, signatures])


def _figures(people: pl.DataFrame, division: Division, plan: Plan, tuples: pl.DataFrame) -> dict[str, int]:
    held_back = int(plan.held_back.sum() + plan.held_back_separated.sum())
    counterfeits = int(plan.counterfeits.sum())
    return {
        "people": people.height - held_back,
        "carried": int((division.bucket != UNDECIDED).sum()),
        "returned": int(division.returned.sum()),
        "inserted": int(division.counts.free.sum()),
        "separated": int(division.counts.separated.sum()),
        "held_back": held_back,
        "tuples": tuples.height,
        "groups": tuples["group"].n_unique(),
        "counterfeits": counterfeits,
        "buckets": tuples["bucket_id"].n_unique(),
    }
