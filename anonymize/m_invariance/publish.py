"""From buckets to published tables: counterfeits take shape, tuples are grouped, and groups are published.

All that is random here follows a secret of the series and who is in a bucket. A bucket that nobody
entered or left, and whose people have the quasi-identifiers they had, keeps its groups. In other buckets
every choice is made anew.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from republish.anonymize.arrays import Ints, Words
from republish.anonymize.buckets.assign import A, Assignment
from republish.anonymize.buckets.counterfeits import counterfeits_of, people_alike
from republish.anonymize.buckets.release import Tuples
from republish.anonymize.columns import PSEUDONYM
from republish.anonymize.contract import Contract
from republish.anonymize.formats import ANATOMY
from republish.anonymize.formats.anatomy import Anatomy, anatomize
from republish.anonymize.formats.generalization import Generalization, generalize
from republish.anonymize.kernels.split import EMPTY
from republish.anonymize.kernels.splitmix import STEP, mixed
from republish.anonymize.m_invariance.companions import (
    COMPANIONS,
    Members,
    buckets_with_copies,
    remember_companions,
    stay_together,
)
from republish.anonymize.m_invariance.group import group_people
from republish.anonymize.m_invariance.lasting_groups import APART, TOGETHER, lasting, together
from republish.anonymize.m_invariance.parameters import MInvariance
from republish.anonymize.m_invariance.rows_apart import keep_rows_apart
from republish.anonymize.people.codes import as_points
from republish.anonymize.people.persons import persons_of
from republish.anonymize.people.ranks import ranks_within


def publish_groups(
    assigned: Assignment[A],
    codes: pl.DataFrame,
    contract: Contract[MInvariance],
    secret: bytes,
    before: pl.DataFrame | None = None,
    companions: pl.DataFrame | None = None,
    *,
    keeps_rows_apart: bool = False,
) -> Tuples:
    """Group the tuples of each bucket, and publish the groups in the contract's format.

    A counterfeit goes by the quasi-identifiers of somebody in its bucket, and has them where exact ones are
    published; intervals are those of a group's people. The paper's counterfeits have none and fit anywhere
    (section 4.3). So they would gather in a few groups, whose people would have little company.

    `codes` are everybody's quasi-identifiers as codes (`encode_columns`); `secret` are 32 bytes that stay the
    same throughout a series; `before` are the groups that may stay (`together`), and `companions` who
    stays together in buckets that have a value several times (`stay_together`). With `keeps_rows_apart`, no
    group has two rows of one person.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, sections 3.2 (counterfeits) and 4.3 (split).
    """
    hosted, codes = assigned.hosted, codes.filter(assigned.is_hosted)
    hosting, (forged, its_value) = assigned.bucket[assigned.is_hosted], counterfeits_of(assigned.planned.plan)
    bucket, value = np.append(hosting, forged), np.append(assigned.value[assigned.is_hosted], its_value)
    counterfeit = np.arange(len(bucket)) >= len(hosting)
    shares, buckets = as_points(codes, contract, EMPTY), bucket.max(initial=-1) + 1
    ranks, seeds = ranks_within(hosted[PSEUDONYM], hosting, buckets, secret)
    lots = _lots(forged, seeds)
    alike = people_alike(
        forged, hosting, buckets, lambda ends: (lots % ends.astype(np.uint64)).astype(np.int64)
    )
    shares, ranks = np.vstack([shares, shares[alike]]), np.append(ranks, mixed(lots))
    group, keeps = np.full(len(bucket), APART), contract.principle.regroup < 1
    names = pl.concat([hosted[PSEUDONYM], _names(lots)])
    covered = np.where(counterfeit[:, None], EMPTY, shares)
    copied = buckets_with_copies(assigned.planned.plan.signatures, assigned.values, contract.sensitive)[
        bucket
    ]
    members = Members(names, bucket, value, shares, ranks, counterfeit).filter(copied)
    company: Ints = np.empty(0, np.int64)
    if companions is not None and copied.any():
        group[copied], company = stay_together(members, companions)
    if before is not None and keeps:
        sizes = np.bincount(
            np.unique(bucket * len(assigned.values) + value) // len(assigned.values), minlength=buckets
        )
        kept = lasting(
            names.filter(~copied),
            bucket[~copied],
            value[~copied],
            covered[~copied],
            counterfeit[~copied],
            sizes,
            before,
            contract.principle.regroup,
        )
        group[~copied] = np.where(kept == APART, APART, kept + len(company))
    anew = group == APART
    made = group_people(
        bucket[anew],
        value[anew],
        shares[anew],
        ranks[anew],
        contract.principle.effort,
        seeds,
        counterfeit[anew],
    )
    group[anew] = made + group.max(initial=APART) + 1
    if keeps_rows_apart:
        person = persons_of(names).rank("dense").cast(pl.Int64).to_numpy()
        whose = np.where(counterfeit, -1, person)
        group = keep_rows_apart(group, bucket, value, whose, shares, ranks)
    values = assigned.values.gather(value)
    published: Generalization | Anatomy
    if contract.principle.format == ANATOMY.name:
        shown = hosted[np.append(np.arange(len(hosting)), alike)]
        published = anatomize(shown, values, group, counterfeit, contract)
    else:
        codes = pl.concat([codes, codes.clear(len(forged))])
        published = generalize(codes, values, group, counterfeit, contract)
    remembered = {TOGETHER: together(names, published.group_id, covered)} if keeps else {}
    if copied.any() or companions is not None:
        remembered[COMPANIONS] = remember_companions(members, group[copied], company, companions)
    return Tuples(
        tables=published.tables,
        group_id=published.group_id,
        bucket=bucket,
        counterfeit=counterfeit,
        remembered=remembered,
    )


def _names(lots: Words) -> pl.Series:
    """A name for each counterfeit, as long as a pseudonym: it stays while the people of its bucket do."""
    return pl.Series([one.tobytes() for one in np.stack([lots, mixed(lots)], axis=1)], dtype=pl.Binary)


def _lots(forged: np.ndarray, seeds: np.ndarray) -> Words:
    """uint64[C]: a secret number for each counterfeit; `forged` has their buckets, in ascending order."""
    number = np.arange(1, len(forged) + 1) - np.searchsorted(forged, forged)
    return mixed(seeds[forged] + number.astype(np.uint64) * STEP)
