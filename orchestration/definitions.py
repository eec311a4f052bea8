"""The definitions that Dagster loads: the product of every contract that the home knows."""

from __future__ import annotations

import dagster as dg

from republish.orchestration.contracts.registry import loaded_contracts
from republish.orchestration.dagster.component import ReleaseProduct
from republish.orchestration.storage.home import Home


@dg.definitions
def defs() -> dg.Definitions:
    """The definitions of all products; a contract with faults is left out, with a warning that names them."""
    home = Home.at()
    files = loaded_contracts(home)
    products = [
        ReleaseProduct(contract=file.path.name, home=str(home.path)).definitions(file.path.parent, files)
        for file in files
    ]
    return dg.Definitions.merge(dg.Definitions(executor=dg.in_process_executor), *products)
