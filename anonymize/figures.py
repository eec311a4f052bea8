"""Figures that are worth plotting over releases: typed where they are counted, names and numbers in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Self, get_type_hints

Total = Annotated[int, sum]
"""A count; of people who are divided into shards, it is the sum of the shards' counts."""
Counted = Annotated[int | None, sum]
"""The same, where nothing may have been counted."""
Least = Annotated[int | None, min]
"""A smallest one; of several shards, the smallest of all."""
Most = Annotated[float | None, max]
"""A largest one; of several shards, the largest of all."""


@dataclass(frozen=True)
class Figures:
    """Counts and extremes of a release; nothing of any one person.

    Whatever counts something has a subclass of its own. The names of its fields are those in files, in the UI
    and in reports, where the figures of all that counted stand in one JSON object.
    """

    def as_json(self) -> dict[str, Any]:
        """Its figures by name, in the order declared."""
        return asdict(self)

    @classmethod
    def of(cls, stated: Mapping[str, Any]) -> Self:
        """Its own of the figures in a JSON object.

        Raises
        ------
        TypeError
            If one is not there that has no default.

        Examples
        --------
        >>> @dataclass(frozen=True)
        ... class Sizes(Figures):
        ...     groups: int
        >>> Sizes.of({"people": 12, "groups": 4})
        Sizes(groups=4)
        """
        return cls(**{one.name: stated[one.name] for one in fields(cls) if one.name in stated})


@dataclass(frozen=True)
class MeanBy:
    """How means of several shards are one: weighted by another figure of each."""

    weight: str


def combined(several: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of a whole from those of the shards that its people are divided into.

    Each field of a `Figures` says how: `Total`, `Counted`, `Least`, `Most` or `MeanBy`. What is none,
    as the widths of a format's intervals, is a mean by groups.

    Parameters
    ----------
    several
        Figures of each shard as JSON objects (`as_json`). What one of them lacks counts as None there.

    Examples
    --------
    >>> combined([{"people": 30, "mean_candidates": 4.0}, {"people": 10, "mean_candidates": 8.0}])
    {'people': 40, 'mean_candidates': 5.0}
    """
    if len(several) == 1:
        return dict(several[0])
    rules, names = dict(_rules(Figures)), dict.fromkeys(name for one in several for name in one)
    return {name: _one(name, several, rules.get(name, MeanBy("groups"))) for name in names}


def _one(name: str, several: Sequence[Mapping[str, Any]], rule: Callable[..., Any] | MeanBy) -> Any:
    stated = [figures for figures in several if figures.get(name) is not None]
    if not stated:
        return None
    if not isinstance(rule, MeanBy):
        return rule(figures[name] for figures in stated)
    weights = [figures.get(rule.weight) or 0 for figures in stated]
    means = (figures[name] * weight for figures, weight in zip(stated, weights, strict=True))
    return sum(means) / sum(weights) if sum(weights) else None


def _rules(kind: type[Figures]) -> Iterator[tuple[str, Callable[..., Any] | MeanBy]]:
    """How each figure of a class and of those below it is one of several."""
    for name, hint in get_type_hints(kind, include_extras=True).items():
        yield from ((name, rule) for rule in getattr(hint, "__metadata__", ()))
    for below in kind.__subclasses__():
        yield from _rules(below)
