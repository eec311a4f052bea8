"""Values that look renamed between two snapshots: all who carried one now carry another."""

from __future__ import annotations

import polars as pl

from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Sensitive
from republish.anonymize.contract.combined import values_of
from republish.anonymize.people.persons import joined_by_names
from republish.anonymize.spelling import twins

NEARLY_ALL = 0.9
"""The share of a value's people, of those who stayed, that must have moved together."""
FEWEST_TO_A_NEW_VALUE = 2
"""So many people make a renaming of a move to values that nobody had: one person's value may just change."""
MOST_OF_A_SPLIT = 0.5
"""The share of a value's people who must have moved to several new values, where others keep the old one."""
FEWEST_TO_A_KNOWN_VALUE = 5
"""So many people make a renaming of a move to one value that others had before, as after a merge of two."""


def moves(before: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """Count the people who came from each value to each: `gone`, `became`, `people`.

    Counted are those who are in both T(n-1) and T(n); values of two types are compared as text. Beside that,
    there is a row for each value of one of the tables, with null for the other.
    """
    if before.schema[VALUE] != now.schema[VALUE]:
        before, now = (table.with_columns(pl.col(VALUE).cast(pl.String)) for table in (before, now))
    former, latter = before.select(PSEUDONYM, gone=VALUE), now.select(PSEUDONYM, became=VALUE)
    return moves_of_both(joined_by_names(former, latter), former["gone"], latter["became"])


def moves_of_both(both: pl.DataFrame, before: pl.Series, now: pl.Series) -> pl.DataFrame:
    """Count `moves` of people who are joined already.

    `both` has what each of them had and has (`gone`, `became`); `before` and `now` are all values of the two
    tables.
    """
    counted = both.group_by("gone", "became").agg(people=pl.len().cast(pl.Int64))
    values = before.unique().to_frame("gone"), now.unique().to_frame("became")
    return pl.concat([counted, *values], how="diagonal")


def moves_by_column(before: pl.DataFrame, now: pl.DataFrame, sensitive: Sensitive | None) -> pl.DataFrame:
    """Count `moves` of each sensitive column by itself; of several, values begin with their column's name."""
    if sensitive is None or not sensitive.is_several:
        return moves(before, now)
    found = []
    for column, *both in zip(
        sensitive.columns, values_of(before[VALUE], sensitive), values_of(now[VALUE], sensitive), strict=True
    ):
        named = (pl.Series(VALUE, f"{column.name}: " + its.cast(pl.String)) for its in both)
        tables = (table.with_columns(its) for table, its in zip((before, now), named, strict=True))
        found.append(moves(*tables))
    return pl.concat(found)


def suspected_renamings(moved: pl.DataFrame) -> pl.DataFrame:
    """Values that are gone, and what nearly all of their people carry instead.

    A value that is renamed looks like a change to everybody who carries it. Their new signatures share no
    value with the old ones; an adversary who knows that two names mean one value finds both names in the
    person's groups, and is certain. So a renaming has to be told from a change before a release is made.

    A value that nobody carries any more is suspected if at least `NEARLY_ALL` of the people who carried it
    and are still in the table moved to values that nobody carried before (a renaming, a split, or a merge
    under a new name), or to one and the same value of others (a merge into that one). A value that some still
    carry is suspected if more than `MOST_OF_A_SPLIT` moved to at least two values that nobody carried before.

    `moved` is what `moves` counted; rows of several parts of the people may stand one below the other.

    Returns
    -------
    polars.DataFrame
        `gone`: a value of `before`; `became`: what they carry now, the most frequent first (list; no value
        that only one of them carries); `people`: how many of them moved so; `stayed`: how many who carried
        it are in both tables; `is_new`: whether nobody carried it before; `is_kept`: whether some still carry
        it. Sorted by `gone`.
    """
    carried = moved.drop_nulls("people").with_columns(
        is_kept=pl.col("gone").is_in(moved["became"].drop_nulls().unique().implode())
    )
    is_new = ~pl.col("became").is_in(moved["gone"].drop_nulls().unique().implode())
    moved = carried.group_by("gone", "became", "is_kept", is_new.alias("is_new")).agg(pl.col("people").sum())
    ways = moved.sort("people", "became", descending=[True, False]).group_by("gone", maintain_order=True)
    is_shared = pl.col("people") >= FEWEST_TO_A_NEW_VALUE
    found = ways.agg(
        is_kept=pl.col("is_kept").first(),
        stayed=pl.col("people").sum(),
        to_new=pl.col("people").filter("is_new").sum(),
        to_known=pl.col("people").filter(~pl.col("is_new")).max().fill_null(0),
        new=pl.col("became").filter(pl.col("is_new") & is_shared),
        known=pl.col("became").filter(~pl.col("is_new")).head(1),
    )
    enough = pl.col("stayed") * NEARLY_ALL
    is_split = (pl.col("new").list.len() > 1) & (pl.col("to_new") > pl.col("stayed") * MOST_OF_A_SPLIT)
    is_renamed = (pl.col("new").list.len() > 0) & (pl.col("to_new") >= enough)
    is_renamed = pl.when("is_kept").then(is_split).otherwise(is_renamed)
    is_merged = (
        ~pl.col("is_kept") & (pl.col("to_known") >= FEWEST_TO_A_KNOWN_VALUE) & (pl.col("to_known") >= enough)
    )
    return (
        found.filter(is_renamed | is_merged)
        .select(
            "gone",
            became=pl.when(is_renamed).then("new").otherwise("known"),
            people=pl.when(is_renamed).then("to_new").otherwise("to_known").cast(pl.Int64),
            stayed=pl.col("stayed").cast(pl.Int64),
            is_new=is_renamed,
            is_kept="is_kept",
        )
        .sort("gone")
    )


def describe_renamings(suspected: pl.DataFrame, counted: str = "people") -> list[str]:
    """Describe each suspected renaming for a publisher. Every value in it is carried by several people.

    Signs that nobody sees are written as escapes where values differ by how they are written alone.
    `counted` is what they are counted in (`counted_in`).
    """
    those = "people who" if counted == "people" else f"{counted} that"
    said = []
    for gone, became, people, stayed, _, is_kept in suspected.iter_rows():
        shown = ascii if twins(pl.Series([gone, *became])) else repr
        whose = f"{people:,} of the {stayed:,} {those} had"
        values = " or ".join(map(shown, became))
        said.append(
            f"{whose} {shown(gone)} now have {values}, which nobody had: it looks split"
            if is_kept
            else f"Nobody has {shown(gone)} any more, and {whose} it now have {values}"
        )
    return said


def declarable(suspected: pl.DataFrame) -> dict[str, str]:
    """The suspected renamings that a contract can declare: one text became one that is new."""
    if suspected.schema["gone"] != pl.String:
        return {}
    several = suspected["became"].explode()
    return {
        gone: became[0]
        for gone, became, _people, _stayed, is_new, _is_kept in suspected.iter_rows()
        if is_new and len(became) == 1 and (several == became[0]).sum() == 1
    }
