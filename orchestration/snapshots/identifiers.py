"""A check that identifiers have the form of those in the snapshot before: people keep their identifiers."""

from __future__ import annotations

import polars as pl

from republish.anonymize.spelling import FORMS, value_form

ALIKE = 0.5
"""The share of the identifiers that have to be found again in another form."""
MOST_COMPARED = 20_000
"""New identifiers, and identifiers that are gone, up to which they are compared character by character."""


def changed_form(before: pl.Series, now: pl.Series) -> str | None:
    """The difference between the identifiers of two snapshots, if most of them are the same but for that.

    Identifiers are text, numbers or bytes.

    Returns
    -------
    str or None
        A sentence for the publisher; None if no form fits. It contains no identifier.
    """
    if pl.Binary in (before.dtype, now.dtype) or before.is_empty() or now.is_empty():
        return None
    texts = [column.cast(pl.String).alias("identifier") for column in (before, now)]
    texts = [text.unique() for text in texts]
    found = _shared(*texts)
    for what, bare in FORMS.items():
        shared = _shared(*(bare(text) for text in texts))
        if shared > found and shared >= ALIKE:
            return f"{shared:.0%} of the identifiers are those of the snapshot before, but for {what}"
    return None


def _shared(before: pl.Series, now: pl.Series) -> float:
    """The share of the identifiers before that are there again, of forms that only one of them has."""
    forms = before.unique()
    again = forms.is_in(now.unique().implode()) & (forms != "")
    return float(again.sum()) / before.len()


def gone_and_new(before: pl.Series, now: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`text`: the identifiers of each snapshot alone, each once; none of bytes, which have no forms."""
    if pl.Binary in (before.dtype, now.dtype):
        nobody = pl.DataFrame(schema={"text": pl.String})
        return nobody, nobody
    former, latter = (column.cast(pl.String).alias("text").to_frame() for column in (before, now))
    gone, new = former.join(latter, on="text", how="anti"), latter.join(former, on="text", how="anti")
    return gone.unique(maintain_order=True), new.unique(maintain_order=True)


def drifted(gone: pl.DataFrame, new: pl.DataFrame) -> int:
    """How many identifiers are gone while they are there in another form; of what `gone_and_new` returned."""
    return int(gone.select(value_form(pl.col("text")).is_in(_forms(new).implode()).sum()).item())


def all_but_one_character(gone: pl.DataFrame, new: pl.DataFrame) -> int | None:
    """How many new identifiers are like one that is gone, but for a character more, less or another one.

    Returns
    -------
    int or None
        None if more than `MOST_COMPARED` are new or gone.
    """
    if max(len(gone), len(new)) > MOST_COMPARED:
        return None
    shorter_gone, shorter_new = _with_one_less(gone), _with_one_less(new)
    alike = [
        shorter_new.join(shorter_gone, on=("rest", "place")),  # another character
        shorter_new.join(gone, left_on="rest", right_on="text"),  # one more
        new.join(shorter_gone, left_on="text", right_on="rest"),  # one less
    ]
    return pl.concat(found["text"] for found in alike).n_unique()


def _forms(identifiers: pl.DataFrame) -> pl.Series:
    return identifiers.select(value_form(pl.col("text")))["text"].unique()


def _with_one_less(identifiers: pl.DataFrame) -> pl.DataFrame:
    """`text`, `place`, `rest`: each identifier without the character at each of its places."""
    places = identifiers.with_columns(place=pl.int_ranges(0, pl.col("text").str.len_chars()))
    each = places.explode("place").drop_nulls()
    rest = pl.col("text").str.slice(0, pl.col("place")) + pl.col("text").str.slice(pl.col("place") + 1)
    return each.with_columns(rest=rest)
