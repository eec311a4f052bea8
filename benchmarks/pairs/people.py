"""People who enter, leave, come back, grow older and change, with whatever a feature needs of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

D = (
    "flu", "asthma", "gout", "rheumatism", "angina", "stroke", "ulcer", "gastritis", "mumps", "goitre",
    "eczema", "none",
)  # fmt: skip
"""The values of the first sensitive column."""
E = ("low", "middle", "high")
"""Those of the second one."""
PARTS = ("household", "line")
"""The columns of an identifier that has two."""
TOWNS = ("Aldorf", "Birkheim", "Cronau", "Delm")
GROUPS_OF_D = {**{value: value for value in D}, "flu": "lungs", "asthma": "lungs"}
"""The group that each value of the first column is published as, where a hierarchy is."""


@dataclass
class Person:
    """What the table has of somebody."""

    name: str
    age: int | None
    town: str | None
    visits: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The two sensitive values by the row's name."""
    shown: str = ""
    """What the table calls them by now, if not by their name."""


@dataclass
class People:
    """A crowd that lives on from release to release."""

    seed: int
    number: int
    """How many there are at first."""
    rows: int = 1
    """The most rows that a person has at first."""
    missing: float = 0.0
    """The share of the people without an age, and of those without a town."""
    columns: tuple[str, ...] = ("d",)
    """The sensitive columns."""
    common: str = ""
    """A value that half of the people have."""
    renamed: tuple[str, str] = ("", "")
    """What a value is called from the third release on."""
    renamed_town: tuple[str, str] = ("", "")
    """What a town is called from the third release on."""
    parts: tuple[str, ...] = ()
    """The columns that identify a person together, if it is not one."""
    published: Mapping[str, str] = field(default_factory=dict)
    """What stands for each value in what is published, if not the value."""
    changing: float = 0.0
    """The share of the rows whose values change from one release to the next."""
    renumbered: float = 0.0
    """The share of the people whom the third release knows by another identifier."""
    corrected: float = 0.0
    """The share of the people whose value in the third release was wrong before, and nobody's else is."""

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._skew = self._chance.choice((0.0, 0.0, 0.4))
        self._present: list[Person] = []
        self._stayed: list[Person] = []
        self._absent: list[Person] = []
        self._entered = self._visits = 0
        self.corrections: list[str] = []
        """Who has been corrected, as the table calls them."""
        self.crosswalk: dict[str, str] = {}
        """The first identifier of people who have another one by now, by that one."""

    def snapshots(self, releases: int) -> Iterator[pl.DataFrame]:
        """T(1), T(2), …: `person` or its parts, `visit`, `age`, `town`, `d`, `e`."""
        for number in range(releases):
            if number:
                self._live_on()
            if number == 2:
                self._renumber()
                self._correct()
            while len(self._present) < self.number or (number and self._chance.random() < 0.4):
                self._present.append(self._newcomer())
            yield self._table(number)

    def name_of(self, value: str) -> str:
        """What the releases call a value of the first column."""
        return self.published.get(value, value)

    def _live_on(self) -> None:
        come_back = [one for one in self._absent if self._chance.random() < 0.5]
        leave = [one for one in self._present if self._chance.random() < 0.2]
        self._stayed = [one for one in self._present if one not in leave]
        self._present = self._stayed + come_back
        self._absent = [one for one in self._absent if one not in come_back] + leave
        for one in self._present:
            one.age = None if one.age is None else min(one.age + 1, 120)
            if self._chance.random() < 0.1:
                one.town = self._or_missing(self._chance.choice(TOWNS))
            for visit in [*one.visits]:
                if self._chance.random() < self.changing:
                    one.visits[visit] = self._values()
            if self.rows > 1 and self._chance.random() < 0.2:
                self._visit(one)
            if len(one.visits) > 1 and self._chance.random() < 0.2:
                del one.visits[self._chance.choice([*one.visits])]

    def _correct(self) -> None:
        """Give some of those who are in the table other values, as if they had been wrong."""
        for one in self._stayed:
            if self._chance.random() < self.corrected:
                visit = next(iter(one.visits))
                was, (d, e) = one.visits[visit], self._values()
                if d != was[0]:
                    one.visits[visit] = d, (e if len(self.columns) == 1 else was[1])
                    self.corrections.append(one.shown or one.name)

    def _renumber(self) -> None:
        """Give some of those who are in the table another identifier."""
        for one in self._stayed:
            if self._chance.random() < self.renumbered:
                one.shown = f"N{one.name[1:]}"
                self.crosswalk[one.shown] = one.name

    def _newcomer(self) -> Person:
        self._entered += 1
        age = self._or_missing(self._chance.randint(0, 99))
        one = Person(f"P{self._entered:04}", age, self._or_missing(self._chance.choice(TOWNS)))
        for _ in range(self._chance.randint(1, self.rows)):
            self._visit(one)
        return one

    def _visit(self, one: Person) -> None:
        self._visits += 1
        one.visits[f"V{self._visits:05}"] = self._values()

    def _values(self) -> tuple[str, str]:
        if self.common and self._chance.random() < 0.5:
            return self.common, self._chance.choice(E)
        weights = [1 + 2 * (self._chance.random() < self._skew) * (at == 0) for at in range(len(D))]
        return self._chance.choices(D, weights)[0], self._chance.choice(E)

    def _or_missing(self, value: Any) -> Any:
        return None if self._chance.random() < self.missing else value

    def _table(self, number: int) -> pl.DataFrame:
        values, towns = (dict([one]) if number > 1 else {} for one in (self.renamed, self.renamed_town))
        rows = [
            (one.shown or one.name, visit, one.age, towns.get(one.town, one.town), values.get(d, d), e)
            for one in self._present
            for visit, (d, e) in one.visits.items()
        ]
        self._chance.shuffle(rows)
        names = {"person": pl.String, "visit": pl.String, "age": pl.Int64, "town": pl.String, "d": pl.String}
        return pl.DataFrame(rows, {**names, "e": pl.String}, orient="row")
