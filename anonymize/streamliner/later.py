"""The releases after the first: the principle that `then` names makes, promises and judges them, m = l."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from anonymize.contract import Contract
from anonymize.contract.changes import Change
from anonymize.principle.principle import Principle, any_change_needs_consent
from anonymize.promise import Promise
from anonymize.streamliner.parameters import StreamlinerParameters, contract_faults

LATER = ("on_ineligible", "on_value_change")
"""The streamliner's parameters that are the later principle's under the same name."""


def later_parameters(parameters: StreamlinerParameters, later: Principle) -> dict[str, object]:
    """What a contract of the later principle would say under `principle`.

    Parameters
    ----------
    parameters
        The streamliner's, with `then`.
    later
        The principle that `then` names.
    """
    return {"name": later.name, "m": parameters.l, **{name: getattr(parameters, name) for name in LATER}}


def later_contract(contract: Contract[StreamlinerParameters], later: Principle) -> Contract:
    """The contract of the releases after the first: the same product under another principle, m = l.

    Parameters
    ----------
    contract
        Of a streamliner with `then`.
    later
        The principle that `then` names.
    """
    parameters = later.parameters.model_validate(later_parameters(contract.principle, later))
    return contract.model_copy(update={"principle": parameters})


def series_promise(
    parameters: StreamlinerParameters, *, alone: Callable[[StreamlinerParameters], Promise], later: Principle
) -> Promise:
    """What is promised of each release: of a series, what the later principle promises, from the first on.

    Parameters
    ----------
    parameters
        The streamliner's.
    alone
        What is promised of a single release.
    later
        The principle that `then` names.
    """
    if parameters.then is None:
        return alone(parameters)
    return later.promise(later.parameters.model_validate(later_parameters(parameters, later)))


def series_faults(
    contract: Contract[StreamlinerParameters], *, later: Principle
) -> Sequence[tuple[str, str]]:
    """Faults of a contract: the streamliner's own, then those of the later releases' principle.

    Parameters
    ----------
    contract
        Of a streamliner.
    later
        The principle that `then` names.
    """
    own = contract_faults(contract)
    return own if own or contract.principle.then is None else later.faults(later_contract(contract, later))


def series_changes(
    before: StreamlinerParameters, now: StreamlinerParameters, *, later: Principle
) -> list[Change]:
    """What changed in the parameters since a release.

    Parameters
    ----------
    before, now
        The streamliner's parameters then and today.
    later
        The principle that `then` names: it judges the parameters of later releases.
    """
    if before.then is None and now.then is not None:
        why = "Nothing was remembered of the people in the release that is published."
        return [Change("then", f"None -> {now.then}", "new series", why)]
    if now.then is None:
        return any_change_needs_consent(before, now)
    former = later.parameters.model_validate(later_parameters(before, later))
    today = later.parameters.model_validate(later_parameters(now, later))
    judged = [
        replace(change, name="l") if change.name == "m" else change
        for change in later.parameter_changes(former, today)
    ]
    as_then = now.model_copy(update={"l": before.l, **{name: getattr(before, name) for name in LATER}})
    return judged + [
        replace(change, verdict="safe", why="It decides the first release only.")
        for change in any_change_needs_consent(before, as_then)
    ]
