"""What this principle needs of the house around it. To be replaced by imports from there.

`Parameters` from `anonymize.contract`, `Declaration`, `Label`, `repeated`, `shown` from
`anonymize.contract.scalars`, `State` from `anonymize.state`, `Candidate` from `anonymize.candidate`, and
`Principle`, `Check`, `Memory` from `anonymize.principle`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from anonymize.contract import Declaration, Label
from anonymize.contract import _repeated as repeated
from anonymize.contract import _shown as shown
from anonymize.plot import Plot
from anonymize.promise import Promise

__all__ = [
    "Candidate",
    "Check",
    "Declaration",
    "Label",
    "Memory",
    "Parameters",
    "Plot",
    "Principle",
    "State",
    "repeated",
    "shown",
]


class Parameters(Declaration):
    """What a contract says under `principle`."""

    name: str
    """The principle's name."""


@dataclass(frozen=True)
class State:
    """What release n leaves for release n + 1."""

    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Tables by name."""

    @classmethod
    def empty(cls) -> State:
        """The state before the first release."""
        return cls()


@dataclass(frozen=True)
class Candidate:
    """A release that is computed and not yet published."""

    published: Mapping[str, pl.DataFrame]
    """The published tables by name."""
    linkage: pl.DataFrame
    """Private: `pseudonym`, `group_id`."""
    state: State
    """Private: what the next release is to remember."""
    figures: Mapping[str, int]
    """Counts worth plotting over releases."""
    buckets: pl.DataFrame | None = None
    """None: there are no buckets."""


@dataclass(frozen=True)
class Check:
    """A promise that is counted after every release and judged by a suite of expectations."""

    name: str
    """Of the evidence, of its suite, and of the check in the UI."""
    promises: str
    """What is promised, in one sentence."""


@dataclass(frozen=True)
class Memory:
    """The private asset that depends on itself at the release before."""

    name: str
    """Its name."""
    description: str
    """What is in it, in one sentence."""


@dataclass(frozen=True)
class Principle:
    """All that the data product knows of a principle."""

    parameters: type[Parameters]
    """What a contract says under `principle`."""
    version: str
    """Of the algorithm."""
    release: Callable
    """`release(people, contract, state, number, draw)`."""
    evidence: Callable
    """`evidence(candidate, people, before, contract)`."""
    checks: tuple[Check, ...]
    """What `evidence` is judged by."""
    suite_parameters: Callable
    """What the suites' `$PARAMETER`s stand for."""
    promise: Callable[[Any], Promise]
    """What an adversary may be left with."""
    format: Callable
    """How releases are published."""
    faults: Callable[[Any], Sequence[tuple[str, str]]] = lambda _contract: ()
    """What is wrong with a contract whose parts are each right."""
    memory: Memory | None = None
    """None where nothing is remembered."""
    plots: Callable = field(default=lambda _contract, _states: [])
    """Charts of the last releases' states."""
