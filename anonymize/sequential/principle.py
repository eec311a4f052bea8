"""Sequential releases as the data product knows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymize.contract import ViewContract
from anonymize.formats import TAXONOMY_CUTS
from anonymize.principle.checks import Check
from anonymize.principle.principle import Memory, Principle, on_first_call
from anonymize.promise.promise import Join, Promise
from anonymize.sequential.parameters import Sequential, faults, split_pair


def promise(parameters: Sequential) -> Promise:
    """What an adversary who joins a release with all earlier ones may be left with."""
    limits = parameters.limits
    return Promise(
        linked_values=parameters.k if limits is None else None,
        linkability=None if limits is None else _largest(limits),
        join=Join(
            x=parameters.x,
            y=parameters.y,
            limits=limits,
            previous=tuple(previous.columns for previous in parameters.previous),
            records=tuple(previous.record for previous in parameters.previous),
            inconsistent=tuple(
                (*split_pair(key), *pair) for key, pairs in parameters.inconsistent.items() for pair in pairs
            ),
        ),
    )


def _largest(k: Any) -> float:
    return max(map(_largest, k.values()), default=1.0) if isinstance(k, Mapping) else k


SEQUENTIAL: Principle[Sequential, ViewContract[Sequential]] = Principle(
    parameters=Sequential,
    version="1",
    release=on_first_call("anonymize.sequential.release", "release"),
    evidence=on_first_call("anonymize.sequential.evidence", "evidence"),
    checks=(
        Check(
            "join_privacy",
            "Joined with every earlier release, no value on X is linked to Y more closely than was required.",
            "Joined with {earlier_releases_sum} earlier releases: at least {promised_max:.4g} was promised,"
            " and {found_min:.4g} found; {broken_sum:,} values on X break it.",
        ),
        Check(
            "population",
            "Every record of the view and of every earlier release matches one of the other.",
            "{rows} earlier releases: {view_unmatched_sum:,} records of the view and"
            " {earlier_unmatched_sum:,} earlier ones match none.",
        ),
        Check(
            "taxonomy_cuts",
            "Each cut has exactly one node above every value.",
            "{rows} cuts: {uncovered_sum:,} values are below none of a cut's nodes, {covered_twice_sum:,}"
            " below two.",
        ),
        Check(
            "view_records",
            "The view has the people's records under its cuts, no more and no fewer.",
            "{records_sum:,} records, {published_sum:,} published rows, {differing_sum:,} of them differ.",
        ),
    ),
    suite_parameters=lambda _contract, figures: {"records": figures["tuples"]},
    promise=promise,
    format=lambda _contract: TAXONOMY_CUTS,
    faults=faults,
    contract=ViewContract,
    previous=lambda contract: contract.principle.previous,
    warm_up=(
        {"x": ["age", "sex"], "y": ["patient_id"], "requirement": "anonymity", "k": 2},
        {"x": ["age", "sex"], "y": ["disease"], "requirement": "linkability", "k": 0.9},
    ),
    memory=Memory(
        "views",
        "The views published so far, the previous releases they were joined with, and the last cuts.",
        ("earlier_releases", "nodes"),
    ),
    plots=on_first_call("anonymize.sequential.plots", "plots"),
)
"""Everything that the data product needs to make, judge and show releases of views."""
