"""The global guarantee as the data product knows it."""

from __future__ import annotations

from anonymize.contract import Contract
from anonymize.formats import GENERALIZATION
from anonymize.global_guarantee.parameters import GlobalGuarantee, faults
from anonymize.principle.checks import COUNTERFEITS, COVERAGE, MINIMUM_WIDTHS, Check
from anonymize.principle.principle import Memory, Principle, on_first_call
from anonymize.promise.promise import Promise

GLOBAL_GUARANTEE: Principle[GlobalGuarantee, Contract[GlobalGuarantee]] = Principle(
    parameters=GlobalGuarantee,
    version="1",
    release=on_first_call("anonymize.global_guarantee.release", "release"),
    evidence=on_first_call("anonymize.global_guarantee.evidence", "evidence"),
    checks=(
        Check(
            "breach_probability",
            "No person was linked to any value, in any release so far, with a probability above 1/l.",
            "{links_sum:,} links of people with values: the largest probability found is {largest_max:.4g};"
            " {above_sum:,} links are above what was promised.",
        ),
        Check(
            "ledger",
            "The ledger has all that this release and every earlier one spent, for each person.",
            "{people_sum:,} people with {links_sum:,} links: {wrong_sum:,} sums are wrong, and"
            " {weakened_sum:,} promises are weakened.",
        ),
        COVERAGE,
        MINIMUM_WIDTHS,
        COUNTERFEITS,
    ),
    suite_parameters=lambda _contract, figures: {"held_back": figures["held_back"]},
    promise=lambda parameters: Promise(
        breach_probability=1 / parameters.l, forgets_after=parameters.forget_after
    ),
    format=lambda _contract: GENERALIZATION,
    faults=faults,
    stated=("placed_no_more", "placed_once_more"),
    semantics=("transient", "persistent"),
    warm_up=({"l": 2, "strategy": "minimum"},),
    memory=Memory(
        "ledger",
        "What the releases so far have spent of each person's budget for each value, under pseudonyms.",
        ("remembered", "links", "placed_no_more", "placed_once_more"),
    ),
    plots=on_first_call("anonymize.global_guarantee.plots", "plots"),
)
"""Everything that the data product needs to make, judge and show releases under the global guarantee."""
