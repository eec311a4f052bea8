"""Stays of people in the groups of a signature, release by release: an adversary follows people by them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from republish.anonymize.attack.hashes import content_numbers
from republish.anonymize.attack.numbers import joined
from republish.anonymize.late import on_first_call

connected_components = on_first_call("scipy.sparse.csgraph", "connected_components")
coo_array = on_first_call("scipy.sparse", "coo_array")

OLDER = pl.UInt64()
"""The type of counterfeits' numbers in states of versions below 0.5: hashes by polars, which may be others in
another version of polars. Ours are signed."""
FORMERLY = "formerly"
"""The column of such a number beside ours."""
GROUPS_PER_RELEASE = 10**9
"""Groups of different releases have different numbers: release x this + group_id."""


@dataclass(frozen=True)
class Stays:
    """Every uninterrupted stay with one value in the groups of one signature."""

    signatures: pl.DataFrame
    """`signature` (0, 1, …), `values` (sorted): every signature so far."""
    people: pl.DataFrame
    """`person`, `value` (null once the stay is over), `signature`, `bucket`, `since`, `until`, and `edge`:
    whether it is the person's only stay in the signature, so that it joins two releases in a graph.

    Groups of a signature are of one bucket if they had a person in common; it is known by the number of the
    first of them. Where values may be known, several buckets may publish the same signature."""
    forged: pl.DataFrame
    """The same of counterfeits, by number; one is the same as before while its quasi-identifiers stay in a
    bucket where nobody leaves or comes back."""


def follow_stays(
    present: pl.DataFrame,
    forged: pl.DataFrame,
    values: pl.DataFrame,
    release: int,
    before: Stays | None,
    *,
    whole_buckets: bool = False,
) -> Stays:
    """Update the stays by one more release.

    Parameters
    ----------
    present
        `person`, `value`, `group_id`: the people in the release.
    forged
        `person` (`content_numbers`), `group_id`: its counterfeits. After a state of an older version,
        `FORMERLY` has the numbers that this version gave them.
    values
        `group_id`, `value`: the values that each group holds.
    before
        What this returned for the release before; None at the first.
    whole_buckets
        Whether each bucket is one group. If not, all groups of a signature count as one bucket.
    """
    held = _signatures(values)
    signatures = _numbered(held["values"], None if before is None else before.signatures)
    group = held.join(signatures, on="values").select("group_id", "signature")
    number = pl.col("group_id").cast(pl.Int64) + release * GROUPS_PER_RELEASE
    bucket = number if whole_buckets else _any_bucket()
    now = joined(present, group.with_columns(bucket=bucket), on="group_id")
    if before is not None and not (whole_buckets and "bucket" in before.people.columns):
        before = _in_one_bucket(before)
    if before is not None and whole_buckets:
        now, before = _in_buckets(now, before)
    people = _continued(now.drop("group_id"), None if before is None else before.people, release)
    here = _numbered_alike(_in_groups(forged, group, now))
    earlier = None if before is None else before.forged
    if earlier is not None and earlier.schema["person"] == OLDER:
        earlier = _renumbered(earlier, here)
    here = here.select("person", "signature", "bucket")
    return Stays(signatures, people, _forged(here, earlier, people, release))


def followed_counterfeits(
    forged: pl.DataFrame, hosts: pl.DataFrame, values: pl.DataFrame, release: int, stays: Stays
) -> pl.DataFrame:
    """Number a release's counterfeits, a renewed one otherwise than before: `group_id`, `person`.

    A renewed counterfeit may look like one before it, above all in a bucket of few people. Whoever took the
    two for one would believe that they have the same value, and be wrong. Arguments as those of
    `follow_stays`, and `stays`, which it returned.
    """
    group = _signatures(values).join(stays.signatures, on="values").select("group_id", "signature")
    now = joined(stays.people.filter(pl.col("until") == release), hosts)
    current = stays.forged.filter(pl.col("until") == release).select("person", "bucket", "since")
    here = _numbered_alike(_in_groups(forged, group, now)).join(current, on=["person", "bucket"])
    return here.select("group_id", content_numbers(here.select("person", "bucket", "since")))


def _any_bucket() -> pl.Expr:
    """The number of a signature's only bucket."""
    return -1 - pl.col("signature").cast(pl.Int64)


def _in_one_bucket(before: Stays) -> Stays:
    """The stays with one bucket for each signature: states of older versions tell none apart."""
    people, forged = (part.with_columns(bucket=_any_bucket()) for part in (before.people, before.forged))
    return replace(before, people=people, forged=forged)


def _in_buckets(now: pl.DataFrame, before: Stays) -> tuple[pl.DataFrame, Stays]:
    """The people in a release (`person`, `signature`, `bucket`), and the stays before, in the same buckets.

    Buckets that a person was in both of are one from now on, known by the smaller number.
    """
    had = before.people.select("person", "signature", earlier="bucket")
    same = now.join(had, on=["person", "signature"]).select("bucket", "earlier").unique()
    known = pl.concat([same["bucket"], same["earlier"]]).unique().sort()
    ends = (known.search_sorted(same[end]).to_numpy() for end in ("bucket", "earlier"))
    joined = coo_array((np.ones(len(same)), tuple(ends)), shape=(len(known), len(known)))
    _, component = connected_components(joined, directed=False)
    into = pl.DataFrame({"bucket": known, "component": component}).with_columns(
        into=pl.col("bucket").min().over("component")
    )

    def moved(table: pl.DataFrame) -> pl.DataFrame:
        found = table.join(into, on="bucket", how="left", maintain_order="left")
        return found.with_columns(bucket=pl.coalesce("into", "bucket")).select(table.columns)

    return moved(now), replace(before, people=moved(before.people), forged=moved(before.forged))


def _in_groups(forged: pl.DataFrame, group: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """Counterfeits with the signature and bucket of their group."""
    buckets = now.select("group_id", "bucket").unique("group_id", keep="first")
    group = group.join(buckets, on="group_id", how="left").with_columns(
        bucket=pl.coalesce("bucket", _any_bucket())
    )
    return forged.join(group, on="group_id")


def _signatures(values: pl.DataFrame) -> pl.DataFrame:
    """`group_id`, `values` (sorted)."""
    return values.group_by("group_id", maintain_order=True).agg(
        pl.col("value").unique().sort().alias("values")
    )


def _numbered_alike(forged: pl.DataFrame) -> pl.DataFrame:
    """Counterfeits with another number for each of those that look alike in one bucket."""
    copy = pl.int_range(pl.len()).over("person", "bucket").alias("copy")
    forged = forged.with_columns(copy)
    if FORMERLY in forged.columns:
        forged = forged.with_columns(
            pl.struct(pl.col(FORMERLY).alias("person"), "copy").hash(3).alias(FORMERLY)
        )
    return forged.with_columns(content_numbers(forged.select("person", "copy"))).drop("copy")


def _renumbered(earlier: pl.DataFrame, here: pl.DataFrame) -> pl.DataFrame:
    """The counterfeits in a state of an older version under our numbers, as far as they are here."""
    ours = here.select(person=FORMERLY, ours="person").unique("person", keep="first")
    found = earlier.join(ours, on="person", how="left", maintain_order="left")
    gone = pl.col("person").reinterpret(signed=True)
    return found.with_columns(person=pl.coalesce("ours", gone)).select(earlier.columns)


def _numbered(found: pl.Series, known: pl.DataFrame | None) -> pl.DataFrame:
    """`signature`, `values`: the known signatures, and below them the new ones."""
    if known is None:
        known = pl.DataFrame(schema={"signature": pl.Int32, "values": found.dtype})
    new = found.unique(maintain_order=True).to_frame("values").join(known, on="values", how="anti")
    numbered = new.with_columns(
        signature=pl.int_range(known.height, known.height + new.height, dtype=pl.Int32)
    )
    return pl.concat([known, numbered.select(known.columns)])


def _continued(now: pl.DataFrame, before: pl.DataFrame | None, release: int) -> pl.DataFrame:
    """Stays that go on, those that are over (without their value), and those that begin."""
    number = pl.lit(release, pl.Int32)
    if before is None:
        return now.with_columns(since=number, until=number, edge=pl.lit(value=True))
    key = ["person", "signature"]
    going_on = before.filter(pl.col("until") == release - 1)
    current = joined(going_on, now.select(*key, here="value"), on=key)
    current = current.filter(pl.col("value").eq_missing(pl.col("here"))).drop("here")
    over = joined(before, current, on=[*key, "until"], how="anti")
    fresh = joined(now, current, on=key, how="anti")
    # Whoever begins another stay in the same signature is no edge, in none of their stays.
    repeated = fresh.join(over, on=key, how="semi").select(key).with_columns(repeated=True)
    over = over.join(repeated.unique(), on=key, how="left").with_columns(
        value=pl.lit(None, before.schema["value"]), edge=pl.col("edge") & pl.col("repeated").is_null()
    )
    fresh = fresh.join(repeated.unique(), on=key, how="left").with_columns(
        since=number, until=number, edge=pl.col("repeated").is_null()
    )
    columns = before.columns
    return pl.concat(
        [over.select(columns), current.with_columns(until=number).select(columns), fresh.select(columns)]
    )


def _forged(
    here: pl.DataFrame, before: pl.DataFrame | None, people: pl.DataFrame, release: int
) -> pl.DataFrame:
    """The stays of counterfeits, each an edge. A renewed one is another, even if it looks the same."""
    number = pl.lit(release, pl.Int32)
    new = {"value": pl.lit(None), "since": number, "until": number, "edge": pl.lit(value=True)}
    if before is None:
        return here.with_columns(**new)
    renewed = _renewed(people, here, before, release).implode()
    stays = (pl.col("until") == release - 1) & ~pl.col("bucket").is_in(renewed)
    current, over = before.filter(stays), before.filter(~stays)
    fresh = here.join(current, on=["person", "bucket"], how="anti").with_columns(**new)
    return pl.concat([over, current.with_columns(until=number), fresh.select(before.columns)])


def _renewed(people: pl.DataFrame, here: pl.DataFrame, before: pl.DataFrame, release: int) -> pl.Series:
    """Buckets whose counterfeits are all new: a person left or came back, or an old one is gone."""
    left = people.filter(pl.col("until") == release - 1)["bucket"]
    again = people.filter((pl.col("since") == release) & ~pl.col("edge"))["bucket"]
    lost = before.filter(pl.col("until") == release - 1).join(here, on=["person", "bucket"], how="anti")
    return pl.concat([left, again, lost["bucket"]]).unique()
