"""The expectations of a publisher for snapshots and releases: an odd one is refused and not published."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictInt, field_validator

from republish.anonymize.contract.scalars import Declaration, Label, shown


def _share(declared: Any) -> Any:
    if type(declared) not in (int, float) or not 0 <= declared <= 1:
        raise ValueError(f"must be a share between 0 and 1, not {shown(declared)}")
    return float(declared)


Share = Annotated[float, BeforeValidator(_share)]

OWN_VALUES, FREE_TEXT = "own_values", "free_text"
"""The measures of what a sensitive column has: once accepted by these names, accepted for later releases."""
CHANGED = 0.1
"""The largest share of people whose value may change between two snapshots, where values are persistent."""


class Expect(Declaration):
    """The ordinary. A snapshot or release outside of it is refused, unless it is accepted by name."""

    people: tuple[StrictInt, StrictInt] | None = None
    """The fewest and the most people of a snapshot; without it, any number from 1 on."""
    carried: Share = 0.5
    """At least this share of the people of the snapshot before are in the next one."""
    new: Share = 1.0
    """At most this share of a snapshot's people were not in the snapshot before."""
    changed: Share | None = None
    """At most this share of the people in both snapshots has another sensitive value; 0.1 if values are
    persistent, any share if they are transient."""
    moved: dict[Label, Share] = Field(default_factory=dict, exclude_if=lambda shares: not shares)
    """By column, at most this share of the people in both snapshots has another value of it; 0.1 of what
    lasts (birth, sex, an age but for its growth), and 0.5, or less after quiet releases, of all else."""
    counterfeits: Share = 0.5
    """At most this share of a release's tuples are counterfeits."""
    guessed: Share | None = Field(default=None, exclude_if=lambda share: share is None)
    """At most this share of the people's values is guessed right by who learns from the groups of all
    releases: one attack, and no proof. `compare` shows what it is."""

    @field_validator("people")
    @classmethod
    def _check_people(cls, people: tuple[int, int] | None) -> tuple[int, int] | None:
        if people is not None and not 1 <= people[0] <= people[1]:
            raise ValueError(f"must be [fewest, most], from 1 on, not [{people[0]}, {people[1]}]")
        return people
