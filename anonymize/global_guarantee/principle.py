"""The global guarantee as the data product knows it."""

from __future__ import annotations

from republish.anonymize.buckets.lots import split_by_lot
from republish.anonymize.contract import Contract
from republish.anonymize.formats import GENERALIZATION
from republish.anonymize.global_guarantee.parameters import GlobalGuarantee, faults
from republish.anonymize.late import on_first_call
from republish.anonymize.principle.principle import Choice, Principle, StateAsset
from republish.anonymize.promise import BreachProbability, Promise

GLOBAL_GUARANTEE: Principle[GlobalGuarantee, Contract[GlobalGuarantee]] = Principle(
    parameters=GlobalGuarantee,
    version="1",
    release=split_by_lot(
        on_first_call("republish.anonymize.global_guarantee.release", "release"),
        on_first_call("republish.anonymize.global_guarantee.strategy", "largest_share"),
        kept=False,
    ),
    promise=lambda parameters: Promise(BreachProbability(1 / parameters.l, parameters.forget_after)),
    format=lambda _contract: GENERALIZATION,
    faults=faults,
    stated=("placed_no_more", "placed_once_more"),
    semantics=("transient", "persistent"),
    one_row="",
    choice=Choice(("l",), {"strategy": "geometric"}),
    memory=StateAsset(
        "ledger",
        "What the releases so far have spent of each person's budget for each value, under pseudonyms.",
        ("remembered", "links", "placed_no_more", "placed_once_more"),
    ),
    corrected="What groups have spent of a person's budget counts for every value that they held, whether it"
    " was the person's or not. So the promise covers the right value and the wrong one alike",
    plots=on_first_call("republish.anonymize.global_guarantee.plots", "plots"),
)
"""Everything that the data product needs to make, judge and show releases under the global guarantee."""
