"""What every principle returns: a release that is computed and not yet published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from anonymize.principle.state import State


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
    figures: Mapping[str, int]
    """Counts worth plotting over releases. `people`, `tuples`, `groups`, `counterfeits` and `held_back` are
    among them."""
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What is published beside the tables as JSON, by name."""
    buckets: pl.DataFrame | None = None
    """Private: `bucket_id`, `signature`, `people`, `counterfeits`, `groups` of the buckets in use; None where
    the principle has no buckets."""
