"""e-equivalence as the data product knows it."""

from __future__ import annotations

from republish.anonymize.buckets.lots import split_by_lot
from republish.anonymize.buckets.parameters import (
    BUCKETS_ASSET,
    CORRECTED,
    bucket_advice,
    bucket_changes,
    bucket_faults,
    bucket_promise,
)
from republish.anonymize.contract import Contract
from republish.anonymize.contract.changes import Change
from republish.anonymize.e_equivalence.parameters import EEquivalence
from republish.anonymize.formats import ANATOMY
from republish.anonymize.late import on_first_call
from republish.anonymize.principle.principle import Choice, Principle
from republish.anonymize.promise import Equivalence, Promise


def _changes(before: EEquivalence, now: EEquivalence) -> list[Change]:
    """A smaller e would break promises made: a later cut may expose people who were published before."""
    changes = bucket_changes(before, now)
    if now.e == before.e:
        return changes
    if now.e > before.e:
        change = Change("e", f"{before.e} -> {now.e}", "safe", "Larger cuts cost counterfeits.")
    else:
        why = "People published before could then be in attacks that are smaller than they were promised."
        change = Change("e", f"{before.e} -> {now.e}", "new series", why)
    return [*changes, change]


def _promise(parameters: EEquivalence) -> Promise:
    return Promise(*bucket_promise(parameters, signatures="even"), Equivalence(parameters.e))


E_EQUIVALENCE: Principle[EEquivalence, Contract[EEquivalence]] = Principle(
    parameters=EEquivalence,
    version="3",
    release=split_by_lot(
        on_first_call("republish.anonymize.e_equivalence.release", "release"),
        lambda principle: 1 / principle.m,
    ),
    promise=_promise,
    format=lambda _contract: ANATOMY,
    faults=bucket_faults,
    advice=bucket_advice,
    parameter_changes=_changes,
    memory=BUCKETS_ASSET,
    corrected=CORRECTED,
    one_row="whoever knows that two rows are one person's may know that they have the same value, and the"
    " graphs of its proof have no such edge",
    choice=Choice(("m", "e"), {"m": 2, "e": 2}),
    plots=on_first_call("republish.anonymize.e_equivalence.plots", "plots"),
)
"""Everything that the data product needs to make, judge and show e-equivalent releases."""
