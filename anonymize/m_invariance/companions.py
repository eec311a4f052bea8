"""People of groups that have a value several times stay together, as long as they can.

Nothing published numbers the rows of a value that may be known. So whoever counts the assignments of such
rows, over several releases, takes a person for likelier to have the group's sensitive value, the more of the
person's companions were exchanged at once: of {flu, none, none} with three people, two of whom then make way
for others, these two have flu with 2/5 each, and the third with 1/5. Where one makes way, all have 1/3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Floats, Ints, Words
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Sensitive
from republish.anonymize.kernels.fill_places import fill_places
from republish.anonymize.m_invariance.lasting_groups import APART

COMPANIONS = "companions"
"""The state's table of the groups in which people were last: `pseudonym`, `bucket_id`, `company` (a number,
for as long as two of its people are there) and `is_here`, whether that was in the last release."""
FEWEST = 2
"""People who stay together, at least: whoever is alone has no companion."""


class Members(NamedTuple):
    """N tuples of a release, in any order."""

    names: pl.Series
    """The pseudonyms of people."""
    bucket: Ints
    value: Ints
    shares: Floats
    """float64[N, d]: quasi-identifiers as shares of their domains."""
    ranks: Words
    """uint64[N]: a secret order."""
    counterfeit: Bools

    def filter(self, which: Bools) -> Members:
        """Some of them."""
        return Members(
            self.names.filter(which),
            self.bucket[which],
            self.value[which],
            self.shares[which],
            self.ranks[which],
            self.counterfeit[which],
        )


def buckets_with_copies(signatures: Signatures, values: pl.Series, sensitive: Sensitive) -> Bools:
    """bool[B]: the buckets in which several values are published as one."""
    if not sensitive.not_sensitive:
        return np.zeros(len(signatures), bool)
    published = sensitive.published(values).rank("dense").cast(pl.Int64).to_numpy()[signatures.value]
    pairs = np.unique(np.stack([signatures.bucket, published]), axis=1)
    different: Bools = np.bincount(pairs[0], minlength=len(signatures)) < signatures.sizes
    return different


def stay_together(members: Members, before: pl.DataFrame) -> tuple[Ints, Ints]:
    """Let people stay in the groups in which they were, and fill places that are free there.

    A group stays if two of its people are in its bucket, and still have different values. Where a bucket has
    too many such groups, those of the most people stay. Whoever is in no group that stays comes, with
    the counterfeits, to the nearest free place of their value, or is left to groups that are made anew.
    Values of a bucket are treated alike: exchange two of them throughout a bucket, and the same groups stay.

    Parameters
    ----------
    members
        Those of buckets with copies, each of which has its values equally often.
    before
        What was remembered so far (`COMPANIONS`).

    Returns
    -------
    tuple[int64[N], int64[G]]
        Each tuple's group, from 0 on, or `APART`; and the number of each of these groups in `COMPANIONS`.
    """
    own = pl.DataFrame(
        {
            PSEUDONYM: members.names,
            "bucket_id": pl.Series(members.bucket, dtype=pl.Int32),
            VALUE: members.value,
            "rank": pl.Series(members.ranks, dtype=pl.UInt64),
            "is_person": ~members.counterfeit,
        }
    ).with_row_index("row")
    length = own.group_by("bucket_id", VALUE).len("groups").unique("bucket_id", keep="first").drop(VALUE)
    staying = (
        own.filter("is_person")
        .join(before, on=[PSEUDONYM, "bucket_id"])
        .sort("is_here", "rank", descending=[True, False])
        .unique(["company", VALUE], keep="first", maintain_order=True)
        .with_columns(people=pl.len().over("company"), lot=pl.col("rank").min().over("company"))
        .filter(pl.col("people") >= FEWEST)
    )
    companies = (
        staying.unique("company", keep="first")
        .sort("bucket_id", "people", "lot", descending=[False, True, False])
        .with_columns(place=pl.int_range(pl.len()).over("bucket_id"))
        .join(length, on="bucket_id", how="left", maintain_order="left")
        .filter(pl.col("place") < pl.col("groups"))
        .select("company", "bucket_id")
        .with_row_index("group")
    )
    staying = staying.join(companies.select("company", "group"), on="company")
    group = np.full(len(own), APART, np.int64)
    group[staying["row"].to_numpy()] = staying["group"].to_numpy()
    _fill(group, members, companies["bucket_id"].to_numpy().astype(np.int64))
    return group, companies["company"].to_numpy().astype(np.int64)


def _fill(group: Ints, members: Members, bucket_of_group: Ints) -> None:
    """Put tuples that are `APART` into the free places of groups, the nearest ones."""
    groups = len(bucket_of_group)
    placed = np.flatnonzero(group != APART)
    if not groups:
        return
    centre = np.zeros((groups, members.shares.shape[1]))
    np.add.at(centre, group[placed], members.shares[placed])
    centre /= np.bincount(group[placed], minlength=groups)[:, None]
    begins = np.searchsorted(bucket_of_group, np.arange(members.bucket.max() + 2))
    order = np.lexsort((members.ranks, members.value, members.bucket))
    ends = np.flatnonzero(np.diff(members.bucket[order]) | np.diff(members.value[order])) + 1
    for rows in np.split(order, ends):
        first, last = begins[members.bucket[rows[0]] :][:2]
        taken = group[rows]
        free = np.setdiff1d(np.arange(first, last), taken)
        if free.size:
            left = rows[taken == APART]
            group[left[fill_places(members.shares[left], centre[free])]] = free


def remember_companions(
    members: Members, group: Ints, companies: Ints, before: pl.DataFrame | None
) -> pl.DataFrame:
    """Note in which groups people are, as `COMPANIONS`; those who are absent keep what was noted.

    `group`, int64[N], is from 0 on; the first ones are `companies`, and the others are new.
    """
    known = companies if before is None else before["company"].to_numpy()
    new = np.arange(group.max(initial=-1) + 1 - len(companies)) + 1 + known.max(initial=-1)
    now = pl.DataFrame(
        {
            PSEUDONYM: members.names,
            "bucket_id": pl.Series(members.bucket, dtype=pl.Int32),
            "company": np.append(companies, new)[group],
            "is_here": np.ones(len(group), bool),  # a scalar beside columns of no rows would take their types
        }
    ).filter(~members.counterfeit)
    noted = now if before is None else pl.concat([now, before.with_columns(is_here=False)])
    return noted.unique([PSEUDONYM, "bucket_id"], keep="first").sort(PSEUDONYM, "bucket_id")
