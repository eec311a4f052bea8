"""What is promised of a release beside its principle's own promise, check by check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """A promise that is counted after every release and judged by a suite of expectations."""

    name: str
    """Of the evidence, of its suite `data_contracts/expectations/<name>.json`, and of the check in the UI."""
    promises: str
    """What is promised, in one sentence."""


SIGNATURE_INVARIANCE = Check(
    "signature_invariance", "Each person's signature equals each earlier one or shares no value with it."
)
"""Of every principle that remembers signatures."""
COVERAGE = Check("coverage", "Every person's group covers their quasi-identifiers and has their value.")
"""Of releases in the generalization format, as the next two."""
MINIMUM_WIDTHS = Check("minimum_widths", "No interval is narrower than the contract allows.")
COUNTERFEITS = Check(
    "counterfeits", "R(n) is exact: a group's tuples are its people and its stated counterfeits."
)
"""Of every principle with groups."""
