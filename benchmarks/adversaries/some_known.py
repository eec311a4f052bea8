"""Who is certain when the values of some people are known: these are struck out of their groups.

A promise leaves a person m values, where nobody's is known. Whoever knows the values of two of three others
in a group has two values left, and a release that puts the person among others strikes out further ones. It
is a figure, and no broken promise. Who knows, or finds out, the values of c of all the people with whom a
person ever was in a group strikes out c values at most: at least m - c are left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.columns import VALUE
from republish.anonymize.formats.published import Published
from republish.anonymize.kernels.splitmix import numbers_drawn
from republish.anonymize.people.persons import persons_of

SHARES = (0.001, 0.01, 0.05, 0.1)
"""The shares of people whose values are known, for which others are counted."""
ROUNDS = 5
"""So often, at most, those who became certain in a release make others certain in it."""
MOST_PAIRS = 50_000_000
"""With more pairs of a person and a value of their group, nobody is counted."""
NEVER = 2.0
"""In place of the share of known people from which on something is known."""


@dataclass(frozen=True)
class Struck:
    """What releases so far strike out, and from which share of known people on."""

    drawn: pl.DataFrame
    """`holder`, `drawn`: a person is among the known ones if their share is larger than this."""
    candidates: pl.DataFrame
    """`person`, `value`, `candidate`, `level`: what people with a value might have, and from where on not."""
    certain: pl.DataFrame
    """`person`, `value`, `level`: from where on a value is certain."""


@dataclass(frozen=True)
class KnownPeople:
    """Who is certain when some people, drawn at random, are known."""

    people: int
    """People whose group is known."""
    certain: Mapping[float, float]
    """By the share of people who are known: the share of the others of whom one value is left, their own."""
    struck: Struck | None = field(default=None, repr=False)
    """What is remembered for the next release."""


def strike_out(
    known: pl.DataFrame, published: Published, hosted: pl.DataFrame, before: Struck | None = None
) -> KnownPeople | None:
    """Strike the values of known people out of the groups of a release, and count who is certain then.

    Who becomes certain is known from then on, too. What earlier releases struck out stays so as long as a
    person has the same value. All shares of known people are looked at together: each person draws a number,
    and for everything else it is found from which number on it is known. None is returned if nobody's group
    is known, or there are too many pairs.

    Parameters
    ----------
    known
        `person`, `value`: the truth of a release.
    published
        The release.
    hosted
        `person`, `group_id`: of people whose group is known.
    before
        What earlier releases struck out.
    """
    held = published.values.select("group_id", pl.col(VALUE).alias("candidate"), "tuples").with_row_index(
        "cell"
    )
    here = known.select("person", VALUE).join(hosted.select("person", "group_id").drop_nulls(), on="person")
    here = here.join(
        held.select("group_id", pl.col("candidate").alias(VALUE), own="cell"), on=["group_id", VALUE]
    ).with_row_index("row")
    pairs = here.join(held, on="group_id")
    if here.is_empty() or pairs.height > MOST_PAIRS:
        return None
    drawn = _drawn(persons_of(here["person"]).alias("holder"), before)
    here = here.with_columns(holder=persons_of(here["person"])).join(
        drawn, on="holder", how="left", maintain_order="left"
    )
    if before is not None:
        pairs = _left(pairs, before)
        here = here.join(before.certain, on=["person", VALUE], how="left", maintain_order="left")
    pairs, here = _with_levels(pairs).sort("row", "cell"), _with_levels(here)
    of, cell, struck = (pairs[name].to_numpy() for name in ("row", "cell", "level"))
    own, luck, certain = (here[name].to_numpy() for name in ("own", "drawn", "level"))
    is_own, begins = cell == own[of], np.flatnonzero(np.diff(of, prepend=-1))
    for _ in range(ROUNDS):
        struck = np.minimum(struck, _levels(own, np.minimum(luck, certain), held["tuples"].to_numpy())[cell])
        last = np.maximum.reduceat(np.where(is_own, 0.0, struck), begins)
        if (last >= certain).all():
            break
        certain = np.minimum(certain, last)
    now = Struck(
        drawn,
        pairs.select("person", VALUE, "candidate", level=struck),
        here.select("person", VALUE, level=certain),
    )
    return KnownPeople(
        people=len(here),
        certain={
            share: float((certain < share)[luck >= share].sum() / max((luck >= share).sum(), 1))
            for share in SHARES
        },
        struck=now if before is None else _kept(before, now),
    )


def _drawn(holders: pl.Series, before: Struck | None) -> pl.DataFrame:
    """`holder`, `drawn`: what each person drew, who was there before or is now."""
    new = holders.unique(maintain_order=True).to_frame()
    if before is not None:
        new = new.join(before.drawn, on="holder", how="anti", maintain_order="left")
    begin = 0 if before is None else len(before.drawn)
    drawn = numbers_drawn(begin, begin + len(new)) / 2.0**64
    new = new.with_columns(drawn=pl.Series(drawn, dtype=pl.Float64))
    return new if before is None else pl.concat([before.drawn, new])


def _left(pairs: pl.DataFrame, before: Struck) -> pl.DataFrame:
    """Those of the pairs that are not ruled out for people who have the value that they had."""
    had = before.certain.select("person", VALUE, was_there=pl.lit(True))
    return (
        pairs.join(had, on=["person", VALUE], how="left")
        .join(before.candidates, on=["person", VALUE, "candidate"], how="left")
        .filter(pl.col("was_there").is_null() | pl.col("level").is_not_null())
    )


def _with_levels(table: pl.DataFrame) -> pl.DataFrame:
    level = pl.col("level").fill_null(NEVER) if "level" in table.columns else pl.lit(NEVER).alias("level")
    return table.with_columns(level)


def _levels(own: Ints, level: Floats, tuples: Ints) -> Floats:
    """From where on all tuples of each value of a group are known people's: `tuples`, int64[C], is of each.

    `own`, int64[N], is the value of the group that each person has, who is known from `level` on.
    """
    order = np.lexsort((level, own))
    ends = np.cumsum(np.bincount(own, minlength=len(tuples)))
    last = np.concatenate([[0], ends[:-1]]) + tuples - 1
    is_full = last < ends
    found = np.full(len(tuples), NEVER)
    found[is_full] = level[order[last[is_full]]]
    return found


def _kept(before: Struck, now: Struck) -> Struck:
    """What is remembered, also of people who are not there now."""
    return Struck(
        now.drawn,
        *(
            pl.concat([now_of, then.join(now_of, on="person", how="anti")])
            for then, now_of in ((before.candidates, now.candidates), (before.certain, now.certain))
        ),
    )
