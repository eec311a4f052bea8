"""Sequential releases as the data product knows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from republish.anonymize.contract import ViewContract
from republish.anonymize.formats import TAXONOMY_CUTS
from republish.anonymize.late import on_first_call
from republish.anonymize.principle.principle import Principle, StateAsset
from republish.anonymize.promise import Linkability, LinkedValues, Promise
from republish.anonymize.sequential.parameters import Sequential, advice, faults, join_of


def promise(parameters: Sequential) -> Promise:
    """Promise the most that an adversary who joins a release with all earlier ones may be left with."""
    join = join_of(parameters)
    if join.limits is None:
        return Promise(LinkedValues(parameters.k, join))
    return Promise(Linkability(_largest(join.limits), join))


def _largest(k: Any) -> float:
    return max(map(_largest, k.values()), default=1.0) if isinstance(k, Mapping) else k


SEQUENTIAL: Principle[Sequential, ViewContract[Sequential]] = Principle(
    parameters=Sequential,
    version="1",
    release=on_first_call("republish.anonymize.sequential.release", "release"),
    promise=promise,
    format=lambda _contract: TAXONOMY_CUTS,
    faults=faults,
    advice=advice,
    contract=ViewContract,
    previous=lambda contract: contract.principle.previous,
    previous_faults=on_first_call("republish.anonymize.sequential.values", "faults_of_previous"),
    undivided="a view is judged by its join with whole releases before it, and groups of its records are the"
    " values that people share, wherever they are",
    memory=StateAsset(
        "views",
        "The views published so far, the previous releases they were joined with, and the last cuts.",
        ("earlier_releases", "nodes"),
    ),
    plots=on_first_call("republish.anonymize.sequential.plots", "plots"),
)
"""Everything that the data product needs to make, judge and show releases of views."""
