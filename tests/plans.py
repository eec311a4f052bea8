"""Counts and plans as tables of buckets times values, as the papers print them."""

from dataclasses import fields
from types import SimpleNamespace

import numpy as np

from republish.anonymize.buckets.counts import Counts
from republish.anonymize.buckets.signatures import Signatures

BY_PLACE = {"bound", "moved", "counterfeits"}


def counted(signatures, bound, free, **separated):
    """`Counts` from tables: bool[B, V] and int[B, V]."""
    places = Signatures.of(np.asarray(signatures))
    bound = np.asarray(bound, np.int64)
    assert not bound[~np.asarray(signatures)].any()
    return Counts(places, bound[places.bucket, places.value], np.asarray(free), **separated)


def as_tables(found):
    """A plan, or counts, with tables in place of what is counted by place."""
    table = {field.name: getattr(found, field.name) for field in fields(found)}
    for name in BY_PLACE & table.keys():
        table[name] = found.signatures.table(table[name])
    return SimpleNamespace(**table | {"signatures": found.signatures.table()})
