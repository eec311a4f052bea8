"""A check that identifiers have the form of those in the snapshot before: people keep their identifiers."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

FORMS: dict[str, Callable[[pl.Series], pl.Series]] = {
    "spaces around them": lambda text: text.str.strip_chars(),
    "leading zeros": lambda text: text.str.strip_chars().str.strip_chars_start("0"),
    "small and capital letters": lambda text: text.str.strip_chars().str.to_lowercase(),
    "a decimal point": lambda text: text.str.strip_chars().str.replace(r"\.0+$", ""),
    "letters, spaces and signs between the digits": lambda text: text.str.replace_all(r"\D", ""),
}
"""What identifiers may have gained or lost, and what is left of them without it."""
ALIKE = 0.5
"""The share of the identifiers that have to be found again in another form."""


def changed_form(before: pl.Series, now: pl.Series) -> str | None:
    """What the identifiers of two snapshots differ by, if most of them are the same but for that.

    Parameters
    ----------
    before, now
        The identifiers of a snapshot and of the next one; text, numbers or bytes.

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
