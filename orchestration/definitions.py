"""The definitions that Dagster loads: the product of every contract that the home knows."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import dagster as dg
import networkx as nx

from orchestration.contracts.contract_file import ContractFile
from orchestration.contracts.registry import known_contracts
from orchestration.dagster.factory import product_definitions
from orchestration.dagster.resources import resources
from orchestration.series.series import Series
from orchestration.snapshots.previous import published_here
from orchestration.storage.home import Home


@dg.definitions
def defs() -> dg.Definitions:
    """The definitions of all products; a contract with faults is left out, with a warning that names them."""
    home, log = Home.at(), logging.getLogger(__name__)
    contracts = known_contracts(home)
    files = [contract for contract in contracts.values() if isinstance(contract, ContractFile)]
    for path, contract in contracts.items():
        if not isinstance(contract, ContractFile):
            log.warning("left out: %s", contract or path)
    apart = _each_other(files, home)
    if apart:
        log.warning("%s name releases of each other: their lineage is not shown", ", ".join(sorted(apart)))
    products = [
        product_definitions(Series(file, home), apart=apart.get(file.contract.product, ())) for file in files
    ]
    return dg.Definitions.merge(dg.Definitions(resources=resources(home)), *products)


def _each_other(files: Iterable[ContractFile], home: Home) -> dict[str, set[str]]:
    """Products that are joined with releases of each other, in a circle of any length: the others of it."""
    joined = nx.DiGraph()
    for file in files:
        joined.add_edges_from((file.contract.product, other) for other, _ in published_here(file, home))
    circles = [circle for circle in nx.strongly_connected_components(joined) if len(circle) > 1]
    return {product: circle - {product} for circle in circles for product in circle}
