"""The join: how closely a view, joined with every release before it, may link its columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from republish.anonymize.attack.figures import JoinFigures
from republish.anonymize.attack.finding import AttackResult
from republish.anonymize.late import on_first_call
from republish.anonymize.promise.check import Check
from republish.anonymize.promise.joins import JOINED, joins_of
from republish.anonymize.promise.part import Attack, Part, Promise, single


@dataclass(frozen=True)
class Join:
    """The join of a view with the releases before it that a promise is about."""

    x: tuple[str, ...]
    """X by name; a column that two releases have counts in each of its versions."""
    y: tuple[str, ...]
    """Y by name: columns, or what records are called."""
    limits: Mapping[str, float | Mapping[str, float]] | None = None
    """The confidence with which a column of Y may be inferred: one, or one for each sensitive value."""
    previous: tuple[tuple[str, ...], ...] = ()
    """The columns of each of the other products' releases."""
    records: tuple[str | None, ...] = ()
    """What the records of each of these are called."""
    inconsistent: tuple[tuple[str, str, str, str], ...] = ()
    """Column of the view, column of an earlier release, a label of each: no person has both."""

    def joins(self, view: Collection[str], own: int) -> list[tuple[int, ...]]:
        """List the joins that the promise is about, as positions in the releases before a view.

        These are the other products' and then `own` releases of the series, which have the names of the
        view: its columns, and what its records are called.
        """
        others = [
            {*names, *([record] if record else ())}
            for names, record in zip(self.previous, self.records, strict=True)
        ]
        return joins_of(
            view,
            [*others, *[view] * own],
            self.x,
            self.y,
            others=len(others),
            y_is_one_value=self.limits is None,
        )


@dataclass(frozen=True)
class _OfAJoin(Part):
    """Everything that both promises about a join share. `join` is their last field, so they declare it."""

    attacked_as = ("join",)
    attacked_by: ClassVar[Attack] = on_first_call("republish.anonymize.attack.view", "attack_join")
    counted = JoinFigures
    check = Check(
        "join_privacy",
        f"{JOINED}, no value on X is linked to Y more closely than was required.",
        "Joined with {earlier_releases_sum} earlier releases, {values_sum:,} values on X:"
        " {promised_max:.4g} was promised, and {found_max:.4g} found; {broken_sum:,} records have a value"
        " on X that breaks it, and there was no room to join {undecided_sum:,}. {view_unmatched_sum:,}"
        " records of the view and {earlier_unmatched_sum:,} earlier ones match none.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "join", _read(vars(self)["join"]))

    def sentences(self) -> Iterator[str]:
        """The promise, and the columns of earlier releases that a reader may not know."""
        yield from super().sentences()
        yield from _not_promised(vars(self)["join"])

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> AttackResult:
        """Attack a release."""
        today = cls.given(promises)[-1]
        if not isinstance(today, LinkedValues | Linkability):
            return AttackResult()
        names = {seen.schema.identifier, *(column.name for column in seen.schema.columns)}
        return cls.attacked_by(seen, joins=today.join.joins(names, seen.release - 1), **_told(today))


NAME = "join with earlier releases"
MEANING = f"{JOINED}, no value on X is linked to Y more closely than was promised."


@dataclass(frozen=True)
class LinkedValues(_OfAJoin):
    """Joined with earlier releases, each value on X is linked to at least so many values on Y."""

    linked_values: int
    join: Join

    scopes = single(NAME, MEANING, "at least")
    ranges: ClassVar = {"linked_values": (1, None)}
    sentence = (
        f"{JOINED}, each combination of the joined columns is linked to"
        " at least {linked_values} values of what is protected."
    )


@dataclass(frozen=True)
class Linkability(_OfAJoin):
    """Joined with earlier releases, no value on X implies a sensitive value with a larger confidence."""

    linkability: float
    join: Join

    is_probability = True
    scopes = single(NAME, MEANING, "at most")
    ranges: ClassVar = {"linkability": (0, 1)}
    sentence = (
        f"{JOINED}, no combination of the joined columns implies a"
        " protected value with a confidence above {linkability:.3g}."
    )


def _not_promised(join: Join) -> Iterator[str]:
    """Name the columns of earlier releases that a reader may not know: they stand neither in X nor in Y."""
    others = {name for columns in join.previous for name in columns} - {*join.x, *join.y}
    if others:
        yield (
            f"The joined columns are {', '.join(join.x)}. Nothing is promised against readers who also"
            f" know a person's {', '.join(sorted(others))}."
        )


def _told(part: LinkedValues | Linkability) -> dict[str, Any]:
    """The description of a join that the attack is given."""
    join = part.join
    return {
        "x": join.x,
        "y": join.y,
        "others": list(zip(join.previous, join.records, strict=True)),
        "inconsistent": join.inconsistent,
        "linked_values": part.linked_values if isinstance(part, LinkedValues) else None,
        "limits": join.limits,
    }


def _read(join: Join | Mapping[str, Any]) -> Join:
    """A join as it was, from a file: JSON's lists are tuples, so that promises that are alike are equal."""
    return join if isinstance(join, Join) else Join(**{name: _tuples(part) for name, part in join.items()})


def _tuples(part: Any) -> Any:
    return tuple(map(_tuples, part)) if isinstance(part, list | tuple) else part
