"""What Dagster loads: the product of every contract that the home knows."""

from __future__ import annotations

import logging

import dagster as dg

from orchestration.contracts.contract_file import ContractFile
from orchestration.contracts.registry import known_contracts
from orchestration.product.factory import product_definitions
from orchestration.product.resources import resources
from orchestration.series.series import Series
from orchestration.storage.home import Home


@dg.definitions
def defs() -> dg.Definitions:
    """The definitions of all products; a contract with faults is left out, with a warning that names them."""
    home = Home.at()
    products = []
    for path, contract in known_contracts(home).items():
        if isinstance(contract, ContractFile):
            products.append(product_definitions(Series(contract, home)))
        else:
            logging.getLogger(__name__).warning("left out: %s", contract or path)
    return dg.Definitions.merge(dg.Definitions(resources=resources(home)), *products)
