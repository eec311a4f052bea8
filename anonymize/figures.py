"""Figures that are worth plotting over releases: typed where they are counted, names and numbers in files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self


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
