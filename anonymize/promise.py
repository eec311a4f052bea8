"""What a principle promises, as data: all that an attack is told of the principle it attacks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Promise:
    """The most that an adversary may be left with. A part that is None is not promised."""

    candidates: int | None = None
    """Each person keeps at least so many candidate values, however many releases are intersected."""
    largest_share: float | None = None
    """No value has a larger share of the tuples of any group."""
    breach_probability: float | None = None
    """Nobody is linked to a value, in any release so far, with a larger probability (values come and go)."""
    signatures: Literal["unique", "even"] | None = None
    """Each group holds the values of its signature once each (unique), or equally often (even)."""
    equivalence: int | None = None
    """No fewer people than this are known to have the same values as as many others."""

    def as_json(self) -> dict[str, Any]:
        """Itself as a JSON object."""
        return asdict(self)
