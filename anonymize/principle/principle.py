"""A principle: one object of the same class for each, exported by its folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, get_args

import numpy as np
import polars as pl
from typing_extensions import TypeVar

from republish.anonymize.arrays import Ints
from republish.anonymize.contract import Contract, Parameters, PreviousRelease, Product
from republish.anonymize.contract.changes import Change
from republish.anonymize.formats import Format
from republish.anonymize.plot import Chart
from republish.anonymize.principle.candidate import Candidate
from republish.anonymize.principle.state import State
from republish.anonymize.promise import Promise

P = TypeVar("P", bound=Parameters, default=Any)
"""A principle's class of parameters."""
C = TypeVar("C", bound=Product, default=Any)
"""Its contracts: `Contract[P]`, or `ViewContract[P]`."""
Draw = Callable[[str], np.random.Generator]
"""Secret, repeatable randomness: from a purpose to a generator."""
Release = Callable[[pl.DataFrame, C, State, int, Draw], Candidate]
"""`release(people, contract, state, number, draw)`: T(n) and the state before it become a candidate.

Parameters
----------
people
    T(n): `pseudonym` (unique), `qi_0`, `qi_1`, … in their own types, and `value`; in any order.
contract
    The columns, and the principle's parameters.
state
    What the release before left; `State.empty()` for the first.
number
    n, counted from 1.
draw
    Secret randomness: a generator for each purpose.

Raises
------
NotEligible
    If the people can't be published under the contract.
SnapshotError
    If sensitive values have another type than declared or than before, are null or are not declared.
"""


def any_change_needs_consent(before: Parameters, now: Parameters) -> list[Change]:
    """Every parameter that changed, none of them known to be safe."""
    former, today = before.model_dump(mode="json"), now.model_dump(mode="json")
    return [
        Change(name, f"{former.get(name)} -> {value}", "consent", "What is promised changes.")
        for name, value in today.items()
        if former.get(name) != value
    ]


@dataclass(frozen=True)
class StateAsset:
    """The private asset with what a principle remembers of the releases before."""

    name: str
    """`buckets`, say."""
    description: str
    """What is in it, in one sentence."""
    figures: tuple[str, ...] = ()
    """Those of the candidate's figures that are shown on it."""


@dataclass(frozen=True)
class Choice:
    """The strength of a principle: what a publisher chooses before the first release."""

    parameters: tuple[str, ...]
    """Its whole numbers from 2 on that set the strength; the first one is meant where none is named."""
    others: Mapping[str, Any] = field(default_factory=dict)
    """Further parameters used when trying this principle for another contract."""


@dataclass(frozen=True)
class Principle(Generic[P, C]):
    """All that the data product knows of a principle."""

    parameters: type[P]
    """What a contract says under `principle`; its field `name` is the principle's name."""
    version: str
    """Of the algorithm: raised whenever the same inputs would give other published bytes."""
    release: Release[C]
    promise: Callable[[P], Promise]
    """What an adversary may be left with, from the principle's parameters. Its parts bring their attacks, and
    the checks by which candidates are judged."""
    format: Callable[[C], Format]
    """How releases are published."""
    faults: Callable[[C], Sequence[tuple[str, str]]] = lambda _contract: ()
    """What is wrong with a contract whose parts are each right: `(key, what is wrong and the way out)`."""
    advice: Callable[[C], Sequence[str]] = lambda _contract: ()
    """What a contract may say and had better not: a sentence each, for the publisher."""
    stated: tuple[str, ...] = ()
    """Names of the candidate's figures that a manifest states, too, where a release has them."""
    stated_before: tuple[str, ...] = ()
    """Parameters and figures that it has no more, which manifests of earlier versions state."""
    semantics: tuple[str, ...] = ("persistent",)
    """The kinds of sensitive values that it protects: `persistent`, `transient`."""
    parameter_changes: Callable[[P, P], list[Change]] = any_change_needs_consent
    """What changed between the parameters of the release before and today's, and whether that is safe."""
    contract: type[Product] = Contract
    """The shape of its contracts: of a table with a sensitive column, or of a view (`ViewContract`)."""
    previous: Callable[[C], tuple[PreviousRelease, ...]] = lambda _contract: ()
    """The releases of others that a contract names. `release` finds them in the state as `previous_0`, …,
    with the columns `column_0`, … of each; the attack is given them too."""
    previous_faults: Callable[
        [C, Mapping[str, pl.DataFrame], Sequence[Mapping[str, Any]]], Sequence[tuple[str, str]]
    ] = lambda _contract, _previous, _principles: ()
    """Checks a contract against these tables, and against the principle that the manifest of each states (an
    empty mapping for a file of any tool): `(key, what is wrong and the way out)`."""
    regions: Callable[[pl.DataFrame, Ints, C], Ints] | None = None
    """The regions by which a first release groups people, int64[N], from what its readers know, too:
    quasi-identifiers as codes, how many people have each value (int64[V]), and the contract. None where it
    groups by none."""
    one_column: str = "its proof is about one sensitive value of each person"
    """Why a table of its contracts has one sensitive column, in words; empty where it may have several."""
    one_row: str = "its proof is about people with one row each"
    """Why people have one row each in its snapshots, in words; empty where they may have several."""
    undivided: str = ""
    """Why its people can't be divided into shards, in a sentence; empty where they can."""
    memory: StateAsset | None = None
    """None where nothing is remembered from release to release."""
    choice: Choice | None = None
    """What is compared before the first release; None where nothing can be."""
    corrected: str = ""
    """What an adversary sees of a sensitive value that was wrong so far and is right from a release on."""
    plots: Callable[[C, Mapping[str, State]], list[Chart]] | None = None
    """Charts of the states that the last releases left, by release, oldest first; None if there are none."""

    @property
    def name(self) -> str:
        """The name of the principle in contracts and manifests."""
        return str(get_args(self.parameters.model_fields["name"].annotation)[0])
