"""m-invariance as the data product knows it."""

from __future__ import annotations

from republish.anonymize.buckets.lots import split_by_lot
from republish.anonymize.buckets.parameters import BUCKETS_ASSET, CORRECTED, bucket_advice
from republish.anonymize.contract import Contract
from republish.anonymize.formats import FORMATS
from republish.anonymize.late import on_first_call
from republish.anonymize.m_invariance.parameters import MInvariance, faults, parameter_changes, promise
from republish.anonymize.principle.principle import Choice, Principle

M_INVARIANCE: Principle[MInvariance, Contract[MInvariance]] = Principle(
    parameters=MInvariance,
    version="9",
    release=split_by_lot(
        on_first_call("republish.anonymize.m_invariance.release", "release"),
        lambda principle: 1 / principle.m,
    ),
    regions=on_first_call("republish.anonymize.m_invariance.release", "regions_of"),
    promise=promise,
    format=lambda contract: FORMATS[contract.principle.format],
    faults=faults,
    advice=bucket_advice,
    stated=("apart",),
    stated_before=("spread", "deferred_now", "deferred_alike", "deferred_alike_in_a_column"),
    parameter_changes=parameter_changes,
    one_column="",
    one_row="",
    memory=BUCKETS_ASSET,
    corrected=CORRECTED,
    choice=Choice(("m",)),
)
"""Everything that the data product needs to make, judge and show m-invariant releases."""
