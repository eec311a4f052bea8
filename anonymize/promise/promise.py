"""What a release promises: its principle's parts, as data that files keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from anonymize.promise.part import KINDS, Part

P = TypeVar("P", bound=Part)


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
        """What is promised, for readers of a release."""
        return [sentence for part in self.parts for sentence in part.sentences()]

    def as_json(self) -> dict[str, Any]:
        """Itself as a JSON object: the fields of all its parts."""
        return {name: value for part in self.parts for name, value in asdict(part).items()}

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> Promise:
        """What `as_json` returned: each kind whose first field is stated is a part of it."""
        names = {kind: [one.name for one in fields(kind)] for kind in KINDS if fields(kind)}
        promised = {kind: own for kind, own in names.items() if stated.get(own[0]) is not None}
        places = {name: place for place, name in enumerate(stated)}
        return cls(
            *(
                kind(**{name: stated[name] for name in own if name in stated})
                for kind, own in sorted(promised.items(), key=lambda one: places[one[1][0]])
            )
        )
