"""The releases after the first: the principle that `then` names makes, promises and judges them, m = l."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from republish.anonymize.buckets.lots import split_by_lot
from republish.anonymize.contract import Contract, Parameters
from republish.anonymize.contract.changes import Change
from republish.anonymize.late import on_first_call
from republish.anonymize.principle.candidate import Candidate
from republish.anonymize.principle.principle import Principle, Release, any_change_needs_consent
from republish.anonymize.principle.state import State
from republish.anonymize.promise import Candidates, LargestShare, Posterior, Promise
from republish.anonymize.streamliner.parameters import StreamlinerParameters, contract_faults

SHARED = ("on_ineligible", "on_value_change", "people_per_group")
"""The streamliner's parameters that are the later principle's under the same name."""
_release: Release[Contract[StreamlinerParameters]] = split_by_lot(
    on_first_call("republish.anonymize.streamliner.release", "release"), lambda principle: 1 / principle.l
)


@dataclass(frozen=True)
class StreamlinedSeries:
    """A streamliner's release, and those that go on from it where the contract says `then`."""

    later: Principle[Parameters]
    """The principle that `then` names."""

    def release(
        self,
        people: pl.DataFrame,
        contract: Contract[StreamlinerParameters],
        state: State,
        number: int,
        draw: Callable[[str], np.random.Generator],
    ) -> Candidate:
        """The streamliner's release; one after the first is the later principle's."""
        if number > 1 and contract.principle.then is not None:
            return self.later.release(people, self.later_contract(contract), state, number, draw)
        return _release(people, contract, state, number, draw)

    def promise(self, parameters: StreamlinerParameters) -> Promise:
        """At least l candidate values per person, and no value with more than 1/l of a group's tuples.

        Knowing the algorithm makes no value more likely than that, either.

        Of each release of a series, from the first on, what the later principle promises.
        """
        if parameters.then is not None:
            return self.later.promise(self._parameters(parameters))
        most = 1 / parameters.l
        return Promise(Candidates(parameters.l), LargestShare(most), Posterior(most))

    def faults(self, contract: Contract[StreamlinerParameters]) -> Sequence[tuple[str, str]]:
        """Faults of a contract: the streamliner's own, then those of the later principle."""
        own = contract_faults(contract)
        if own or contract.principle.then is None:
            return own
        return self.later.faults(self.later_contract(contract))

    def parameter_changes(self, before: StreamlinerParameters, now: StreamlinerParameters) -> list[Change]:
        """Judge changes of the parameters; the later principle judges those of its releases."""
        if before.then is None and now.then is not None:
            why = "Nothing was remembered of the people in the release that is published."
            return [Change("then", f"None -> {now.then}", "new series", why)]
        if now.then is None:
            return any_change_needs_consent(before, now)
        judged = [
            replace(change, name="l") if change.name == "m" else change
            for change in self.later.parameter_changes(self._parameters(before), self._parameters(now))
        ]
        as_then = now.model_copy(update={"l": before.l, **{name: getattr(before, name) for name in SHARED}})
        return judged + [
            replace(change, verdict="safe", why="It decides the first release only.")
            for change in any_change_needs_consent(before, as_then)
        ]

    def later_contract(self, contract: Contract[StreamlinerParameters]) -> Contract:
        """The contract of the releases after the first: the same product under the later principle."""
        return contract.model_copy(update={"principle": self._parameters(contract.principle)})

    def _parameters(self, own: StreamlinerParameters) -> Parameters:
        """The parameters of the later principle that say what these do."""
        shared = {name: getattr(own, name) for name in SHARED}
        return self.later.parameters.model_validate({"name": self.later.name, "m": own.l, **shared})
