"""m-invariance as the data product knows it."""

from __future__ import annotations

from anonymize.buckets.parameters import (
    BUCKETS_ASSET,
    bucket_changes,
    bucket_faults,
    bucket_promise,
)
from anonymize.contract import Contract
from anonymize.contract.changes import Change
from anonymize.formats import FORMATS
from anonymize.late import on_first_call
from anonymize.m_invariance.parameters import MInvariance
from anonymize.principle.principle import Principle


def _changes(before: MInvariance, now: MInvariance) -> list[Change]:
    """The effort changes intervals, and nothing that is promised; the format changes what is published."""
    changes = bucket_changes(before, now)
    if now.effort != before.effort:
        why = "Groups are made in another way; what is promised stays as it is."
        changes.append(Change("effort", f"{before.effort} -> {now.effort}", "safe", why))
    if now.format != before.format:
        why = "All releases of a series have the same tables, so that they read as one dated table."
        changes.append(Change("format", f"{before.format} -> {now.format}", "new series", why))
    return changes


M_INVARIANCE: Principle[MInvariance, Contract[MInvariance]] = Principle(
    parameters=MInvariance,
    version="6",
    release=on_first_call("anonymize.m_invariance.release", "release"),
    promise=bucket_promise,
    format=lambda contract: FORMATS[contract.principle.format],
    faults=bucket_faults,
    parameter_changes=_changes,
    memory=BUCKETS_ASSET,
    warm_up=({"m": 3, "on_ineligible": "counterfeit"},),
)
"""Everything that the data product needs to make, judge and show m-invariant releases."""
