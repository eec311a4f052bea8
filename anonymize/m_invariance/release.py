"""One m-invariant release: T(n) and what is remembered of earlier releases -> T*(n), R(n)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from anonymize.candidate import Candidate
from anonymize.codes import code_domain, encode_columns
from anonymize.contract import Contract
from anonymize.errors import SnapshotError, ValueChangeRefused
from anonymize.generalize import generalize
from anonymize.m_invariance.assign import HELD_BACK, Demand, assign
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
        T(n): the contract's columns, in their own types, and `pseudonym` (unique); in any order.
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
    SnapshotError
        If sensitive values have another type than declared or than before, or are not declared.
    ValueChangeRefused
        If a value left its signature and the contract refuses that.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, sections 3.3 and 4.
    """
    # Ordered by a keyed hash: the order in which rows arrive decides nothing, and nobody can replay it.
    people = people.sort("pseudonym")
    values, value, division = divide_people(people, contract, state, number)
    plan = make_plan(division.counts, contract.principle.m, contract.principle.on_ineligible, draw("plan"))
    bucket = execute(plan, division, draw("assign"))

    hosted = bucket != HELD_BACK
    tuples = _tuples(people.filter(hosted), bucket[hosted], value[hosted], plan, contract)
    group = split(tuples.bucket, tuples.value, _normalised(tuples.codes, contract), draw("split"))
    generalization = generalize(
        tuples.codes, values.gather(tuples.value), group, tuples.counterfeit, contract
    )
    linkage = people.filter(hosted).select(
        contract.identifier,
        pl.Series("bucket_id", bucket[hosted], dtype=pl.Int32),
        pl.Series("group_id", generalization.group_id[~tuples.counterfeit]),
    )
    buckets = all_buckets(state.buckets, plan, values)
    in_use = _buckets_in_use(tuples, group, buckets)
    memory = remember(state.memory, people["pseudonym"].filter(hosted), linkage["bucket_id"], number)
    return Candidate(
        published={"microdata": generalization.microdata, "counterfeits": generalization.counterfeits},
        linkage=linkage,
        buckets=in_use,
        state=State(memory=memory, buckets=buckets),
        figures=_figures(division, plan, in_use),
    )


def divide_people(
    people: pl.DataFrame, contract: Contract, state: State, number: int
) -> tuple[pl.Series, np.ndarray, Division]:
    """All sensitive values there are, everybody's position among them, and the people of T(n), divided.

    Raises
    ------
    SnapshotError
        If sensitive values have another type than declared or than before, or are not declared.
    ValueChangeRefused
        If a value left its signature and the contract refuses that.
    """
    sensitive = people[contract.sensitive.name]
    values = _known_values(sensitive, contract, state)
    value = positions(sensitive, values, contract)
    signatures = _signature_matrix(state, values, contract)
    division = divide(people["pseudonym"], value, state.memory, signatures, number)
    if contract.principle.on_value_change == "refuse":
        _refuse_value_changes(division)
    return values, value, division


def _known_values(sensitive: pl.Series, contract: Contract, state: State) -> pl.Series:
    """All sensitive values there are, sorted: declared or seen, and those of remembered signatures."""
    remembered = state.buckets["signature"].explode().alias("value")
    declared = pl.Series("value", contract.sensitive.values or sensitive.unique())
    for former, where in ((remembered, "in the releases before"), (declared, "under sensitive.values")):
        if former.dtype != sensitive.dtype:
            raise SnapshotError(
                f"the column {sensitive.name} holds {sensitive.dtype}, and {former.dtype} {where}: give it"
                " that type in the source, or begin a new series"
            )
    return pl.concat([declared, remembered]).drop_nulls().unique().sort()


def positions(column: pl.Series, values: pl.Series, contract: Contract) -> np.ndarray:
    """int64[N]: where in `values` each entry of a column of sensitive values is."""
    known = values.to_frame("value").with_row_index("position")
    position = column.to_frame("value").join(known, on="value", how="left", maintain_order="left")["position"]
    if unknown := position.null_count():
        raise SnapshotError(
            f"{unknown} people have a {contract.sensitive.name} that is null or not listed under"
            " sensitive.values: correct the snapshot, or list it"
        )
    return position.cast(pl.Int64).to_numpy()


def _signature_matrix(state: State, values: pl.Series, contract: Contract) -> np.ndarray:
    """bool[B, V]: the signatures of all buckets."""
    matrix = np.zeros((state.buckets.height, len(values)), bool)
    pairs = state.buckets.explode("signature")
    matrix[pairs["bucket_id"].to_numpy(), positions(pairs["signature"], values, contract)] = True
    return matrix


def _refuse_value_changes(division: Division) -> None:
    """Raise ValueChangeRefused if anybody's value left their signature."""
    if changed := division.counts.separated.sum():
        raise ValueChangeRefused(
            f"{changed} people have a sensitive value outside their signature, and the contract says"
            " on_value_change: refuse. Set it to separate, or begin a new series"
        )


def execute(plan: Plan, division: Division, rng: np.random.Generator) -> np.ndarray:
    """int64[N]: the bucket of every person of T(n), or `HELD_BACK`."""
    values = plan.moved.shape[1]
    receiving, moved = np.nonzero(plan.moved)
    demand = Demand(
        queue=np.append(moved, values + plan.separated.queue),
        bucket=np.append(receiving, plan.separated.bucket),
        people=np.append(plan.moved[receiving, moved], plan.separated.people),
    )
    bucket = division.bucket.copy()
    undecided = bucket == UNDECIDED
    queues = values + len(plan.held_back_separated)
    bucket[undecided] = assign(division.queue[undecided], demand, queues, rng)
    return bucket


@dataclass(frozen=True)
class Tuples:
    """The rows of T*(n) before they are grouped: people, and below them counterfeits."""

    bucket: np.ndarray
    """int64[N]"""
    value: np.ndarray
    """int64[N]"""
    counterfeit: np.ndarray
    """bool[N]"""
    codes: pl.DataFrame
    """N quasi-identifiers in codes, null for counterfeits."""


def _tuples(
    hosted: pl.DataFrame, bucket: np.ndarray, value: np.ndarray, plan: Plan, contract: Contract
) -> Tuples:
    codes = encode_columns(
        hosted.select(qi.name for qi in contract.quasi_identifiers), contract.quasi_identifiers
    )
    receiving, counterfeit = np.nonzero(plan.counterfeits)
    copies = plan.counterfeits[receiving, counterfeit]
    return Tuples(
        bucket=np.append(bucket, np.repeat(receiving, copies)),
        value=np.append(value, np.repeat(counterfeit, copies)),
        counterfeit=np.repeat([False, True], [len(bucket), copies.sum()]),
        codes=pl.concat([codes, codes.clear(int(copies.sum()))]),
    )


def _normalised(codes: pl.DataFrame, contract: Contract) -> np.ndarray:
    """float64[N, d]: quasi-identifiers as shares of their domains, `EMPTY` for counterfeits (section 4.3)."""
    shares = []
    for qi in contract.quasi_identifiers:
        low, high = code_domain(qi)
        share = (pl.col(qi.name) - low) / ((high - low) or 1)
        shares.append(share.cast(pl.Float64).fill_null(EMPTY))
    return codes.select(shares).to_numpy()


def _buckets_in_use(tuples: Tuples, group: np.ndarray, buckets: pl.DataFrame) -> pl.DataFrame:
    return (
        pl.DataFrame(
            {
                "bucket_id": pl.Series(tuples.bucket, dtype=pl.Int32),
                "counterfeit": tuples.counterfeit,
                "group": group,
            }
        )
        .group_by("bucket_id")
        .agg(
            (~pl.col("counterfeit")).sum().cast(pl.Int64).alias("people"),
            pl.col("counterfeit").sum().cast(pl.Int64).alias("counterfeits"),
            pl.col("group").n_unique().cast(pl.Int64).alias("groups"),
        )
        .join(buckets, on="bucket_id")
        .select("bucket_id", "signature", "people", "counterfeits", "groups")
        .sort("bucket_id")
    )


def all_buckets(buckets: pl.DataFrame, plan: Plan, values: pl.Series) -> pl.DataFrame:
    """The remembered buckets, and below them the new ones."""
    row, value = np.nonzero(plan.signatures[buckets.height :])
    signatures = (
        pl.DataFrame(
            {"bucket_id": pl.Series(row + buckets.height, dtype=pl.Int32), "signature": values.gather(value)}
        )
        .group_by("bucket_id", maintain_order=True)
        .agg("signature")
    )
    return pl.concat([buckets, signatures])


def _figures(division: Division, plan: Plan, in_use: pl.DataFrame) -> dict[str, int]:
    people, counterfeits, groups = in_use.select(
        pl.col("people", "counterfeits", "groups").sum().cast(pl.Int64)
    ).row(0)
    return {
        "people": people,
        "carried": int((division.bucket != UNDECIDED).sum()),
        "returned": int(division.returned.sum()),
        "inserted": int(division.counts.free.sum()),
        "separated": int(division.counts.separated.sum()),
        "held_back": int(plan.held_back.sum() + plan.held_back_separated.sum()),
        "tuples": people + counterfeits,
        "groups": groups,
        "counterfeits": counterfeits,
        "buckets": in_use.height,
    }
