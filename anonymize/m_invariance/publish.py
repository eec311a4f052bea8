"""From buckets to published tables: counterfeits take shape, tuples are grouped, and groups are published."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from anonymize.buckets.counterfeits import counterfeits_of, people_alike
from anonymize.buckets.counts import Plan
from anonymize.codes import code_domain
from anonymize.columns import PSEUDONYM
from anonymize.contract import Contract, Schema
from anonymize.formats import ANATOMY
from anonymize.formats.anatomy import Anatomy, anatomize
from anonymize.formats.generalization import Generalization, generalize
from anonymize.m_invariance.group import EMPTY, group_people
from anonymize.ranks import keyed_ranks

Draw = Callable[[str], np.random.Generator]


class Tuples(NamedTuple):
    """The T rows of T*(n) before they are grouped: N people, and below them counterfeits."""

    bucket: np.ndarray
    """int64[T]"""
    value: np.ndarray
    """int64[T]"""
    counterfeit: np.ndarray
    """bool[T]"""

    @classmethod
    def of(cls, bucket: np.ndarray, value: np.ndarray, plan: Plan) -> Tuples:
        """The people whose buckets and values are given, and a plan's counterfeits."""
        its_bucket, its_value = counterfeits_of(plan)
        return cls(
            bucket=np.append(bucket, its_bucket),
            value=np.append(value, its_value),
            counterfeit=np.repeat([False, True], [len(bucket), len(its_bucket)]),
        )


def publish_groups(
    hosted: pl.DataFrame,
    codes: pl.DataFrame,
    tuples: Tuples,
    values: pl.Series,
    contract: Contract,
    draw: Draw,
) -> Generalization | Anatomy:
    """Group the tuples of each bucket, and publish the groups in the contract's format.

    Intervals are those of a group's people; a counterfeit fits anywhere (section 4.3). Where exact
    quasi-identifiers are published, a counterfeit has those of somebody in its bucket, and goes by them.

    Parameters
    ----------
    hosted
        `pseudonym`, `qi_0`, …: the N people of the release.
    codes
        Their quasi-identifiers as codes (`encode_columns`).
    tuples
        The people in the same order, and counterfeits.
    values
        The sensitive value of each of the T tuples.
    contract
        The columns, the format and the effort.
    draw
        Secret randomness.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, sections 3.2 (counterfeits) and 4.3 (split).
    """
    shares, ranks = normalised(codes, contract), keyed_ranks(hosted[PSEUDONYM], draw("split"))
    people, forged = len(hosted), int(tuples.counterfeit.sum())
    if contract.principle.format == ANATOMY.name:
        rng = draw("counterfeits")
        alike = people_alike(
            tuples.bucket[people:], tuples.bucket[:people], tuples.bucket.max(initial=-1) + 1, rng
        )
        shown = hosted[np.append(np.arange(people), alike)]
        ranks = np.append(ranks, rng.integers(0, 2**64, forged, np.uint64))
        group = _group(tuples, np.vstack([shares, shares[alike]]), ranks, contract, draw)
        return anatomize(shown, values, group, tuples.counterfeit, contract)
    # Counterfeits of one bucket and value are all alike, so their order says nothing.
    ranks = np.append(ranks, np.zeros(forged, np.uint64))
    anywhere = np.full((forged, shares.shape[1]), EMPTY)
    group = _group(tuples, np.vstack([shares, anywhere]), ranks, contract, draw)
    return generalize(pl.concat([codes, codes.clear(forged)]), values, group, tuples.counterfeit, contract)


def _group(
    tuples: Tuples, shares: np.ndarray, ranks: np.ndarray, contract: Contract, draw: Draw
) -> np.ndarray:
    """int64[T]: the group of each tuple."""
    effort = contract.principle.effort
    return group_people(tuples.bucket, tuples.value, shares, ranks, effort, draw("exchange"))


def normalised(codes: pl.DataFrame, schema: Schema) -> np.ndarray:
    """float64[N, d]: quasi-identifiers, given as codes, as shares of their domains."""
    shares = []
    for column, qi in schema.attributes():
        low, high = code_domain(qi)
        share = (pl.col(column) - low) / ((high - low) or 1)
        shares.append(share.cast(pl.Float64))
    return codes.select(shares).to_numpy()
