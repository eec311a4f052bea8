"""What the releases after the first are made by: m-invariance with m = l."""

from __future__ import annotations

from anonymize.contract import Contract
from anonymize.m_invariance.parameters import MInvariance


def later_contract(contract: Contract) -> Contract:
    """The contract of the releases after the first: the same product under m-invariance, m = l.

    Parameters
    ----------
    contract
        Of a streamliner with `then: m_invariance`.
    """
    first = contract.principle
    later = MInvariance(
        name=first.then, m=first.l, on_ineligible=first.on_ineligible, on_value_change=first.on_value_change
    )
    return contract.model_copy(update={"principle": later})
