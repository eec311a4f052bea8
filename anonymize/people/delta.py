"""The difference of two snapshots: T(n-1), T(n) -> carried, inserted, deleted, changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from republish.anonymize.columns import CORRECTED, PSEUDONYM, VALUE
from republish.anonymize.contract.expected import DeltaFigures
from republish.anonymize.people.persons import PERSON_BYTES, joined_by_names, persons_of, sorted_by_names

CHANGES = ("carried", "changed", "deleted", "inserted")
"""What can become of a person between two snapshots."""


def delta(
    previous: pl.DataFrame | None, current: pl.DataFrame, attributes: Mapping[str, str]
) -> pl.DataFrame:
    """Say of every person of either snapshot what became of them, in a row for each.

    Parameters
    ----------
    previous
        T(n-1), or None before the first release: then everybody is inserted.
    current
        T(n). Both have `pseudonym` (unique) and attributes, and `value` where there is a sensitive one. A
        column whose type is not the same in both is compared as text.
    attributes
        The attributes that both have: from their column in `current` to that in `previous`.

    Returns
    -------
    polars.DataFrame
        `pseudonym`; `change`: in both snapshots with the same sensitive value (`carried`) or another
        (`changed`; nobody where there is no sensitive value), only in the last (`deleted`), only in this
        (`inserted`); `moved` (bool): in both, with another attribute. Sorted by pseudonym.
    """
    if previous is None:
        previous, attributes = current.clear(), {column: column for column in attributes}
    before, now = _alike(previous, current, attributes)
    was, was_not = pl.col("present_right").is_not_null(), pl.col("present_right").is_null()

    def differ(columns: Iterable[str]) -> pl.Expr:
        return pl.any_horizontal(
            pl.lit(value=False), *(pl.col(column).ne_missing(pl.col(f"{column}_right")) for column in columns)
        )

    changed, moved = differ(_sensitive(current)), differ(attributes)
    change = (
        pl.when(was_not).then(pl.lit("inserted"))
        .when(changed).then(pl.lit("changed"))
        .otherwise(pl.lit("carried"))
    )  # fmt: skip
    present = joined_by_names(now, before, "left").select(PSEUDONYM, change=change, moved=was & moved)
    gone = joined_by_names(before, now.select(PSEUDONYM, "present"), "left").filter(was_not)
    deleted = gone.select(PSEUDONYM, change=pl.lit("deleted"), moved=pl.lit(value=False))
    return sorted_by_names(pl.concat([present, deleted]), PSEUDONYM)


def delta_figures(changes: pl.DataFrame) -> DeltaFigures:
    """Count the people who were carried, changed, deleted and inserted, and those who `moved`.

    `changes` is what `delta` returned; its column `corrected` may say whose value was wrong so far. Where it
    has rows of people who may have several, people are counted, too: somebody is in both snapshots who has a
    row in each.
    """
    corrected = pl.col("change") == "changed"
    corrected &= pl.col(CORRECTED) if CORRECTED in changes.columns else pl.lit(value=False)
    others = changes.filter(~corrected)["change"]
    counts = {change: int((others == change).sum()) for change in CHANGES}
    moved = int(changes["moved"].sum())
    return DeltaFigures(
        **counts, moved=moved, corrected=changes.height - others.len(), **_people_counted(changes)
    )


def _people_counted(changes: pl.DataFrame) -> dict[str, int]:
    """The people of both snapshots by their names in `DeltaFigures`; nothing where each has one row."""
    change, names = pl.col("change"), changes[PSEUDONYM]
    if (names.bin.size() <= PERSON_BYTES).all():
        return {}
    each = changes.group_by(persons_of(names)).agg(
        before=(change != "inserted").any(), now=(change != "deleted").any()
    )
    before, now = pl.col("before"), pl.col("now")
    both = before & now
    counts = each.select(people_before=before.sum(), people_now=now.sum(), people_in_both=both.sum())
    return dict(counts.row(0, named=True))


def _sensitive(table: pl.DataFrame) -> dict[str, str]:
    """The sensitive column by itself, where there is one."""
    return {VALUE: VALUE} if VALUE in table.columns else {}


def _alike(
    previous: pl.DataFrame, current: pl.DataFrame, attributes: Mapping[str, str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both snapshots under the names of the current one, in types that can be compared."""
    former = {**_sensitive(current), **attributes}
    other = {now for now, then in former.items() if previous.schema[then] != current.schema[now]}

    def column(name: str, ours: str) -> pl.Expr:
        return (pl.col(name).cast(pl.String) if ours in other else pl.col(name)).alias(ours)

    present = pl.lit(value=True).alias("present")
    return (
        previous.select(PSEUDONYM, present, *(column(then, now) for now, then in former.items())),
        current.select(PSEUDONYM, present, *(column(now, now) for now in former)),
    )
