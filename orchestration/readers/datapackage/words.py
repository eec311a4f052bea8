"""The meaning of a contract's words, for readers of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SEMANTICS = {
    "persistent": (
        "A person's value stays, as a chronic disease does: a person who is in several releases is expected"
        " to have the same value in all of them."
    ),
    "transient": (
        "A person's value comes and goes, as a quarter's diagnosis does: it may differ from one release to"
        " the next."
    ),
}
"""The meaning of `sensitive.semantics` for readers."""
OF_SEVERAL = (
    "A person may have several values, one in each row, as a patient has several diagnoses: a row that is in"
    " several releases is expected to have the same value in all of them."
)
"""That of `persistent`, where a person may have several rows."""


TERMS = (
    "Do not try to find out who the people in this release are, or which value a person has, and do not link"
    " its rows to other data about people. If you learn something about a person by accident, tell nobody but"
    " the publisher."
)
"""Terms of use of a release whose contract has none."""
GRID = "grid"
"""`ends` of an attribute whose intervals end where cells of `min_width` do, counted from the lowest value."""
CELLS = "cells"
"""`ends` of a category whose intervals end where groups of its hierarchy do; and the key under which it has
the first label of each of these cells. Versions below 0.30 knew none: their intervals end on the grid."""
OF_ROWS = "People may have several rows: whatever is counted counts rows, not people."


def sensitive_columns(own: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A package's statement on each sensitive column, under `sensitive`: a mapping, or a list of several."""
    declared = own.get("sensitive")
    return list(declared) if isinstance(declared, list) else [] if declared is None else [declared]


def several_columns(names: Sequence[str]) -> list[str]:
    """Sentences beside the promise of several sensitive columns; none of one."""
    if len(names) < 2:
        return []
    said = (
        f"A value is a combination of {', '.join(names)} here. The combinations of a group differ in each of"
        " these columns. So the same is promised of each column by itself, and to readers who know which"
        " values go together. Readers who know a person's value in one of these columns learn the others."
    )
    return [said]


def may_be_known(not_sensitive: Sequence[Any]) -> list[str]:
    """Sentences beside the promise on values that may be known of a person; none without such values."""
    if not not_sensitive:
        return []
    values = ", ".join(map(str, not_sensitive))
    said = (
        f"This is promised of every value but {values}: it may be known who has that, and nothing is promised"
        " about it. A group may have it more often than other values; each of its rows counts as one more"
        " value that the people of the group may have, as if it had a number that its person keeps. Whoever"
        " counts rows without numbers, over several releases, may find other probabilities."
    )
    return [said]


def missing_values(
    published: Mapping[str, str], left_out: Mapping[str, int], counted: str = "people"
) -> str | None:
    """Sentences on values that are missing; None where none may be.

    Parameters
    ----------
    published
        How a missing value of each column is published: `counted` beside an interval, a `label`, or `null`.
    left_out
        How many people are left out because a value of theirs is missing, by its column.
    counted
        What is counted (`counted_in`).
    """
    said = []
    for kind, words in _MISSING.items():
        if names := ", ".join(f"`{name}`" for name, how in published.items() if how == kind):
            said.append(words.format(names, counted=counted))
    if left_out:
        each = ", ".join(f"{people:,} that of `{column}`" for column, people in left_out.items())
        said.append(
            f"{sum(left_out.values()):,} {counted} of the table are not in this release, because a value of"
            f" theirs is missing: {each}. No count has them."
        )
    return " ".join(said) or None


def held_back_words(own: Mapping[str, Any]) -> str:
    """Sentences on people of the table who are in no row of a release; empty where nobody is held back."""
    held = own.get("held_back")
    if not held:
        return ""
    what = "rows" if own.get("rows") else "people"
    said = f"{held['people']:,} {what} of the table are held back: they are in no table and in no count."
    if held["by_value"]:
        return f"{said} They wait because of their value, so how many of them meet a condition can't be told."
    return f"{said} They need not be like the others: all new people may wait because too many share a value."


_MISSING = {
    "counted": (
        "Some {counted} have no value of {}. An interval covers the values of the others, and has no ends, or"
        " the label `(missing)`, where nobody has one; the column that ends in `_missing` counts the"
        " {counted} of the group without a value."
    ),
    "label": "Where a value of {} is missing, it is `(missing)`.",
    "null": "Where a value of {} is missing, the entry is empty.",
}


def own_values(exact: Sequence[str], lone_ends: int) -> str | None:
    """A sentence on intervals whose ends are people's own values; None if there are none.

    Parameters
    ----------
    exact
        The names of their quasi-identifiers.
    lone_ends
        How many of these ends are the value of one person alone.
    """
    if not exact:
        return None
    return (
        f"An interval of {', '.join(exact)} begins and ends with the value of a person in the group."
        f" {lone_ends:,} of these ends are a value that one person alone has: readers who know it see which"
        " group this person is in."
    )
