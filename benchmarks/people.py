"""Snapshots as a principle takes them: under our own column names, with pseudonyms."""

from __future__ import annotations

import polars as pl

from anonymize.columns import IDENTIFIER, PSEUDONYM
from anonymize.contract import Schema
from anonymize.people.pseudonyms import pseudonyms
from orchestration.snapshots.sources import enter

KEY = b"a key for benchmarks"


def pseudonymous(snapshot: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """`identifier`, `qi_0`, …, `value`, `pseudonym` of a snapshot under the publisher's column names."""
    people = enter(snapshot, schema)
    return people.with_columns(pseudonyms(people[IDENTIFIER], KEY).alias(PSEUDONYM))
