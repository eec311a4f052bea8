"""The contracts that a home knows, which Dagster shows."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from republish.anonymize.errors import ContractError
from republish.orchestration.contracts.contract_file import ContractFile, load_contract
from republish.orchestration.package_files import package_file
from republish.orchestration.storage.home import Home, only_one
from republish.orchestration.storage.store import read_json, write_json

_log = logging.getLogger(__name__)

SHIPPED = package_file("data_contracts")
Known = Mapping[str, ContractFile | Exception]
"""Contracts by their paths, or the errors that they can't be loaded for."""


def register(home: Home, file: ContractFile) -> None:
    """Note a contract in the home, so that its product is in the UI from now on.

    A product is noted once: the contract that was released last stands for it.
    """
    with only_one(home.path, "the list of contracts", name=".contracts-lock"):
        known = read_json(_register(home)) or {}
        noted = {**known, file.contract.product: os.path.relpath(file.path, home.path)}
        if noted != known:
            write_json(_register(home), noted)


def known_contracts(home: Home) -> dict[str, ContractFile | Exception]:
    """The contract of every product by its path, or the error that it can't be loaded for.

    They are those noted in the home. A home that nothing was released from yet has those of
    `data_contracts/`. Of two that declare the same product the second has an error.
    """
    contracts: dict[str, ContractFile | Exception] = {}
    declared: dict[str, str] = {}
    noted = [path for path in _noted(home).values() if Path(path).exists()]
    for path in noted if _noted(home) else map(str, sorted(SHIPPED.glob("*.yaml"))):
        loaded = _load(Path(path))
        if isinstance(loaded, ContractFile):
            product = loaded.contract.product
            if product in declared:
                also = [("product", f"{product} is what {declared[product]} declares as well")]
                loaded = ContractError(path, also)
            declared.setdefault(product, path)
        contracts.setdefault(path, loaded)
    return contracts


def knows_none(home: Home) -> bool:
    """Whether nothing was released from a home, or it is none."""
    return not _noted(home)


def loaded_contracts(home: Home, known: Known | None = None) -> list[ContractFile]:
    """The contracts that a home knows; one with faults is left out, with a warning that names them.

    `known` is what `known_contracts` says, if it was asked already.
    """
    known = known_contracts(home) if known is None else known
    for path, contract in known.items():
        if not isinstance(contract, ContractFile):
            _log.warning("left out: %s", contract or path)
    return [contract for contract in known.values() if isinstance(contract, ContractFile)]


def faulty_contracts(home: Home, known: Known | None = None) -> dict[str, tuple[Path, str]]:
    """The products of a home that nothing can be released of: their contract, and what is wrong with it.

    `known` is as for `loaded_contracts`.
    """
    faulty: dict[str, tuple[Path, str]] = {}
    known = known_contracts(home) if known is None else known
    for product, path in _noted(home).items():
        loaded = known.get(path)
        if isinstance(loaded, ContractFile) and loaded.contract.product != product:
            faulty[product] = Path(path), f"{path} declares the product {loaded.contract.product} now"
        elif loaded is None:
            faulty[product] = Path(path), f"{path}: there is no such file"
        elif not isinstance(loaded, ContractFile):
            faulty[product] = Path(path), str(loaded) or f"{path}: {type(loaded).__name__}"
    declared = {file.contract.product for file in known.values() if isinstance(file, ContractFile)}
    return {product: fault for product, fault in faulty.items() if product not in declared}


def _load(path: Path) -> ContractFile | Exception:
    try:
        return load_contract(path)
    except Exception as error:  # noqa: BLE001 - one contract's fault must not hide the other products
        return error


def _register(home: Home) -> Path:
    return home.path / "contracts.json"


def _noted(home: Home) -> dict[str, str]:
    """Contract paths by product. They are noted relative to the home; by older versions absolute."""
    known = read_json(_register(home)) or {}
    return {product: os.path.normpath(home.path / path) for product, path in known.items()}
