"""The marks of what a report says, and what they leave of it in the version that is handed out.

That version has no paths of the publisher's and no small counts of people. A field without a mark is in both
versions as it is.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import Annotated, Any, TypeVar, get_type_hints

from republish.anonymize.text import Text

SMALL = 10
"""Counts of people from 1 up to this are not shown."""

T = TypeVar("T")
Internal = Annotated[T, "internal"]
"""A field that the handout does not have."""
Emptied = Annotated[list[T], "emptied"]
"""A list that is empty in the handout."""
Stated = Annotated[T | None, "stated"]
"""A field that neither version has where it is None."""
People = Annotated[T, "people"]
"""A count of people, or several, unless the class has a field `of_people` that is false: the handout shows
no small one."""
SeriesName = Annotated[T, "series"]
"""The name of a series: the handout has the public one."""


def as_json(said: Any, names: Mapping[str, str] | None = None) -> Any:
    """What a report says, or a part of it, as plain JSON values.

    Parameters
    ----------
    said
        Dataclasses, mappings, sequences, and what stands in JSON by itself.
    names
        What series are called in the handout (`public_names`); None for the publisher's own version.
    """
    if isinstance(said, Mapping):
        return {name: as_json(part, names) for name, part in said.items()}
    if isinstance(said, list | tuple):
        return [as_json(part, names) for part in said]
    if not is_dataclass(said):
        return said
    kind: Any = type(said)
    parts = {}
    for name, marks in _marks(kind).items():
        part = getattr(said, name)
        if ("stated" in marks and part is None) or ("internal" in marks and names is not None):
            continue
        parts[name] = as_json(part, names)
        if names is None:
            continue
        if "emptied" in marks:
            parts[name] = []
        if "people" in marks and getattr(said, "of_people", True):
            parts[name] = list(map(without_small, part)) if isinstance(part, tuple) else without_small(part)
        if "series" in marks:
            parts[name] = names.get(part, part)
    return parts


@functools.cache
def _marks(kind: type[Any]) -> dict[str, tuple[str, ...]]:
    hints = get_type_hints(kind, include_extras=True)
    return {one.name: getattr(hints[one.name], "__metadata__", ()) for one in fields(kind)}


def without_small(count: int | None) -> int | str | None:
    """A count of people, or words in its place if it is small and not 0."""
    return Text("fewer than {small}", small=SMALL) if count is not None and 0 < count < SMALL else count


def public_names(names: Sequence[str]) -> dict[str, str]:
    """What series are called outside: a series that is known by its path alone gets the path's last part."""
    short = [PurePath(name).name if PurePath(name).is_absolute() else name for name in names]
    return {
        name: called if short.count(called) == 1 else f"{called} ({number})"
        for number, (name, called) in enumerate(zip(names, short, strict=True), start=1)
    }
