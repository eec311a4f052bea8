"""The memory of a series between releases: tables that its principle names and reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

PREVIOUS = "previous_{position}"
"""What the tables of other products' releases are called that a contract names, in its order."""


@dataclass(frozen=True)
class State:
    """Everything that release n leaves for release n + 1; private, under pseudonyms, never under names."""

    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Tables by name; which ones there are is the principle's own matter. None before the first release."""

    @classmethod
    def empty(cls) -> State:
        """The state before the first release."""
        return cls()
