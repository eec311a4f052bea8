"""The definitions that Dagster loads: the product of every contract that the home knows."""

from __future__ import annotations

import logging
import traceback

import dagster as dg

from republish.anonymize.errors import RepublishError
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.contracts.registry import faulty_contracts, known_contracts, loaded_contracts
from republish.orchestration.dagster.automation import note_series
from republish.orchestration.dagster.component import ReleaseProduct
from republish.orchestration.dagster.faulty import faulty_definitions
from republish.orchestration.storage.home import Home

_log = logging.getLogger(__name__)


@dg.definitions
def defs() -> dg.Definitions:
    """The definitions of all products; of a contract with a fault, its releases and the fault."""
    home = Home.at()
    known = known_contracts(home)  # each is read once, however many there are
    files = loaded_contracts(home, known)
    products = [_product(home, file, files) for file in files]
    for product, (contract, fault) in faulty_contracts(home, known).items():
        note_series(home, contract, None)
        products.append(faulty_definitions(home, product, fault))
    return dg.Definitions.merge(dg.Definitions(executor=dg.in_process_executor), *products)


def _product(home: Home, file: ContractFile, files: list[ContractFile]) -> dg.Definitions:
    """The definitions of a product; whatever is wrong with it hides no other one."""
    try:
        component = ReleaseProduct(contract=file.path.name, home=str(home.path))
        return component.definitions(file.path.parent, files)
    except Exception as error:  # noqa: BLE001 - a damaged folder of one product must not hide the others
        at = traceback.extract_tb(error.__traceback__)[-1]
        unexpected = f"unexpected {type(error).__name__} in {at.filename}, line {at.lineno}"
        fault = str(error) if isinstance(error, RepublishError) else unexpected
        _log.warning("left out: %s", fault)
        note_series(home, file.path, None)
        return faulty_definitions(home, file.contract.product, fault)
