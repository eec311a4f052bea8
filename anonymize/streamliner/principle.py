"""The streamliner as the data product knows it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from anonymize.contract import Contract
from anonymize.formats import GENERALIZATION
from anonymize.late import on_first_call
from anonymize.principle.principle import Memory, Principle
from anonymize.promise import Candidates, LargestShare, Promise
from anonymize.streamliner.later import series_changes, series_faults, series_promise
from anonymize.streamliner.parameters import StreamlinerParameters, contract_faults


def promise(parameters: StreamlinerParameters) -> Promise:
    """At least l candidate values per person, and no value with more than 1/l of a group's tuples."""
    return Promise(Candidates(parameters.l), LargestShare(1 / parameters.l))


STREAMLINER: Principle[StreamlinerParameters, Contract[StreamlinerParameters]] = Principle(
    parameters=StreamlinerParameters,
    version="1",
    release=on_first_call("anonymize.streamliner.release", "release"),
    promise=promise,
    format=lambda _contract: GENERALIZATION,
    faults=contract_faults,
    warm_up=tuple({"l": 2, "method": method} for method in ("gda", "rda", "ria")),
    memory=Memory(
        name="buckets",
        description="Each person's signature, if later releases follow another principle. Private.",
        figures=("groups",),
    ),
)
"""Everything that the data product needs to make, judge and show releases of the streamliner."""


def streamliner(later: Principle) -> Principle:
    """The streamliner, with the principle that later releases of a series follow where a contract says so.

    Parameters
    ----------
    later
        Its groups hold each value once, as the streamliner's do: m-invariance.
    """
    return replace(
        STREAMLINER,
        release=partial(on_first_call("anonymize.streamliner.release", "release"), later=later),
        promise=partial(series_promise, alone=promise, later=later),
        faults=partial(series_faults, later=later),
        parameter_changes=partial(series_changes, later=later),
    )
