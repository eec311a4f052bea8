"""Which contracts a home knows: what Dagster shows without being told of each file."""

from __future__ import annotations

from pathlib import Path

from orchestration.contract_file import ContractFile, load_contract
from orchestration.home import Home
from orchestration.store import read_json, write_json

SHIPPED = Path(__file__).parents[1] / "data_contracts"


def register(home: Home, file: ContractFile) -> None:
    """Note a contract in the home, so that its product is in the UI from now on."""
    known = _noted(home)
    if known.get(file.contract.product) != str(file.path):
        write_json(_register(home), {**known, file.contract.product: str(file.path)})


def known_contracts(home: Home) -> dict[str, ContractFile | Exception]:
    """The contract of every product by its path, or the error that it can't be loaded for.

    Those noted in the home, then those of `data_contracts/` whose product is not among them.
    """
    paths = dict(_noted(home))
    contracts = {path: _load(Path(path)) for path in paths.values()}
    for path in sorted(SHIPPED.glob("*.yaml")):
        loaded = _load(path)
        if isinstance(loaded, ContractFile) and loaded.contract.product in paths:
            continue
        contracts.setdefault(str(path), loaded)
    return contracts


def _load(path: Path) -> ContractFile | Exception:
    try:
        return load_contract(path)
    except Exception as error:  # noqa: BLE001 - one contract's fault must not hide the other products
        return error


def _register(home: Home) -> Path:
    return home.path / "contracts.json"


def _noted(home: Home) -> dict[str, str]:
    """Contract paths by product; a file that is gone is forgotten."""
    noted = read_json(_register(home)) or {}
    return {product: path for product, path in noted.items() if Path(path).exists()}
