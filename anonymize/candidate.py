"""What every principle returns: a release that is computed and not yet published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from anonymize.state import State


@dataclass(frozen=True)
class Candidate:
    """A candidate release. It becomes a fact by publication, or never."""

    published: Mapping[str, pl.DataFrame]
    """The published tables by name, each sorted by all its columns."""
    linkage: pl.DataFrame
    """Private: identifier, `bucket_id`, `group_id`; the people it hosts, no counterfeits."""
    buckets: pl.DataFrame
    """Private: `bucket_id`, `signature`, `people`, `counterfeits`, `groups`; the buckets in use."""
    state: State
    """Private: what the next release is to remember."""
    figures: Mapping[str, int]
    """Counts worth plotting over releases."""
