"""From buckets to published tables: counterfeits take shape, tuples are grouped, and groups are published.

All that is random here follows a secret of the series and who is in a bucket. A bucket that nobody
entered or left, and whose people have the quasi-identifiers they had, keeps its groups. In other buckets
every choice is made anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from anonymize.arrays import Bools, Floats, Ints, Words
from anonymize.buckets.counterfeits import counterfeits_of, people_alike
from anonymize.buckets.counts import Plan
from anonymize.columns import PSEUDONYM
from anonymize.contract import Contract, Schema
from anonymize.formats import ANATOMY
from anonymize.formats.anatomy import Anatomy, anatomize
from anonymize.formats.generalization import Generalization, generalize
from anonymize.kernels.splitmix import STEP, mixed
from anonymize.m_invariance.group import group_people
from anonymize.m_invariance.parameters import MInvariance
from anonymize.people.codes import code_domain
from anonymize.people.ranks import ranks_within


class Tuples(NamedTuple):
    """The T rows of T*(n) before they are grouped: N people, and below them counterfeits."""

    bucket: Ints
    """int64[T]"""
    value: Ints
    """int64[T]"""
    counterfeit: Bools
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
    contract: Contract[MInvariance],
    secret: bytes,
) -> Generalization | Anatomy:
    """Group the tuples of each bucket, and publish the groups in the contract's format.

    A counterfeit goes by the quasi-identifiers of somebody in its bucket, and has them where exact ones are
    published; intervals are those of a group's people. The paper's counterfeits have none and fit anywhere
    (section 4.3). So they would gather in a few groups, whose people would have little company.

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
    secret
        32 bytes that stay the same throughout a series.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, sections 3.2 (counterfeits) and 4.3 (split).
    """
    shares, effort = normalised(codes, contract), contract.principle.effort
    people, buckets = len(hosted), tuples.bucket.max(initial=-1) + 1
    hosting, forged = tuples.bucket[:people], tuples.bucket[people:]
    ranks, seeds = ranks_within(hosted[PSEUDONYM], hosting, buckets, secret)
    lots = _lots(forged, seeds)
    alike = people_alike(
        forged, hosting, buckets, lambda ends: (lots % ends.astype(np.uint64)).astype(np.int64)
    )
    shares, ranks = np.vstack([shares, shares[alike]]), np.append(ranks, mixed(lots))
    group = group_people(tuples.bucket, tuples.value, shares, ranks, effort, seeds, tuples.counterfeit)
    if contract.principle.format == ANATOMY.name:
        shown = hosted[np.append(np.arange(people), alike)]
        return anatomize(shown, values, group, tuples.counterfeit, contract)
    codes = pl.concat([codes, codes.clear(len(forged))])
    return generalize(codes, values, group, tuples.counterfeit, contract)


def _lots(forged: np.ndarray, seeds: np.ndarray) -> Words:
    """uint64[C]: a secret number for each counterfeit; `forged` has their buckets, in ascending order."""
    number = np.arange(1, len(forged) + 1) - np.searchsorted(forged, forged)
    return mixed(seeds[forged] + number.astype(np.uint64) * STEP)


def normalised(codes: pl.DataFrame, schema: Schema) -> Floats:
    """float64[N, d]: quasi-identifiers, given as codes, as shares of their domains."""
    shares = []
    for column, qi in schema.attributes():
        low, high = code_domain(qi)
        share = (pl.col(column) - low) / ((high - low) or 1)
        shares.append(share.cast(pl.Float64))
    return codes.select(shares).to_numpy()
