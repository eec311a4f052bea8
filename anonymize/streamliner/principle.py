"""The streamliner as the data product knows it."""

from __future__ import annotations

from republish.anonymize.contract import Contract
from republish.anonymize.formats import GENERALIZATION
from republish.anonymize.principle.principle import Choice, Principle, StateAsset
from republish.anonymize.streamliner.later import StreamlinedSeries
from republish.anonymize.streamliner.parameters import StreamlinerParameters


def streamliner(
    later: Principle,
) -> Principle[StreamlinerParameters, Contract[StreamlinerParameters]]:
    """Make the principle, given the one that later releases of a series follow where a contract says so.

    The later principle's groups have each value once, as the streamliner's do: m-invariance.
    """
    series = StreamlinedSeries(later)
    return Principle(
        parameters=StreamlinerParameters,
        version="4",
        release=series.release,
        promise=series.promise,
        format=lambda _contract: GENERALIZATION,
        faults=series.faults,
        advice=later.advice,
        parameter_changes=series.parameter_changes,
        choice=Choice(("l",), {"then": later.name}),
        memory=StateAsset(
            name="buckets",
            description="Each person's signature, if later releases follow another principle. Private.",
            figures=("groups",),
        ),
        corrected=later.corrected,
        one_row="nothing is proved of people who are in several of its groups",
    )
