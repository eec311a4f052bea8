"""What is learned by who knows how values change, and who leaves.

A person's value changes from one of {pre-diabetes, flu, gout} to one of {diabetes, fracture, migraine}. Each
has three candidates, and whoever knows that of these only pre-diabetes becomes diabetes knows both. The same
holds for a value that is never left, or after which people leave the table (death, cure), and where people
are held back because their value changed. No promise is about that: it is a figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.attack.hashes import plain_hashes
from republish.anonymize.columns import VALUE
from republish.anonymize.formats.published import Published
from republish.anonymize.kernels.lives import likeliest

MOST = 50_000
"""About so many people are followed; of more, so many are drawn, the same ones in every release."""
ABSENT, HELD_BACK = -1, -2
"""The content of who is not in the table, and of who is, and in no group."""
CERTAIN = 0.99
"""From this probability on, a value counts as certain."""
TINY = np.finfo(float).tiny
PRIOR = 1.0
"""So many people of each value count as known beforehand, who change and leave as often as everybody does."""


@dataclass(frozen=True)
class Lives:
    """Who was in which signature's groups, and how values changed, release by release."""

    one_in: int
    """One person in so many is followed."""
    releases: Sequence[pl.DataFrame]
    """Of each release: `person`, `value`, `content` (the number of what the group holds; null: in none)."""
    contents: pl.DataFrame
    """`text`, `value`, `share`, a row for each `content`: what groups hold, and each value's share of it."""
    moved: pl.DataFrame | None
    """`half` (of the people, 0 or 1), `gone`, `became` (null: left the table), `people`: of everybody; None
    of one release."""
    last: pl.DataFrame
    """`person`, `value`: everybody of the last release."""


@dataclass(frozen=True)
class GuessedCases:
    """Shares of values that are guessed right."""

    people: int
    """Whose values are guessed; a person may count in several releases."""
    by_half: float
    """By who knows how the values of half of the people change, of the other half."""
    by_all: float
    """By who knows how everybody's values change."""
    at_random: float
    """By guessing at random among the candidates."""
    certain: float
    """The share whose value has a probability of 99 % for the first of these, and is right."""


@dataclass(frozen=True)
class KnownChanges:
    """What is learned by who knows how values change; None where nobody did this."""

    old: GuessedCases | None
    """Values before a change to one outside of the signature."""
    new: GuessedCases | None
    """Values after such a change."""
    departed: GuessedCases | None
    """The last values of people who left, by who also knows how often people with each value leave."""


def follow_lives(
    known: pl.DataFrame, published: Published, hosted: pl.DataFrame, before: Lives | None = None
) -> Lives:
    """Follow people by their groups through one more release.

    Parameters
    ----------
    known
        `person`, `value`: the truth of a release.
    published
        The release.
    hosted
        `person`, `group_id`: of people whose group is known.
    before
        What this returned for the release before.
    """
    now = known.select("person", VALUE)
    one_in = before.one_in if before else max(-(-len(now) // MOST), 1)
    held = (
        published.values.sort("group_id", VALUE)
        .group_by("group_id", maintain_order=True)
        .agg(VALUE, share=pl.col("tuples") / pl.col("tuples").sum())
        .with_columns(text=pl.concat_str(_joined(VALUE), _joined("share"), separator="\x1e"))
    )
    contents = held.select("text", VALUE, "share").unique("text", maintain_order=True)
    if before:
        new = contents.join(before.contents, on="text", how="anti", maintain_order="left")
        contents = pl.concat([before.contents, new])
    numbered = contents.select("text").with_row_index("content")
    group = held.join(numbered, on="text").select("group_id", "content")
    here = now.filter(_hash(now) % (2 * one_in) < 2)
    here = here.join(hosted.select("person", "group_id").drop_nulls(), on="person", how="left")
    here = here.join(group, on="group_id", how="left").drop("group_id")
    moved = _moved(before.last, now) if before else None
    if before and before.moved is not None and moved is not None:
        moved = pl.concat([before.moved, moved])
    releases = [*(before.releases if before else ()), here]
    return Lives(one_in, releases, contents, moved, now)


def learn_changes(lives: Lives) -> KnownChanges | None:
    """Guess the values of people who changed, and of those who left, from all releases together.

    What a person's groups hold, release by release, and how values change are a hidden Markov model: each way
    of having had the values has as its weight the product of the changes' probabilities. The adversary has
    these from one half of the people for the other half, and from everybody; and knows how often people are
    held back whose value is in what their last group held, and others. None is returned of one release.

    References
    ----------
    Rabiner, A tutorial on hidden Markov models, Proceedings of the IEEE 1989: forward and backward weights.
    m-Distinct (Li and Zhou 2008) is a publisher's answer to known changes.
    """
    if lives.moved is None:
        return None
    # People who are held back may have values that nobody has who is published.
    everybody = (lives.moved["gone"], lives.moved["became"], *(one[VALUE] for one in lives.releases))
    values = pl.concat([lives.contents[VALUE].explode(), *everybody]).drop_nulls().unique().sort()
    content, actual, half, left = _people(lives, values)
    shares: Floats = np.zeros((len(lives.contents), len(values)))
    flat = lives.contents.with_row_index("content").explode(VALUE, "share")
    at = flat[VALUE].to_frame().join(_numbered(values), on=VALUE, how="left", maintain_order="left")["at"]
    shares[flat["content"].to_numpy(), at.to_numpy()] = flat["share"].to_numpy()
    content, shares = _with_held_back(content, actual, shares)
    learned = {part: _Rates.of(lives.moved, part, values) for part in (0, 1, None)}
    found: list[list[_Guess]] = [[], [], []]
    for part in (0, 1):
        some = half == part
        for by, rates in (("half", learned[1 - part]), ("all", learned[None])):
            guesses = _guesses(content[some], actual[some], left[some], shares, rates)
            for kept, guess in zip(found, guesses, strict=True):
                kept.append(guess._replace(by=by))
    return KnownChanges(*map(_guessed, found))


def _joined(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.List(pl.String)).list.join("\x1f")


def _hash(people: pl.DataFrame) -> pl.Series:
    """A number that a person has in every release: its parity says which half the person is of."""
    return pl.Series("half", plain_hashes(people["person"]))


def _moved(before: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    both = before.join(now, on="person", how="left", suffix="_now")
    named = both.select(_hash(both) % 2, pl.col(VALUE).alias("gone"), became=f"{VALUE}_now")
    return named.group_by("half", "gone", "became").agg(people=pl.len())


def _numbered(values: pl.Series) -> pl.DataFrame:
    return values.to_frame(VALUE).with_columns(at=pl.int_range(pl.len(), dtype=pl.Int64))


def _people(lives: Lives, values: pl.Series) -> tuple[Ints, Ints, Ints, Bools]:
    """int[N, R] twice: each person's contents and values, or `ABSENT`; int[N] the half, bool[N] who left."""
    rows = pl.concat(one.with_columns(release=pl.lit(n)) for n, one in enumerate(lives.releases))
    rows = rows.join(_numbered(values), on=VALUE)
    rows = rows.with_columns(_hash(rows) % 2)
    names = (
        rows.drop_nulls("content")
        .select("person", "half")
        .unique("person", keep="first")
        .sort("half", "person")
    )
    names = names.with_row_index("row")
    rows = rows.join(names.select("person", "row"), on="person")
    content, actual = (np.full((len(names), len(lives.releases)), ABSENT) for _ in range(2))
    at = rows["row"].to_numpy(), rows["release"].to_numpy()
    content[at], actual[at] = rows["content"].fill_null(HELD_BACK).to_numpy(), rows["at"].to_numpy()
    left = ~names["person"].is_in(lives.last["person"].implode())
    return content, actual, names["half"].to_numpy(), left.to_numpy()


def _with_held_back(content: Ints, actual: Ints, shares: Floats) -> tuple[Ints, Floats]:
    """int[N, R], float64[2C + 1, V]: of who is held back, C more than the content of their last group.

    Such a row has, for each value, how likely the person is held back. The last row is of who is absent.
    """
    content, last = content.copy(), np.full(len(content), ABSENT)
    people, held_back = np.zeros((2, 2), np.int64)
    for now, value in zip(content.T, actual.T, strict=True):
        is_held_back = (now == HELD_BACK) & (last != ABSENT)
        is_here = (now != ABSENT) & (last != ABSENT)
        is_inside = (shares[last, value] > 0) * 1
        people += np.bincount(is_inside[is_here], minlength=2)
        held_back += np.bincount(is_inside[is_held_back], minlength=2)
        last = np.where(now >= 0, now, last)
        now[now == HELD_BACK] = ABSENT
        now[is_held_back] = last[is_held_back] + len(shares)
    likely = (held_back / np.maximum(people, 1))[(shares > 0) * 1]
    return content, np.vstack([shares, _scaled(likely), np.zeros((1, shares.shape[1]))])


class _Rates(NamedTuple):
    """How values change from a release to the next."""

    becomes: Floats
    """float64[V, V]: the probability of each value after each, of who stays."""
    leaves: Floats
    """float64[V]: that somebody leaves."""

    @classmethod
    def of(cls, moved: pl.DataFrame, half: int | None, values: pl.Series) -> _Rates:
        """Those of a half of the people, or of everybody."""
        if half is not None:
            moved = moved.filter(half=half)
        numbered = _numbered(values)
        for column in ("gone", "became"):
            moved = moved.join(
                numbered.select(pl.col(VALUE).alias(column), pl.col("at").alias(f"{column}_at")),
                on=column,
                how="left",
            )
        left, stayed = moved.filter(pl.col("became").is_null()), moved.drop_nulls("became_at")
        number, gone = len(values), np.zeros(len(values))
        np.add.at(gone, left["gone_at"].to_numpy(), left["people"].to_numpy())
        became = np.zeros((number, number))
        np.add.at(
            became,
            (stayed["gone_at"].to_numpy(), stayed["became_at"].to_numpy()),
            stayed["people"].to_numpy(),
        )
        present, changed = became.sum(axis=1), became - np.diag(np.diag(became))
        everybody = max(present.sum(), 1)
        rate = (changed.sum(axis=1) + PRIOR * changed.sum() / everybody) / (present + PRIOR)
        to = changed.sum(axis=0) + PRIOR / number
        goes = changed + PRIOR * to / to.sum()
        np.fill_diagonal(goes, 0)
        goes *= (rate / np.maximum(goes.sum(axis=1), TINY))[:, None]
        people = present + gone
        leaves = (gone + PRIOR * gone.sum() / max(people.sum(), 1)) / (people + PRIOR)
        return cls(goes + np.diag(1 - rate), leaves)


class _Guess(NamedTuple):
    """Of each case: whether it was guessed right, how sure, and the share of its true value in the group."""

    by: str
    is_right: Bools
    sure: Floats
    share: Floats


def _guesses(content: Ints, actual: Ints, left: Bools, shares: Floats, rates: _Rates) -> Iterator[_Guess]:
    """Guesses of old values, new values, and last values of who left, by forward and backward weights.

    A group that has what the person's group before had says it once.
    """
    rows, releases = np.arange(len(content)), content.shape[1]
    last = releases - 1 - (content[:, ::-1] != ABSENT).argmax(axis=1)
    is_gone = left & (last < releases - 1)
    held = csr_array(shares)
    by_row = held.indptr.astype(np.int64), held.indices.astype(np.int64), held.data
    best, sure = likeliest(content, is_gone, by_row, rates.becomes, rates.leaves)
    has = (held > 0).astype(np.int64)
    common = has[content[:, 1:].ravel()].multiply(has[content[:, :-1].ravel()]).sum(axis=1)
    is_here = content != ABSENT
    apart = is_here[:, 1:] & is_here[:, :-1] & (common.reshape(-1, releases - 1) == 0)
    person, after = np.nonzero(apart)
    for who, when in ((person, after), (person, after + 1), (rows[is_gone], last[is_gone])):
        true = actual[who, when]
        yield _Guess("", best[who, when] == true, sure[who, when], shares[content[who, when], true])


def _scaled(weight: Floats) -> Floats:
    total = weight.sum(axis=1, keepdims=True)
    scaled: Floats = np.where(total > 0, weight / np.maximum(total, TINY), 1 / weight.shape[1])
    return scaled


def _guessed(found: Sequence[_Guess]) -> GuessedCases | None:
    """Both halves' guesses together."""
    by = {
        name: [
            np.concatenate(parts) for parts in zip(*(one[1:] for one in found if one.by == name), strict=True)
        ]
        for name in ("half", "all")
    }
    is_right, sure, share = by["half"]
    if not len(is_right):
        return None
    return GuessedCases(
        people=len(is_right),
        by_half=float(is_right.mean()),
        by_all=float(by["all"][0].mean()),
        at_random=float(share.mean()),
        certain=float((is_right & (sure >= CERTAIN)).mean()),
    )
