"""The principles there are. A new one is a folder of its own, its suites, and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from anonymize.contract import Contract
from anonymize.contract.faults import describe_faults
from anonymize.e_equivalence import E_EQUIVALENCE
from anonymize.errors import ContractError
from anonymize.m_invariance import M_INVARIANCE
from anonymize.principle import Principle

PRINCIPLES: dict[str, Principle] = {
    "m_invariance": M_INVARIANCE,
    "e_equivalence": E_EQUIVALENCE,
}
"""Every principle by the name that contracts give it."""


def principle_of(contract: Contract) -> Principle:
    """The principle that a contract names."""
    return PRINCIPLES[contract.principle.name]


def parse_contract(
    declared: Any, *, where: str = "contract", context: Mapping[str, Any] | None = None
) -> Contract:
    """The contract a mapping declares (as read from YAML), or all of its faults at once.

    Parameters
    ----------
    declared
        What the YAML file holds.
    where
        The file's name, for the error.
    context
        `read_hierarchy`: a function from a file's name to paths `(leaf, parent, …, root)`.

    Raises
    ------
    ContractError
        Naming every fault with its key and what is accepted.
    """
    if not isinstance(declared, Mapping):
        raise ContractError(where, [("", "must be a mapping of keys (product, series, source, …)")])
    principles = {name: principle.parameters for name, principle in PRINCIPLES.items()}
    try:
        contract = Contract.model_validate(declared, context={**(context or {}), "principles": principles})
    except ValidationError as error:
        raise ContractError(where, describe_faults(declared, error, principles)) from None
    principle = principle_of(contract)
    release_format = principle.format(contract)
    if faults := [*release_format.faults(contract), *principle.faults(contract)]:
        raise ContractError(where, faults)
    return contract
