"""People who are in the table and in no group of a release: what their absence says of their values.

Three things are seen. A person who was published before has a value that none of their signatures has,
because people with a value of their signature stay in its groups (of several rows, see `several_rows`). A
person who was never published, and is held back while others who are new are published, has a value that is
too frequent. And where everybody who is new waits, some value is too frequent among them: once they are
published, it is probably the one that most of their signatures have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from republish.anonymize.attack.copies import is_copy
from republish.anonymize.attack.figures import AbsenceFigures
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.input import AttackInput
from republish.anonymize.attack.numbers import joined
from republish.anonymize.attack.several_rows import of_other_people
from republish.anonymize.columns import VALUE, least_of
from republish.anonymize.contract.combined import values_of
from republish.anonymize.formats.published import by_column

WAITING = "absence_waiting"
"""What is remembered of people who were in the table before they were published: `person`, and `deferred`,
whether others who were new were published meanwhile. Those who waited together with all others are forgotten
once they are published or gone."""


def attack_absence(seen: AttackInput, least: int | None, *, in_company: bool) -> AttackResult:
    """Count the values that are left of people who were published before and are in no group of the release.

    Nothing is known of why people are absent from the tables of other tools. Where everybody is promised
    company among people (`in_company`), all people of a signature may be held back, whatever their values
    are; if one of them is in its groups, these were not.
    """
    if not seen.told.is_own_format or least is None:
        return AttackResult()
    here = seen.hosts if seen.is_linked else seen.covered.filter(pl.col("groups") > 0)
    absent = joined(seen.known.select("person", VALUE), here, how="anti")
    had = _had(seen, absent)
    owed = absent.filter(~seen.schema.sensitive.may_be_known(absent[VALUE])).select("person")
    ever = joined(had.ever, owed, how="semi")
    ruled_out = _ruled_out(ever, had) if in_company else ever
    left = _left(seen, ever.select("person").unique(), ruled_out, had, least)
    few = int(left.filter(pl.col("candidates") < least)["people"].sum())
    # Without the linkage, a group of an earlier release may have covered by chance somebody held back there.
    undecided = 0 if seen.is_linked else min(few, seen.before.by_chance())
    people, fewest = int(left["people"].sum()), least_of(left["candidates"])
    counts = {"": Count(people, few - undecided, fewest, least, undecided)}
    if not seen.is_linked:
        return AttackResult(counts, AbsenceFigures())
    figures, waiting = _new(seen, absent)
    return AttackResult(counts, figures, remembered={WAITING: waiting})


class _Had(NamedTuple):
    """The signatures of people, as far as their groups are known."""

    ever: pl.DataFrame
    """`person`, `signature`: in the releases before."""
    now: pl.DataFrame
    """The same of this release."""
    values: pl.DataFrame
    """`signature`, `value`: what they have."""


def _had(seen: AttackInput, absent: pl.DataFrame) -> _Had:
    """Describe people who are absent, and those with their signatures."""
    stays, before = seen.knowledge.followed, seen.before.stays
    there = stays.people.clear() if before is None else before.people
    of_absent = joined(there, absent, how="semi")["signature"].unique().implode()
    ever, now = (
        some.filter(pl.col("signature").is_in(of_absent)).select("person", "signature")
        for some in (there, stays.people.filter(pl.col("until") == seen.release))
    )
    values = stays.signatures.select("signature", pl.col("values").alias(VALUE))
    return _Had(ever.unique(), now, values.filter(pl.col("signature").is_in(of_absent)).explode(VALUE))


def _ruled_out(ever: pl.DataFrame, had: _Had) -> pl.DataFrame:
    """The signatures that somebody else kept: whoever has one of their values would be with them."""
    kept = had.now.join(had.ever, on=["person", "signature"], how="semi")
    return ever.join(kept.select("signature"), on="signature", how="semi")


def _left(
    seen: AttackInput, people: pl.DataFrame, ruled_out: pl.DataFrame, had: _Had, enough: int
) -> pl.DataFrame:
    """Count people by the values that are left to them: `candidates`, `people`.

    Every value counts that readers know (`known_to_readers`), but for those of the signatures that are
    `ruled_out` (`person`, `signature`). Of several columns, combinations that differ in
    every column count; of three and more, no more than `enough` are searched for.
    """
    declared = pl.Series(VALUE, seen.schema.sensitive.values or (), dtype=seen.values.dtype)
    domain = pl.concat([seen.values.alias(VALUE), declared.filter(~declared.is_in(seen.values.implode()))])
    places = domain.to_frame().with_row_index("place")
    taken = ruled_out.join(had.values, on="signature").join(places, on=VALUE)
    sets = taken.group_by("person").agg(pl.col("place").unique().sort())
    # Many people had the same signatures.
    alike = people.join(sets, on="person", how="left").group_by("place").len("people").with_row_index("row")
    gone = alike.select("row", "place").explode("place").drop_nulls()
    readable = ~is_copy(domain) & seen.known_to_readers(domain)
    free = np.repeat(readable.to_numpy()[None], len(alike), axis=0)
    free[gone["row"].to_numpy(), gone["place"].to_numpy()] = False
    if seen.combinations is None:
        left = pl.Series(free.sum(axis=1))
    else:
        bits = np.packbits(np.pad(free, ((0, 0), (0, -len(domain) % 64))), axis=1, bitorder="little")
        left = seen.combinations.differing(pl.DataFrame(bits.view(np.uint64)), enough)
    return alike.select(candidates=left, people="people")


def _new(seen: AttackInput, absent: pl.DataFrame) -> tuple[AbsenceFigures, pl.DataFrame]:
    """Describe people who were not published so far, and what is remembered of them."""
    waited = seen.before.parts.get(WAITING, absent.select("person", deferred=pl.lit(value=False)).clear())
    ever = absent.clear() if seen.before.stays is None else seen.before.stays.people
    known = pl.concat([ever["person"], seen.hosts["person"]])
    new = of_other_people(seen, joined(absent.select("person"), ever, how="anti"), known)
    if new.is_empty() and waited.is_empty():
        return AbsenceFigures(), waited
    # Where people have several rows, those of a value that was published before come to its signature.
    came = of_other_people(seen, joined(seen.hosts, ever, how="anti"), ever["person"])
    is_partial = not came.is_empty()
    both = pl.concat([waited, new.with_columns(deferred=pl.lit(is_partial))])
    both = both.group_by("person").agg(pl.col("deferred").any()).sort("person")
    still = pl.col("person").is_in(new["person"].implode())
    present = seen.known.filter(~seen.schema.sensitive.may_be_known(seen.known[VALUE]))
    deferred = present.join(both.filter("deferred"), on="person", how="semi").height
    batch = waited.filter(~pl.col("deferred")).join(seen.hosts, on="person").select("person", "group_id")
    guessed, right = _guessed(seen, batch)
    figures = AbsenceFigures(
        deferred=deferred or None,
        waiting=None if is_partial else new.height or None,
        waited=guessed or None,
        guessed_waited=right / guessed if guessed else None,
    )
    return figures, both.filter(pl.col("deferred") | still)


def _guessed(seen: AttackInput, batch: pl.DataFrame) -> tuple[int, float]:
    """Count those of a batch with the commonest of their candidate values, and those who truly have it.

    Of values that equally many have, one is taken at random. Of several sensitive columns, it is the one that
    is guessed best.
    """
    true = batch.join(seen.known.select("person", VALUE), on="person", maintain_order="left")
    columns = by_column(seen.published.values, seen.schema.sensitive)
    found: list[tuple[int, float]] = [(0, 0.0)]
    for held, own in zip(columns, values_of(true[VALUE], seen.schema.sensitive), strict=True):
        sensitive = held.filter(~seen.schema.sensitive.may_be_known(held[VALUE]))
        among = true.select("group_id", own=own).join(sensitive.select("group_id", VALUE), on="group_id")
        often = among.group_by(VALUE).agg(pl.len(), right=(pl.col("own") == pl.col(VALUE)).sum())
        most = often.filter(pl.col("len") == pl.col("len").max())
        found += most.group_by("len").agg(pl.col("right").mean()).rows()
    return max(found, key=lambda one: one[1] / one[0] if one[0] else -1.0)
