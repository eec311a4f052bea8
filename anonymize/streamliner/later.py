"""What the releases after the first are made by: the principle that `then` names, with m = l."""

from __future__ import annotations

from anonymize.contract import Contract
from anonymize.principle import Principle


def later_contract(contract: Contract, later: Principle) -> Contract:
    """The contract of the releases after the first: the same product under another principle, m = l.

    Parameters
    ----------
    contract
        Of a streamliner with `then`.
    later
        The principle that `then` names.
    """
    first = contract.principle
    parameters = later.parameters.model_validate(
        {
            "name": first.then,
            "m": first.l,
            "on_ineligible": first.on_ineligible,
            "on_value_change": first.on_value_change,
        }
    )
    return contract.model_copy(update={"principle": parameters})
