"""What a principle promises, as data: all that an attack is told of the principle it attacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Join:
    """Which join of a view with the releases before it a promise is about."""

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


@dataclass(frozen=True)
class Promise:
    """The most that an adversary may be left with. A part that is None is not promised."""

    candidates: int | None = None
    """Each person keeps at least so many candidate values, however many releases are intersected."""
    largest_share: float | None = None
    """No value has a larger share of the tuples of any group."""
    breach_probability: float | None = None
    """Nobody is linked to a value, in any release so far, with a larger probability (values come and go)."""
    forgets_after: int | None = None
    """People absent from so many releases in a row are promised it anew if they return."""
    signatures: Literal["unique", "even"] | None = None
    """Each group holds the values of its signature once each (unique), or equally often (even)."""
    equivalence: int | None = None
    """No fewer people than this are known to have the same values as as many others."""
    linked_values: int | None = None
    """Joined with every earlier release, each value on X is linked to at least so many values on Y."""
    linkability: float | None = None
    """Joined with every earlier release, no value on X implies a sensitive value with a larger confidence."""

    join: Join | None = None
    """The join that the two above are about."""

    def as_json(self) -> dict[str, Any]:
        """Itself as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> Promise:
        """What `as_json` returned."""
        join = stated.get("join")
        return cls(**{**stated, "join": join and Join(**{part: _tuples(join[part]) for part in join})})


def _tuples(part: Any) -> Any:
    """JSON's lists as tuples, so that promises that are alike are equal."""
    return tuple(map(_tuples, part)) if isinstance(part, list | tuple) else part
