"""What a principle promises, as data: all that an attack is told of the principle it attacks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Promise:
    """The most that an adversary may be left with. A part that is None is not promised."""

    candidates: int | None = None
    """Each person keeps at least so many candidate values, however many releases are intersected."""
    largest_share: float | None = None
    """No value has a larger share of the tuples of any group."""
    breach_probability: float | None = None
    """Nobody is linked to a value, in any release so far, with a larger probability (values come and go)."""
    equivalence: int | None = None
    """No fewer people than this are known to have the same values as as many others."""
    linked_values: int | None = None
    """Joined with every earlier release, each value on X is linked to at least so many values on Y."""
    linkability: float | None = None
    """Joined with every earlier release, no value on X implies a sensitive value with a larger confidence."""

    def as_json(self) -> dict[str, Any]:
        """Itself as a JSON object."""
        return asdict(self)
