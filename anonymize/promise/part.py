"""A promise and its parts: a part brings its name, bound, sentence, attack, check, figures and charts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, Self, TypeVar

import polars as pl

from republish.anonymize.attack.finding import AttackResult, Count, finding
from republish.anonymize.figures import Figures
from republish.anonymize.promise.check import Check

Bound = Literal["at least", "at most"]
Attack = Callable[..., AttackResult]


@dataclass(frozen=True)
class Scope:
    """The subject of one row of findings: one adversary, or one rule."""

    name: str
    """What reports and findings call it."""
    meaning: str
    """What holds if it is kept, in one sentence."""
    bound: Bound | None = None
    """Which way its figure is promised, if it has one."""
    counts_people: bool = True
    """Whether its counts are of people, rather than of files, rows or groups."""
    if_undecided: str | None = None
    """What is said where it is undecided, of a rule that is tested: `found` and `required` are the numbers of
    releases among which chance does as much once."""

    def finding(self, count: Count) -> pl.DataFrame:
        """A row of findings."""
        return finding(self.name, count, self.bound)


def single(
    name: str,
    meaning: str,
    bound: Bound | None = None,
    *,
    counts_people: bool = True,
    if_undecided: str | None = None,
) -> Mapping[str, Scope]:
    """The scopes of a part with one: arguments as the fields of `Scope`."""
    return {"": Scope(name, meaning, bound, counts_people, if_undecided)}


@dataclass(frozen=True)
class Curve:
    """A line of a chart, over releases."""

    figure: str
    """A field of `Part.counted`, as are all names of figures below."""
    words: str


@dataclass(frozen=True)
class Chart:
    """A chart of what is promised, over releases, as data."""

    caption: str
    axis: str
    curves: tuple[Curve, ...]
    """A curve of which no release has a figure is left out."""
    top: float | None = None
    """Where the axis ends."""
    bound: Bound = "at least"
    level: Callable[[Any], float] | None = None
    """The promised level, of the part."""


@dataclass(frozen=True)
class Part:
    """One thing that is promised. Each kind is a frozen dataclass, checked when it is made.

    The names of its fields are the promise's keys in JSON. The first key of each kind is its own.
    """

    attacked_as: ClassVar[tuple[str, ...]] = ("groups",)
    """Which releases it is about: of `groups`, or views that are attacked by a `join`."""
    scopes: ClassVar[Mapping[str, Scope]] = {}
    """The findings that are reported, by the keys of the attack's counts, in their order."""
    attacked_by: ClassVar[Attack]
    """The attack: from what is seen, and what was promised, to what is found."""
    judges: ClassVar[Literal["each", "today"]] = "each"
    """Whether the attack is given the bound that each release promised, or that of the last one alone. A
    bound is the first field of the part; it is None where a release did not promise it."""
    ranges: ClassVar[Mapping[str, tuple[float, float | None]]] = {}
    """The least and the most that can be promised, by field; None for no most."""
    sentence: ClassVar[str] = ""
    """What is promised, for readers of a release: a format of the fields, which a catalogue translates."""
    is_probability: ClassVar[bool] = False
    """Whether the bound is the largest probability of any person's value."""
    counted: ClassVar[type[Figures]] = Figures
    """The figures of its attack. No two kinds name one alike, unless their figures are of one class."""
    charts: ClassVar[tuple[Chart, ...]] = ()
    """Its charts in the audit's report."""
    needs_all_releases: ClassVar[bool] = False
    """Whether `attack_series` finds more than the attacks on single releases."""
    needs_hosts: ClassVar[str | None] = None
    """What its attack leaves out where people's groups are not known; None if it does with what is."""
    unpromised: ClassVar[tuple[str, str] | None] = None
    """A figure that is stated where the part is not promised, and the words around it."""
    measured_on: ClassVar[str | None] = None
    """The figure that counts the people on whose true values this one is measured, if it is on any."""

    def __init_subclass__(cls) -> None:
        shown = {curve.figure for chart in cls.charts for curve in chart.curves}
        shown |= set(cls.unpromised[:1] if cls.unpromised else ())
        if strange := shown - {one.name for one in fields(cls.counted)}:
            raise TypeError(f"{cls.__name__} shows {min(strange)}, which {cls.counted.__name__} has not")

    def __post_init__(self) -> None:
        for name, (least, most) in self.ranges.items():
            required(name, getattr(self, name), least, most)

    def sentences(self) -> Iterator[str]:
        """The promise, for readers of a release."""
        if self.sentence:
            yield self.sentence.format(**vars(self))

    @property
    def likeliest(self) -> float | None:
        """The largest probability of any person's value that it allows; None if it bounds none."""
        return getattr(self, fields(self)[0].name) if self.is_probability else None

    @property
    def check(self) -> Check | None:
        """The check by which Great Expectations judges the table that the attack counts."""
        return None

    @classmethod
    def given(cls, promises: Sequence[Promise]) -> list[Self | None]:
        """The part of its kind in what each release promised; None where a release did not promise it."""
        return [promise.part(cls) for promise in promises]

    @classmethod
    def bounds(cls, promises: Sequence[Promise]) -> list[Any]:
        """List the first field of the part in each release's promise; None where it promised nothing."""
        name, *_ = (*(one.name for one in fields(cls)), None)
        return [part and (name is None or getattr(part, name)) for part in cls.given(promises)]

    @classmethod
    def since(cls, promises: Sequence[Promise]) -> int:
        """The first release that promised as much as the last one does, counted from 1."""
        bounds = cls.bounds(promises)
        return bounds.index(bounds[-1]) + 1

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> AttackResult:
        """Attack a release.

        `seen` is what the adversary has of the release, and of all before it, beside the truth: an
        `attack.input.AttackInput`, or of a view an `attack.view.ViewInput`. Everybody is judged by what they
        were promised in the release that published them first; release 1 comes first.
        """
        bounds = cls.bounds(promises)
        return cls.attacked_by(seen, bounds if cls.judges == "each" else bounds[-1])

    @classmethod
    def attack_series(cls, seen: Any, promises: Sequence[Promise]) -> AttackResult | None:
        """Attack all releases of a series together; None where there is nothing more to find.

        `seen` is an `attack.assignments.SeriesInput`.
        """
        del seen, promises
        return None

    @classmethod
    def attack_together(cls, series: Sequence[Any], given: Any, schema: Any) -> AttackResult | None:
        """Attack several series about the same people, by what is known of each in the end."""
        del series, given, schema
        return None


P = TypeVar("P", bound=Part)
"""A kind of part."""


@dataclass(frozen=True, init=False)
class Promise:
    """The most that an adversary may be left with. A part that is not in it is not promised."""

    parts: tuple[Part, ...]
    """Its parts, what matters most first: this is the order in which they are reported."""

    def __init__(self, *parts: Part) -> None:
        object.__setattr__(self, "parts", parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    def part(self, kind: type[P]) -> P | None:
        """Its part of a kind; None where nothing of the kind is promised."""
        return next((part for part in self.parts if isinstance(part, kind)), None)

    def sentences(self) -> list[str]:
        """The promise, for readers of a release."""
        return [sentence for part in self.parts for sentence in part.sentences()]

    def as_json(self) -> dict[str, Any]:
        """Itself as a JSON object: the fields of all its parts."""
        return {name: value for part in self.parts for name, value in asdict(part).items()}


def required(name: str, value: float | None, least: float, most: float | None = None) -> None:
    """Raise ValueError unless a bound lies where it can be promised.

    Examples
    --------
    >>> required("candidates", 0, least=1)
    Traceback (most recent call last):
    ValueError: candidates (0) must be at least 1
    """
    if value is not None and (value < least or (most is not None and value > most)):
        raise ValueError(
            f"{name} ({value}) must be at least {least}{'' if most is None else f', at most {most}'}"
        )
