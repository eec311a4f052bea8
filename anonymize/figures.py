"""Figures that are worth plotting over releases: typed where they are counted, names and numbers in files.

Each field declares how the figures of shards combine: `Total`, `Least`, `Most`, `MeanBy`, `ErrorBy`,
`FromCounts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from dataclasses import fields as fields_of
from functools import cache
from math import hypot
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin, get_type_hints


def added(several: Iterable[Mapping[float, int]]) -> dict[float, int]:
    """Counts of people by a number, of all shards together, in the order of the numbers."""
    whole: Counter[float] = Counter()
    for counts in several:
        whole.update(counts)
    return dict(sorted(whole.items()))


UNSTATED = "unstated"
"""Marks a field that only serves to combine others: files and reports don't have it."""

Total = Annotated[int, sum]
"""A count; of people who are divided into shards, it is the sum of the shards' counts."""
Counted = Annotated[int | None, sum]
"""A count that may be none, where nothing was counted; of several shards, their sum."""
Least = Annotated[int | None, min]
"""A smallest one; of several shards, the smallest of all."""
Most = Annotated[float | None, max]
"""A largest one; of several shards, the largest of all."""
Weight = Annotated[int, sum, UNSTATED]
"""A count by which a mean is weighted."""
Counts = Annotated[Mapping[float, int], added, UNSTATED]
"""How many people have each number: medians of a whole are computed from it."""


@dataclass(frozen=True)
class MeanBy:
    """The mean of several shards' means, weighted by another field of each."""

    field: str

    def of_all(self, name: str, several: Sequence[Figures]) -> float | None:
        """The mean of a whole."""
        stated = [one for one in several if getattr(one, name) is not None]
        weights = [getattr(one, self.field) for one in stated]
        means = (getattr(one, name) * weight for one, weight in zip(stated, weights, strict=True))
        return sum(means) / sum(weights) if sum(weights) else None


@dataclass(frozen=True)
class ErrorBy:
    """The standard error of such a mean, from those of several shards, which are independent."""

    field: str

    def of_all(self, name: str, several: Sequence[Figures]) -> float:
        """The error of a whole."""
        weights = [getattr(one, self.field) for one in several]
        errors = (getattr(one, name) * weight for one, weight in zip(several, weights, strict=True))
        error: float = hypot(*errors) / sum(weights)
        return error


@dataclass(frozen=True)
class FromCounts:
    """A figure that is computed from counts of people by a number, of one shard and of a whole alike."""

    field: str
    compute: Callable[[Mapping[float, int]], Any]

    def of_all(self, _name: str, several: Sequence[Figures]) -> Any:
        """The figure of a whole."""
        return self.compute(added(getattr(one, self.field) for one in several))


@dataclass(frozen=True)
class Figures:
    """Counts and extremes of a release; nothing of any one person.

    Whatever counts something has a subclass of its own. The names of its fields are those in files, in the UI
    and in reports, where the figures of all that counted stand in one JSON object. Each field declares how
    the figures of shards combine, as the second part of an `Annotated`: a class with a field that does not is
    refused when it is imported.
    """

    def __init_subclass__(cls) -> None:
        named = cls._declared()
        for name, declared in named.items():
            if not declared:
                raise TypeError(
                    f"{cls.__name__}.{name} does not declare how the figures of several shards are one."
                    " Annotate it, as Total or Least of anonymize/figures.py do"
                )
            of = getattr(declared[0], "field", None)
            if of is not None and of not in named:
                raise TypeError(f"{cls.__name__}.{name} is combined by {of}, which {cls.__name__} has not")

    @classmethod
    @cache
    def _declared(cls) -> dict[str, tuple[Any, ...]]:
        """Read what is declared of each field beside its type."""
        hints = get_type_hints(cls, include_extras=True).items()
        return {
            name: get_args(hint)[1:] if get_origin(hint) is Annotated else ()
            for name, hint in hints
            if get_origin(hint) is not ClassVar
        }

    @classmethod
    def of_all(cls, several: Sequence[Self]) -> Self:
        """The figures of a whole from those of the shards that its people are divided into.

        Examples
        --------
        >>> @dataclass(frozen=True)
        ... class Sizes(Figures):
        ...     groups: Total
        ...     mean_size: Annotated[float | None, MeanBy("groups")]
        >>> Sizes.of_all([Sizes(30, 4.0), Sizes(10, 8.0)])
        Sizes(groups=40, mean_size=5.0)
        """
        if len(several) == 1:
            return several[0]
        return cls(**{name: _one(name, declared[0], several) for name, declared in cls._declared().items()})

    def as_json(self) -> dict[str, Any]:
        """Its figures by name, in the order declared."""
        unstated = {name for name, declared in self._declared().items() if UNSTATED in declared}
        return {name: figure for name, figure in asdict(self).items() if name not in unstated}

    @classmethod
    def of(cls, stated: Mapping[str, Any]) -> Self:
        """Build this class from those figures in a JSON object that it declares.

        Raises
        ------
        TypeError
            If one is not there that has no default.

        Examples
        --------
        >>> @dataclass(frozen=True)
        ... class Sizes(Figures):
        ...     groups: Total
        >>> Sizes.of({"people": 12, "groups": 4})
        Sizes(groups=4)
        """
        return cls(**{one.name: stated[one.name] for one in fields_of(cls) if one.name in stated})


def undivided(_several: Iterable[Any]) -> Any:
    """Refuse figures of people who are never divided into shards, as those of a view."""
    raise TypeError("figures of people who are never divided into shards can't be combined")


def combined(several: Sequence[Sequence[Figures]]) -> tuple[Figures, ...]:
    """The figures of a whole from all those that each shard has, each class by itself."""
    by_kind = [{type(one): one for one in figures} for figures in several]
    kinds = dict.fromkeys(kind for figures in by_kind for kind in figures)
    return tuple(kind.of_all([figures[kind] for figures in by_kind if kind in figures]) for kind in kinds)


def by_name(several: Iterable[Figures]) -> dict[str, Any]:
    """Figures of several classes in one JSON object."""
    return {name: figure for figures in several for name, figure in figures.as_json().items()}


def _one(name: str, rule: Any, several: Sequence[Figures]) -> Any:
    if isinstance(rule, MeanBy | ErrorBy | FromCounts):
        return rule.of_all(name, several)
    stated = [figure for one in several if (figure := getattr(one, name)) is not None]
    return rule(stated) if stated else None


def reached(counts: Mapping[float, int], share: float) -> Any:
    """The least number that at least this share of the people do not exceed; None of nobody.

    Examples
    --------
    >>> reached({2: 30, 5: 50, 6: 20}, 0.05), reached({2: 30, 5: 50, 6: 20}, 0.5)
    (2, 5)
    """
    needed, so_far = max(1, share * sum(counts.values())), 0
    for number, people in sorted(counts.items()):
        so_far += people
        if so_far >= needed:
            return number
    return None


def mean(counts: Mapping[float, int]) -> float | None:
    """The mean number of the people; None of nobody."""
    people = sum(counts.values())
    return sum(number * count for number, count in counts.items()) / people if people else None
