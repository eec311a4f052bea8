"""A candidate: every principle returns a release that is computed and not yet published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from republish.anonymize.figures import Figures, Total
from republish.anonymize.principle.state import State


@dataclass(frozen=True, kw_only=True)
class ReleaseFigures(Figures):
    """Counts of every release. A principle that counts more has a subclass."""

    people: Total
    """People in the release."""
    tuples: Total
    """Published tuples: one for each person, and the counterfeits."""
    groups: Total
    """QI groups."""
    counterfeits: Total
    """Published tuples that stand for nobody."""
    held_back: Total
    """People of the snapshot who wait for a later release."""
    batch_counterfeits: Total = 0
    """Counterfeits that make the inserted people eligible; an adversary who knows the algorithm learns from
    them."""


@dataclass(frozen=True)
class Candidate:
    """A candidate release. It becomes a fact by publication, or never."""

    published: Mapping[str, pl.DataFrame]
    """The published tables by name, in the publisher's own column names; each sorted by all its columns."""
    linkage: pl.DataFrame
    """Private: `pseudonym`, `group_id` of the people it hosts, no counterfeits; `bucket_id` where there are
    buckets."""
    state: State
    """Private: what the next release is to remember."""
    figures: ReleaseFigures
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What is published beside the tables as JSON, by name."""
    buckets: pl.DataFrame | None = None
    """Private: `bucket_id`, `signature`, `people`, `counterfeits`, `groups` of the buckets in use; None where
    the principle has no buckets."""
