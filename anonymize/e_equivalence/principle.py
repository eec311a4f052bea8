"""e-equivalence as the data product knows it."""

from __future__ import annotations

from dataclasses import replace

from anonymize.buckets.parameters import (
    BUCKETS_ASSET,
    bucket_changes,
    bucket_faults,
    bucket_promise,
)
from anonymize.contract import Contract
from anonymize.contract.changes import Change
from anonymize.e_equivalence.parameters import EEquivalence, smallest_safe_cut
from anonymize.formats import ANATOMY
from anonymize.principle.checks import COUNTERFEITS, COVERAGE_FOUND, SIGNATURE_INVARIANCE, Check
from anonymize.principle.principle import Principle, on_first_call
from anonymize.promise.promise import Promise


def _changes(before: EEquivalence, now: EEquivalence) -> list[Change]:
    """A smaller e would break promises made: a later cut may expose people who were published before."""
    changes = bucket_changes(before, now)
    if now.e == before.e:
        return changes
    if now.e > before.e:
        change = Change("e", f"{before.e} -> {now.e}", "safe", "Every cut from now on is larger.")
    else:
        why = "People published before could then be in attacks that are smaller than they were promised."
        change = Change("e", f"{before.e} -> {now.e}", "new series", why)
    return [*changes, change]


def _promise(parameters: EEquivalence) -> Promise:
    return replace(bucket_promise(parameters), signatures="even", equivalence=parameters.e)


E_EQUIVALENCE: Principle[EEquivalence, Contract[EEquivalence]] = Principle(
    parameters=EEquivalence,
    version="2",
    release=on_first_call("anonymize.e_equivalence.release", "release"),
    evidence=on_first_call("anonymize.e_equivalence.evidence", "evidence"),
    checks=(
        Check(
            "balance",
            "Every group holds each of its values equally often, and at least m where anybody's signature is"
            " new.",
            "At least {m} values in each group with anybody new: fewest found {values_new}. {rows:,} groups,"
            " {newcomers_sum:,} people with a new signature.",
        ),
        SIGNATURE_INVARIANCE,
        Check(
            "coverage",
            "Every person's group has their quasi-identifiers and their value.",
            COVERAGE_FOUND,
        ),
        COUNTERFEITS,
        Check(
            "cuts",
            "Every cut that the release adds to a bucket's graph weighs more than 2(e - 1).",
            "At least {smallest_safe_cut} each: smallest found {min_cut_min}. {rows:,} cuts.",
        ),
    ),
    suite_parameters=lambda contract, figures: {
        "m": contract.principle.m,
        "smallest_safe_cut": smallest_safe_cut(contract.principle.e),
        "held_back": figures["held_back"],
    },
    promise=_promise,
    format=lambda _contract: ANATOMY,
    faults=bucket_faults,
    parameter_changes=_changes,
    memory=BUCKETS_ASSET,
    warm_up=({"m": 3, "e": 2, "on_ineligible": "counterfeit"},),
    plots=on_first_call("anonymize.e_equivalence.plots", "plots"),
)
"""Everything that the data product needs to make, judge and show e-equivalent releases."""
