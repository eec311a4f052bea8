"""The marks of what a report says, and what they leave of it in the version that is handed out.

That version has no paths of the publisher's, no small counts of people, and no figure that is measured on
their true values to more digits than many people make together. Such a figure is a function of everybody's
values that anybody can compute: with all its digits, of nine people one assignment of values to them fits it.
A field without a mark is in both versions as it is.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import Annotated, Any, TypeVar, get_type_hints

SMALL = 10
"""Counts of people from 1 up to this are not shown."""

STEPS = (0.01, 0.02, 0.05, 0.1)
"""To one of these steps, figures that are measured on true values are rounded."""

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
Measured = Annotated[T, "measured"]
"""A figure, or several by name, that is measured on people's true values: the handout has it `coarse`."""
OfHalf = Annotated[T, "measured", 2]
"""The same, measured on half of the people."""
OfTwentieth = Annotated[T, "measured", 20]
OfHundredth = Annotated[T, "measured", 100]
SeriesName = Annotated[T, "series"]
"""The name of a series: the handout has the public one."""


def as_json(said: Any, names: Mapping[str, str] | None = None, people: int | None = None) -> Any:
    """What a report says, or a part of it, as plain JSON values.

    Parameters
    ----------
    said
        Dataclasses, mappings, sequences, and what stands in JSON by itself.
    names
        What series are called in the handout (`public_names`); None for the publisher's own version.
    people
        How many people figures are measured on, unless what is said has `people` or `tuples` itself; None of
        figures that readers can compute themselves.
    """
    if isinstance(said, Mapping):
        return {name: as_json(part, names, people) for name, part in said.items()}
    if isinstance(said, list | tuple):
        return [as_json(part, names, people) for part in said]
    if not is_dataclass(said):
        return said
    kind: Any = type(said)
    people = getattr(said, "people", getattr(said, "tuples", people))
    parts = {}
    for name, marks in _marks(kind).items():
        part = getattr(said, name)
        if ("stated" in marks and part is None) or ("internal" in marks and names is not None):
            continue
        parts[name] = as_json(part, names, people)
        if names is None:
            continue
        if "emptied" in marks:
            parts[name] = []
        if "people" in marks and getattr(said, "of_people", True):
            parts[name] = list(map(without_small, part)) if isinstance(part, tuple) else without_small(part)
        if "series" in marks:
            parts[name] = names.get(part, part)
        parts[name] = _measured(parts[name], marks, people)
    return parts


def _measured(part: Any, marks: tuple[str | int, ...], people: int | None) -> Any:
    """A field as it is, or, if it is measured on the true values of so many people, `coarse`."""
    if "measured" not in marks or people is None:
        return part
    some = people // next((one for one in marks if isinstance(one, int)), 1)
    if isinstance(part, Mapping):
        return {name: coarse(figure, some) for name, figure in part.items()}
    return coarse(part, some)


@functools.cache
def _marks(kind: type[Any]) -> dict[str, tuple[str | int, ...]]:
    hints = get_type_hints(kind, include_extras=True)
    return {one.name: getattr(hints[one.name], "__metadata__", ()) for one in fields(kind)}


def without_small(count: int | None) -> int | str | None:
    """A count of people, or words in its place if it is small and not 0."""
    return f"fewer than {SMALL}" if count is not None and 0 < count < SMALL else count


def coarse(figure: float | None, people: int) -> float | None:
    """A figure that is measured on the true values of so many people, to a step that ten of them make.

    None of people who are too few for the largest step.
    """
    step = next((one for one in STEPS if one * people >= SMALL), None)
    return None if figure is None or step is None else round(round(figure / step) * step, 2)


def public_names(names: Sequence[str]) -> dict[str, str]:
    """What series are called outside: a series that is known by its path alone gets the path's last part."""
    short = [PurePath(name).name if PurePath(name).is_absolute() else name for name in names]
    return {
        name: called if short.count(called) == 1 else f"{called} ({number})"
        for number, (name, called) in enumerate(zip(names, short, strict=True), start=1)
    }
