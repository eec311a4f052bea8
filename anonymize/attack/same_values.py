"""People who are known to have the same value."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from republish.anonymize.attack.cuts import cuts
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.hashes import content_numbers
from republish.anonymize.attack.input import AttackInput
from republish.anonymize.attack.judged import Bounds, judged, promised
from republish.anonymize.attack.knowledge import MEMBERS
from republish.anonymize.attack.numbers import joined
from republish.anonymize.attack.stays import GROUPS_PER_RELEASE, followed_counterfeits
from republish.anonymize.columns import VALUE
from republish.anonymize.late import on_first_call

compromised = on_first_call("republish.anonymize.attack.equivalence", "compromised")

CONTENTS = "contents"
"""What is remembered beside `MEMBERS` (`partition`, `person`): `partition`, `value`, `tuples`."""


def attack_same_values(seen: AttackInput, given: Bounds[int]) -> AttackResult:
    """Prove by cuts that no equivalence attack is small; or, with time for everything, search for one.

    Whether there is a smaller attack than promised is NP-hard to say. In the chain the cuts answer for it.

    Parameters
    ----------
    seen
        The release.
    given
        e of each release so far; None where it promised none.
    """
    today, table = given[-1], None
    if seen.is_linked and today is not None:
        safe = 2 * (today - 1) + 1
        table = cuts(seen.knowledge.followed, seen.release, safe).with_columns(safe=pl.lit(safe, pl.Int64))
    if not seen.told.everything:
        return AttackResult(table=table)
    remembered = _followed(seen)
    return AttackResult(
        {"": search_attacks(remembered, given, seen.told.seconds)}, table=table, remembered=remembered
    )


def search_attacks(remembered: Mapping[str, pl.DataFrame], given: Bounds[int], seconds: float) -> list[Count]:
    """Judge whether nobody takes part in an equivalence attack smaller than what they were promised.

    What there was no time to decide is stated apart: the clock does not change what is broken.

    Parameters
    ----------
    remembered
        `members` and `contents` of all groups whose people are all known.
    given
        e of each release so far; None where it promised none.
    seconds
        For each e that was promised.

    Returns
    -------
    list of Count
        One for each e that was promised.
    """
    members, contents = remembered[MEMBERS], remembered[CONTENTS]
    first = members.group_by("person", maintain_order=True).agg(
        (pl.col("partition").min() // GROUPS_PER_RELEASE).alias("promised")
    )
    owed = first.select("person", bound=promised(given), found=pl.lit(None, pl.Int64)).drop_nulls("bound")
    rows = [owed.clear().with_columns(is_broken=False, is_open=False)]
    for people in owed.partition_by("bound"):
        attacked = compromised(members, contents, int(people["bound"][0]), seconds=seconds)
        caught, unknown = (pl.col("person").is_in(some["person"].implode()) for some in attacked)
        rows.append(people.with_columns(is_broken=caught, is_open=unknown))
    return judged(pl.concat(rows), given, "min")


def _followed(seen: AttackInput) -> dict[str, pl.DataFrame]:
    """List who was in which group; groups whose members are not all known are left out.

    A person with another value than before is another member: the earlier value binds nobody any more. Groups
    in which nobody has a sensitive value are left out: all may be known to have the same.
    """
    published, before = seen.numbered, seen.before.parts
    number = pl.lit(seen.release * GROUPS_PER_RELEASE) + pl.col("group_id")
    # A member is known by a hash of their name, because numbers are others in every release.
    real = seen.numbers.named(joined(seen.hosts, seen.known.select("person", VALUE)))
    real = real.select("group_id", content_numbers(real.select("person", VALUE)))
    forged = followed_counterfeits(
        seen.forged, seen.hosts, published.values, seen.release, seen.knowledge.followed
    )
    members = pl.concat([real, forged])
    whole = members.group_by("group_id").len("known").join(published.sizes, on="group_id")
    whole = whole.filter(pl.col("known") == pl.col("size"))
    whole = whole.join(seen.guarded, on="group_id", how="semi").select("group_id")
    now = {
        MEMBERS: members.join(whole, on="group_id", how="semi").select(number.alias("partition"), "person"),
        CONTENTS: published.values.join(whole, on="group_id", how="semi").select(
            number.alias("partition"), VALUE, "tuples"
        ),
    }
    return {
        name: pl.concat([before[name], table]) if name in before else table for name, table in now.items()
    }
