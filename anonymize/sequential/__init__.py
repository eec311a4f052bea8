"""Sequential releases: views with different columns of the same people, which can't be joined back.

`parameters` says what is required, `taxonomy` what generalizes, `matching` which records may be one person's,
`index` and `specialize` how the view is found, `privacy` what a view links, `release` and `evidence` what is
published and how that is checked.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymize.formats.taxonomy_cuts import NAME
from anonymize.promise import Promise
from anonymize.sequential._target import Check, Memory, Principle
from anonymize.sequential.evidence import evidence
from anonymize.sequential.parameters import Sequential, faults
from anonymize.sequential.plots import plots
from anonymize.sequential.release import release


def promise(contract: Any) -> Promise:
    """What an adversary who joins a release with all earlier ones may be left with."""
    wanted: Sequential = contract.principle
    if wanted.requirement == "anonymity":
        return Promise(linked_values=wanted.k)
    return Promise(linkability=_largest(wanted.k))


def _largest(k: Any) -> float:
    return max(map(_largest, k.values())) if isinstance(k, Mapping) else k


def suite_parameters(_contract: Any, figures: Mapping[str, int]) -> dict[str, Any]:
    """What the suites' `$PARAMETER`s stand for."""
    return {"records": figures["tuples"]}


SEQUENTIAL = Principle(
    parameters=Sequential,
    version="1",
    release=release,
    evidence=evidence,
    checks=(
        Check(
            "join_privacy",
            "Joined with every earlier release, no value on X is linked to Y more closely than was required.",
        ),
        Check(
            "population", "Every record of the view and of every earlier release matches one of the other."
        ),
        Check("taxonomy_cuts", "Each cut has exactly one node above every value."),
        Check("view_records", "The view has the people's records under its cuts, no more and no fewer."),
    ),
    suite_parameters=suite_parameters,
    promise=promise,
    format=lambda _contract: NAME,
    faults=faults,
    memory=Memory(
        "views", "The views published so far, the previous releases they were joined with, and the last cuts."
    ),
    plots=plots,
)
