"""Names of a release's columns in a reader's table, and how SQL writes them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from republish.orchestration.readers.datapackage.words import sensitive_columns

OURS = {"release", "copy"}
"""Columns of our own in a reader's table."""


def column_names(package: Mapping[str, Any]) -> list[str]:
    """Names of a release's columns in a condition: its attributes, and the sensitive columns last.

    They are the contract's names. SQL does not tell capital letters from small ones: a name that another
    column has but for these gets a number, as DuckDB numbers such columns of a file; so does one of `OURS`.
    The character NUL, which no statement can have in it, is left out.

    `package` is the content of its `datapackage.json`.
    """
    own = package["republish"]
    declared = [one["name"] for one in (*own["attributes"], *sensitive_columns(own))]
    declared = [name.replace("\0", "") or "column" for name in declared]
    folded, taken, names = {name.lower() for name in declared}, set(OURS), []
    for name in declared:
        numbered = (f"{name}_{number}" for number in itertools.count(1))
        free = (one for one in numbered if one.lower() not in folded | taken)
        names.append(next(free) if name.lower() in taken else name)
        taken.add(names[-1].lower())
    return names


def quoted(name: str) -> str:
    """A column's name as SQL writes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text as SQL writes it, whatever is in it."""
    return "'" + value.replace("'", "''") + "'"
